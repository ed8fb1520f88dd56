//! What a span says: the messages that went in and came out, in the conventions of several years.

use std::collections::BTreeMap;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::Value;

use super::spans::{Span, Structure};
use crate::chat::At;
use crate::content::{arguments_of_text, push_reasoning, push_text};
use crate::losses::Losses;
use crate::replies::Replies;

/// What one span tells.
pub(super) struct Told {
    /// The span.
    pub(super) span: Span,
    /// The turns; none where it tells no conversation.
    pub(super) turns: Vec<Turn>,
    /// What was not taken over as it stood.
    pub(super) losses: Losses,
    /// Part of its messages was cut off.
    pub(super) is_cut: bool,
}

/// Where the history stands.
const INPUTS: [&str; 5] = ["gen_ai.input.messages", "ai.prompt.messages", "ai.prompt", "gen_ai.prompt", "llm.prompts"];
/// Where the reply stands.
const OUTPUTS: [&str; 3] = ["gen_ai.output.messages", "gen_ai.completion", "ai.response.messages"];
/// Where all of a run stands.
const RUNS: [&str; 2] = ["pydantic_ai.all_messages", "all_messages_events"];

/// Reads what `span` tells.
pub(super) fn told(span: Span, file: &str) -> Told {
    let mut told = Told { span, turns: Vec::new(), losses: Losses::default(), is_cut: false };
    let at = At { file, record: told.span.record() };
    let mut replies = Replies::default();
    if let Some(system) = told.first(&["gen_ai.system_instructions"]) {
        let mut parts = Vec::new();
        match system {
            Value::Array(items) => items.iter().for_each(|item| push_said(&mut parts, item)),
            other => push_said(&mut parts, &other),
        }
        if !parts.is_empty() {
            replies.turn(at.turn(Role::System, parts));
        }
    }
    match told.first(&INPUTS) {
        Some(given) => {
            messages(&given, Speaker::Input, at, &mut replies, &mut told.losses);
            match told.first(&OUTPUTS) {
                Some(output) => messages(&output, Speaker::Output, at, &mut replies, &mut told.losses),
                None => ai_sdk_reply(&told.span, at, &mut replies),
            }
        }
        None => match told.first(&RUNS) {
            Some(whole) => messages(&whole, Speaker::Input, at, &mut replies, &mut told.losses),
            None => {
                flat(told.span.attributes(), at, &mut replies, &mut told.losses);
                events(&told.span, at, &mut replies, &mut told.losses);
            }
        },
    }
    let turns = replies.finish();
    // A tool's own span has an input and an output too, and no conversation.
    let spoken = turns.iter().any(|turn| matches!(turn.role, Role::User | Role::Assistant));
    if spoken && told.span.operation() != "execute_tool" {
        told.turns = turns;
    }
    told
}

impl Told {
    /// The first of these attributes that is there.
    fn first(&mut self, keys: &[&str]) -> Option<Value> {
        match keys.iter().find_map(|key| self.span.structure(key))? {
            Structure::Whole(value) => Some(value),
            Structure::Cut(begun) => {
                self.is_cut = true;
                self.losses.kind("attribute:cut off".to_owned(), self.span.record());
                Some(begun)
            }
        }
    }
}

/// The reply as the AI SDK writes it: its text and its calls apart.
fn ai_sdk_reply(span: &Span, at: At<'_>, replies: &mut Replies) {
    if let Some(text) = span.text("ai.response.text").filter(|text| !text.is_empty()) {
        push_text(&mut replies.reply(at).parts, text.into());
    }
    if let Some(Structure::Whole(Value::Array(calls))) = span.structure("ai.response.toolCalls") {
        calls.iter().for_each(|call| push_call(call, at, replies));
    }
}

/// Who speaks where a message does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Input,
    Output,
}

/// Adds messages: a list of them, one, or plain text.
fn messages(value: &Value, speaker: Speaker, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| message(item, speaker, at, replies, losses)),
        Value::Object(object) => {
            // What a provider's client was given or gave, as it was.
            let inner = ["messages", "input", "output", "choices"].iter().find_map(|key| object.get(*key));
            match inner {
                Some(inner) if !object.contains_key("role") => {
                    if let Some(Value::String(text)) =
                        object.get("instructions").filter(|_| speaker == Speaker::Output && replies.count() == 0)
                    {
                        replies.turn(at.says(Role::System, text.as_str()));
                    }
                    messages(inner, speaker, at, replies, losses);
                }
                _ => message(value, speaker, at, replies, losses),
            }
        }
        Value::String(text) if !text.is_empty() => said_by(speaker, text, at, replies),
        _ => {}
    }
}

