//! Contents as Gemini writes them, in both spellings: on the wire in camel case, in dumps of Python
//! programs in snake case.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id};
use crate::content::{arguments, compact, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::losses::Losses;
use crate::replies::Replies;

/// A field under its name in camel case or in snake case.
pub(crate) fn either<'a>(fields: &Fields<'a>, camel: &str, snake: &str) -> Option<&'a RawValue> {
    fields.raw(camel).or_else(|| fields.raw(snake))
}

/// Who speaks where no call or result says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A person.
    User,
    /// The model.
    Model,
}

/// Adds the turns of one content's parts, and to `named` the tool of each result. To the client libraries one
/// part is a list of parts, and a plain text is a part.
pub(crate) fn content(
    parts: Option<&RawValue>,
    speaker: Speaker,
    at: At<'_>,
    (replies, named): (&mut Replies, &mut Vec<String>),
    losses: &mut Losses,
) {
    let mut said: Vec<Part> = Vec::new();
    let list = parts.map(|raw| items_of(raw).unwrap_or_else(|| vec![raw])).unwrap_or_default();
    for raw in list {
        if let Some(text) = text_of(raw) {
            push_text(if speaker == Speaker::Model { &mut replies.reply(at).parts } else { &mut said }, text);
            continue;
        }
        let Some(part) = Fields::of(raw) else {
            losses.skip(at.record, "a part that is no object");
            continue;
        };
        if let Some(call) = either(&part, "functionCall", "function_call").and_then(Fields::of) {
            let call = Call {
                id: call.label("id").unwrap_or_default().into_owned(),
                name: tool_name(call.text("name")),
                arguments: arguments(call.raw("args")),
            };
            replies.reply(at).calls.push(call);
        } else if let Some(code) = either(&part, "executableCode", "executable_code") {
            let call = Call { id: String::new(), name: "code_execution".to_owned(), arguments: compact(code) };
            replies.reply(at).calls.push(call);
        } else if let Some(response) = either(&part, "functionResponse", "function_response").and_then(Fields::of) {
            named.push(tool_name(response.text("name")));
            let turn = result(&response, at);
            add_result(turn, speaker, replies);
        } else if let Some(ran) = either(&part, "codeExecutionResult", "code_execution_result").and_then(Fields::of) {
            named.push("code_execution".to_owned());
            let outcome = ran.text("outcome").unwrap_or_default();
            let turn = Turn {
                is_error: !matches!(outcome.as_ref(), "" | "OUTCOME_OK" | "OUTCOME_UNSPECIFIED"),
                ..at.says(Role::Tool, ran.text("output").unwrap_or_default())
            };
            add_result(turn, speaker, replies);
        } else if part.is_true("thought") {
            let text = part.text("text").filter(|text| !text.is_empty()).unwrap_or("[encrypted]".into());
            push_reasoning(&mut replies.reply(at).reasoning, text);
        } else if let Some(text) = part.text("text") {
            if !text.is_empty() {
                push_text(if speaker == Speaker::Model { &mut replies.reply(at).parts } else { &mut said }, text);
            }
        } else if let Some(other) = blob(&part, at, losses) {
            if speaker == Speaker::Model { &mut replies.reply(at).parts } else { &mut said }.push(other);
        }
    }
    if !said.is_empty() {
        replies.turn(at.turn(Role::User, said));
    }
}

fn add_result(turn: Turn, speaker: Speaker, replies: &mut Replies) {
    match speaker {
        Speaker::User => replies.turn(turn),
        Speaker::Model => replies.result_inside(turn),
    }
}

/// `output` or `result` alone is the text, `error` a failure; any other object stays as it is.
pub(crate) fn result(response: &Fields<'_>, at: At<'_>) -> Turn {
    let raw = response.raw("response");
    let fields = raw.and_then(Fields::of);
    let text = |key: &str| {
        let value = fields.as_ref()?.raw(key)?;
        Some(text_of(value).map_or_else(|| compact(value), Cow::into_owned))
    };
    let error = text("error");
    let only = fields.as_ref().is_some_and(|fields| fields.count() == 1);
    let plain = error.clone().or_else(|| text("output")).or_else(|| text("result")).filter(|_| only);
    let said = plain.or_else(|| raw.map(|raw| text_of(raw).map_or_else(|| compact(raw), Cow::into_owned)));
    Turn { call_id: id(response, "id"), is_error: error.is_some(), ..at.says(Role::Tool, said.unwrap_or_default()) }
}

/// Data of some media type; a part that has nothing but a signature is none.
fn blob(part: &Fields<'_>, at: At<'_>, losses: &mut Losses) -> Option<Part> {
    let data = either(part, "inlineData", "inline_data").or_else(|| either(part, "fileData", "file_data"));
    if let Some(data) = data.and_then(Fields::of) {
        let kind = either(&data, "mimeType", "mime_type").and_then(text_of).unwrap_or_default();
        if kind.starts_with("image/") {
            let address = either(&data, "fileUri", "file_uri").and_then(text_of).map(Cow::into_owned);
            let bytes = || data.text("data").map(|bytes| format!("data:{kind};base64,{bytes}"));
            return Some(Part::Image(address.or_else(bytes)));
        }
        losses.kind(format!("part:{kind}"), at.record);
        return Some(Part::Other(kind.into_owned()));
    }
    let other = part
        .iter()
        .map(|(key, _)| key)
        .find(|key| !matches!(*key, "thoughtSignature" | "thought_signature" | "thought"))?;
    losses.kind(format!("part:{other}"), at.record);
    Some(Part::Other(other.to_owned()))
}
