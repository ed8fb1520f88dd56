//! OpenAI Responses: requests, alone or recorded with their reply, replies, and lists of items. Items of
//! one reply have nothing in common but their order.

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, role};
use crate::content::{arguments, compact, is_blank, parts, push_reasoning, push_text, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::replies::Replies;
use crate::sample::Sample;
use crate::values::{Numbering, each_value};

/// The kind of marker that a compaction becomes.
const COMPACTION: &str = "compaction";

/// What names the arguments of the calls that have no `arguments`, in the order in which they are looked for.
const ARGUMENTS: [&str; 7] = ["arguments", "action", "code", "queries", "operation", "input", "prompt"];

/// OpenAI Responses.
#[derive(Debug)]
pub(super) struct OpenAiResponses;

impl Reader for OpenAiResponses {
    fn id(&self) -> &'static str {
        "openai-responses"
    }

    fn title(&self) -> &'static str {
        "OpenAI responses"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        match sample.records().next()? {
            Line::List(raw) => items_of(raw)?
                .into_iter()
                .filter_map(Fields::of)
                .any(|item| is_own(&item))
                .then_some(Confidence::Likely),
            Line::Object(fields) => {
                if fields.text("object").as_deref() == Some("response") && fields.has("output") {
                    return Some(Confidence::Sure);
                }
                let Some(body) = body_of(&fields) else {
                    // A reply alone.
                    return objects(&fields, "output").iter().any(is_own).then_some(Confidence::Likely);
                };
                let items = objects(&body, "input");
                match () {
                    () if items.iter().any(is_own) => Some(Confidence::Sure),
                    () if body.has("instructions") || fields.has("response") => Some(Confidence::Likely),
                    // Other programs call a text `input` too.
                    () if body.has("model") || items.iter().any(is_message) => Some(Confidence::Possible),
                    () => None,
                }
            }
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            let mut draft = Draft::default();
            draft.turns = conversation(&line, &file, numbering, &mut draft.losses);
            if let Line::Object(fields) = &line
                && body_of(fields).is_some_and(|body| body.raw("previous_response_id").is_some())
            {
                draft.notes.push("goes on from an earlier response, which is not in the file".to_owned());
            }
            let marker = Role::Marker(COMPACTION.to_owned());
            if !draft.turns.iter().any(|turn| turn.role == marker) {
                return sink.put_unmarked(draft);
            }
            if input.history() == History::Original {
                draft.notes.push("what was compacted is encrypted: read as it stands".to_owned());
            }
            sink.put(draft)
        })
    }
}

/// Whether an item is of a type that only this format has.
fn is_own(item: &Fields<'_>) -> bool {
    let kind = item.text("type").unwrap_or_default();
    let has_id = || item.has("call_id") || item.has("id") || item.has("action");
    matches!(kind.as_ref(), "message" | "reasoning" if item.has("content") || item.has("summary"))
        || (kind.ends_with("_call") || kind.ends_with("_call_output")) && has_id()
}

/// The items under `key` that are objects.
fn objects<'a>(fields: &Fields<'a>, key: &str) -> Vec<Fields<'a>> {
    fields.items(key).unwrap_or_default().into_iter().filter_map(Fields::of).collect()
}

/// Whether an item is a message whose type is left out.
fn is_message(item: &Fields<'_>) -> bool {
    item.has("role") && item.has("content")
}

/// The object with the input: the record itself or its request.
fn body_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let has_input = |body: &Fields<'_>| body.raw("input").is_some_and(|raw| raw.get().starts_with(['[', '"']));
    if has_input(fields) { Some(fields.clone()) } else { fields.object("request").filter(has_input) }
}

fn conversation(line: &Line<'_>, file: &str, numbering: Numbering, losses: &mut Losses) -> Vec<Turn> {
    let mut replies = Replies::default();
    let mut given: Vec<&RawValue> = Vec::new();
    match line {
        Line::List(raw) => given.extend(items_of(raw).unwrap_or_default()),
        Line::Object(fields) => {
            let body = body_of(fields).unwrap_or_else(|| fields.clone());
            let messages = body.items("instructions").unwrap_or_default();
            if messages.iter().copied().filter_map(Fields::of).any(|item| is_message(&item)) {
                // Such instructions say themselves whose they are.
                items(&messages, file, numbering, &mut replies, losses);
            } else {
                let system = parts(body.raw("instructions"), numbering.record(0), losses);
                if !is_blank(&system) {
                    replies.turn(numbering.at(file, 0).turn(Role::System, system));
                }
            }
            match body.text("input") {
                Some(text) => replies.turn(numbering.at(file, 0).says(Role::User, text)),
                None => given.extend(body.items("input").unwrap_or_default()),
            }
            let reply = fields.object("response").unwrap_or_else(|| fields.clone());
            given.extend(reply.items("output").unwrap_or_default());
        }
    }
    items(&given, file, numbering, &mut replies, losses);
    replies.finish()
}