fn said_by(speaker: Speaker, text: &str, at: At<'_>, replies: &mut Replies) {
    match speaker {
        Speaker::Input => replies.turn(at.says(Role::User, text)),
        Speaker::Output => push_text(&mut replies.reply(at).parts, text.into()),
    }
}

fn message(value: &Value, speaker: Speaker, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let Value::Object(fields) = value else {
        return messages_of_text(value, speaker, at, replies);
    };
    // A choice wraps its message.
    if let Some(inner) = fields.get("message").filter(|inner| inner.is_object()) {
        return message(inner, speaker, at, replies, losses);
    }
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    match text("type") {
        Some("function_call") => return push_call(value, at, replies),
        Some("function_call_output") => {
            replies.turn(result(label(value, &["call_id"]), fields.get("output"), at));
            return;
        }
        _ => {}
    }
    let role = match text("role") {
        Some("system" | "developer") => Role::System,
        Some("assistant" | "model") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some("user") => Role::User,
        None if speaker == Speaker::Output => Role::Assistant,
        None => Role::User,
        Some(other) => {
            losses.kind(format!("role:{other}"), at.record);
            Role::Other(other.to_owned())
        }
    };
    let parts = fields.get("parts").or_else(|| fields.get("content"));
    let calls = fields.get("tool_calls").and_then(Value::as_array);
    match role {
        Role::Assistant => {
            reply(parts, at, replies, losses);
            calls.into_iter().flatten().for_each(|call| push_call(call, at, replies));
            replies.end_reply();
        }
        Role::Tool if !listed(parts).iter().any(|part| is_response(part)) => {
            let id = label(value, &["tool_call_id", "id"]);
            replies.turn(result(id, parts, at));
        }
        role => other(role, parts, at, replies, losses),
    }
}

fn messages_of_text(value: &Value, speaker: Speaker, at: At<'_>, replies: &mut Replies) {
    if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
        said_by(speaker, text, at, replies);
    }
}

fn kind_of(part: &Value) -> &str {
    part.get("type").or_else(|| part.get("kind")).and_then(Value::as_str).unwrap_or_default()
}

fn is_response(part: &Value) -> bool {
    matches!(kind_of(part), "tool_call_response" | "tool-result" | "tool_result")
}

/// Text or a number under the first of `keys` that has one.
fn label(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match value.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn reply(parts: Option<&Value>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    for part in listed(parts) {
        match kind_of(part) {
            "reasoning" | "thinking" => {
                let text = ["content", "text", "thinking"].iter().find_map(|key| part.get(*key)?.as_str());
                let text = text.filter(|text| !text.is_empty()).unwrap_or("[encrypted]");
                push_reasoning(&mut replies.reply(at).reasoning, text.into());
            }
            "tool_call" | "tool-call" | "tool_use" | "function_call" => push_call(part, at, replies),
            _ if is_response(part) => replies.result_inside(response(part, at)),
            _ => push_part(&mut replies.reply(at).parts, part, at, losses),
        }
    }
}

/// Turns of the other roles: results stand among them by their type, whatever the role.
fn other(role: Role, parts: Option<&Value>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let mut said = Vec::new();
    for part in listed(parts) {
        match is_response(part) {
            true => replies.turn(response(part, at)),
            false => push_part(&mut said, part, at, losses),
        }
    }
    if !said.is_empty() {
        replies.turn(at.turn(role, said));
    }
}

/// Parts as a list; text alone is one part.
fn listed(parts: Option<&Value>) -> Vec<&Value> {
    match parts {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    }
}

fn push_part(parts: &mut Vec<Part>, part: &Value, at: At<'_>, losses: &mut Losses) {
    let image =
        |value: &Value| value.get("mime_type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"));
    match kind_of(part) {
        "blob" | "uri" | "file" | "image" | "image_url" if image(part) || kind_of(part).starts_with("image") => {
            let address = ["uri", "url"].iter().find_map(|key| part.get(*key)?.as_str().map(str::to_owned));
            parts.push(Part::Image(address));
        }
        kind @ ("blob" | "uri" | "file") => {
            losses.kind(format!("part:{kind}"), at.record);
            parts.push(Part::Other(kind.to_owned()));
        }
        _ => push_said(parts, part),
    }
}

/// The text of a part: plain, or under the name that its writer has for it.
fn push_said(parts: &mut Vec<Part>, part: &Value) {
    let text = match part {
        Value::String(text) => Some(text.as_str()),
        part => ["content", "text"].iter().find_map(|key| part.get(*key)?.as_str()),
    };
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        push_text(parts, text.into());
    }
}

fn push_call(call: &Value, at: At<'_>, replies: &mut Replies) {
    let inner = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let given = ["arguments", "args", "input"].iter().find_map(|key| inner.get(*key)).unwrap_or(&Value::Null);
    replies.reply(at).calls.push(Call {
        id: label(call, &["call_id", "id", "toolCallId", "tool_call_id"]).unwrap_or_default(),
        name: label(inner, &["name", "toolName"]).unwrap_or_default(),
        arguments: match given {
            Value::Null => String::new(),
            Value::String(text) => arguments_of_text(text),
            other => other.to_string(),
        },
    });
}

fn response(part: &Value, at: At<'_>) -> Turn {
    let said = ["response", "result", "content", "output"].iter().find_map(|key| part.get(*key));
    // Some writers give the kind of a result beside its value.
    let said = said.map(|said| said.get("value").filter(|_| said.get("type").is_some()).unwrap_or(said));
    result(label(part, &["id", "tool_call_id", "toolCallId"]), said, at)
}

fn result(id: Option<String>, said: Option<&Value>, at: At<'_>) -> Turn {
    let text = match said {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Turn { call_id: id.filter(|id| !id.is_empty()), ..at.says(Role::Tool, text) }
}

/// Messages in attributes of their own: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.content`.
fn flat(attributes: &BTreeMap<String, Value>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let sides = [
        ("gen_ai.prompt.", Speaker::Input),
        ("llm.input_messages.", Speaker::Input),
        ("gen_ai.completion.", Speaker::Output),
        ("llm.output_messages.", Speaker::Output),
    ];
    for (prefix, speaker) in sides {
        for (_, fields) in nested(attributes, prefix) {
            let object = fields.get("message").cloned().unwrap_or(fields);
            message(&unfolded(object), speaker, at, replies, losses);
        }
    }
}

/// The values under `prefix` by their number, with the rest of each name as a path.
fn nested(attributes: &BTreeMap<String, Value>, prefix: &str) -> BTreeMap<usize, Value> {
    let mut found: BTreeMap<usize, Value> = BTreeMap::new();
    for (key, value) in attributes {
        let Some((number, path)) = key.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let mut place = found.entry(number).or_insert_with(|| Value::Object(Default::default()));
        for step in path.split('.') {
            if !place.is_object() {
                *place = Value::Object(Default::default());
            }
            let Value::Object(object) = place else { break };
            place = object.entry(step.to_owned()).or_insert(Value::Null);
        }
        *place = value.clone();
    }
    found
}

/// Calls and contents that are numbered as messages are: `tool_calls.0.tool_call.function.name`,
/// `contents.0.message_content.text`.
fn unfolded(mut message: Value) -> Value {
    if let Some(calls) = message.get("tool_calls").and_then(Value::as_object) {
        message["tool_calls"] = numbered(calls, "tool_call");
    }
    if let Some(contents) = message.get("contents").and_then(Value::as_object) {
        message["content"] = numbered(contents, "message_content");
    }
    message
}

/// The values of an object whose keys are numbers, in the order of these, each out of its wrapper.
fn numbered(object: &serde_json::Map<String, Value>, wrapper: &str) -> Value {
    let sorted: BTreeMap<usize, &Value> =
        object.iter().filter_map(|(key, value)| Some((key.parse().ok()?, value))).collect();
    sorted.into_values().map(|value| value.get(wrapper).unwrap_or(value).clone()).collect()
}

/// Messages as events of the span, the conventions of 2024.
fn events(span: &Span, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    for (name, attributes) in &span.events {
        let role = match name.as_str() {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.assistant.message" | "gen_ai.choice" => "assistant",
            "gen_ai.tool.message" => "tool",
            _ => continue,
        };
        let mut object = serde_json::Map::new();
        for (key, value) in attributes {
            let value = match value {
                Value::String(text) if key != "content" => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
                other => other.clone(),
            };
            object.insert(key.clone(), value);
        }
        object.entry("role").or_insert_with(|| Value::String(role.to_owned()));
        message(&Value::Object(object), Speaker::Input, at, replies, losses);
    }
}