/// Adds the turns of items.
pub(super) fn items(given: &[&RawValue], file: &str, numbering: Numbering, replies: &mut Replies, losses: &mut Losses) {
    for (index, raw) in given.iter().enumerate() {
        let at = numbering.at(file, index);
        match Fields::of(raw) {
            Some(fields) => item(&fields, at, replies, losses),
            None => losses.skip(at.record, "an item that is no object"),
        }
    }
}

fn item(fields: &Fields<'_>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let kind = fields.text("type").unwrap_or_default();
    match kind.as_ref() {
        "message" | "" if is_message(fields) => message(fields, at, replies, losses),
        "reasoning" => {
            let mut thought = None;
            for key in ["summary", "content"] {
                for part in fields.items(key).unwrap_or_default().into_iter().filter_map(Fields::of) {
                    if let Some(text) = part.text("text").filter(|text| !text.is_empty()) {
                        push_reasoning(&mut thought, text);
                    }
                }
            }
            let thought = thought.or_else(|| fields.raw("encrypted_content").map(|_| "[encrypted]".to_owned()));
            if let Some(thought) = thought {
                push_reasoning(&mut replies.reply(at).reasoning, thought.into());
            }
        }
        COMPACTION | "compaction_summary" => {
            let text = fields.text("encrypted_content").map(|_| "[encrypted]").unwrap_or_default();
            replies.turn(at.says(Role::Marker(COMPACTION.to_owned()), text));
        }
        kind if kind.ends_with("_output") => replies.turn(output(fields, at, losses)),
        kind if kind.ends_with("_call") => call(kind, fields, at, replies, losses),
        other => losses.kind(format!("item:{other}"), at.record),
    }
}

fn message(fields: &Fields<'_>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let said = parts(fields.raw("content"), at.record, losses);
    match role(fields, at.record, losses) {
        Role::Assistant => {
            // A reply has one message at most for each phase; a second one after calls is the next reply's.
            let reply = replies.reply(at);
            for part in said {
                match part {
                    Part::Text(text) => push_text(&mut reply.parts, text.into()),
                    other => reply.parts.push(other),
                }
            }
        }
        other => replies.turn(at.turn(other, said)),
    }
}

/// A call: its own id is the last resort, since results name the call's.
fn call(kind: &str, fields: &Fields<'_>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let id = id(fields, "call_id").or_else(|| id(fields, "id")).unwrap_or_default();
    let given = ARGUMENTS.iter().find_map(|key| fields.raw(key));
    // Free text of a custom tool only looks like JSON by chance.
    let arguments = match (kind, fields.text("input")) {
        ("custom_tool_call", Some(text)) => text.into_owned(),
        _ => arguments(given),
    };
    let name = match fields.text("name") {
        Some(name) => tool_name(Some(name)),
        None => kind.trim_end_matches("_call").to_owned(),
    };
    replies.reply(at).calls.push(Call { id: id.clone(), name, arguments });
    // Tools that the server runs may bring their result along.
    let failed = fields.raw("error");
    let inside = ["output", "outputs", "results", "result"].iter().find_map(|key| fields.raw(key)).or(failed);
    if let Some(raw) = inside {
        let said = match (kind, text_of(raw)) {
            ("image_generation_call", Some(data)) => vec![Part::Image(Some(format!("data:image/png;base64,{data}")))],
            (_, Some(text)) => vec![Part::Text(text.into_owned())],
            (_, None) => vec![Part::Text(compact(raw))],
        };
        let result = Turn { call_id: Some(id), is_error: failed.is_some(), ..at.turn(Role::Tool, said) };
        replies.turn(result);
    }
    if let Some(status) = fields.text("status").filter(|status| status == "failed") {
        losses.kind(format!("call:{status}"), at.record);
    }
}

fn output(fields: &Fields<'_>, at: At<'_>, losses: &mut Losses) -> Turn {
    let raw = ["output", "tools", "results"].iter().find_map(|key| fields.raw(key));
    let screenshot = fields.object("output").and_then(|output| output.text("image_url").map(|url| url.into_owned()));
    let said = match screenshot {
        Some(address) => vec![Part::Image(Some(address))],
        // Definitions of tools are what a search gives.
        None if fields.has("tools") => raw.map(|raw| vec![Part::Text(compact(raw))]).unwrap_or_default(),
        None => parts(raw, at.record, losses),
    };
    Turn { call_id: id(fields, "call_id"), ..at.turn(Role::Tool, said) }
}
