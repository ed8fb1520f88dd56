//! Messages in the manner of OpenAI Chat, as many programs write them: roles, calls in all their
//! spellings, thinking text.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Source, Turn};
use serde_json::value::RawValue;

use crate::content::{arguments, push_reasoning, tool_name};
use crate::fields::Fields;
use crate::losses::Losses;

/// Where a turn is read: the file's name and the record's number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'f> {
    /// File name without its folder.
    pub(crate) file: &'f str,
    /// Record number from 1.
    pub(crate) record: usize,
}

impl At<'_> {
    /// A turn of `role` with `parts` and nothing else.
    pub(crate) fn turn(self, role: Role, parts: Vec<Part>) -> Turn {
        let source = Source { file: self.file.to_owned(), record: self.record };
        Turn { parts, source: Some(source), ..Turn::text_of(role, "") }
    }

    /// A turn of `role` that says `text`; without text it has no part.
    pub(crate) fn says(self, role: Role, text: impl Into<String>) -> Turn {
        let text = text.into();
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] };
        self.turn(role, parts)
    }
}

/// The role of a message; an unknown one is counted.
pub(crate) fn role(fields: &Fields<'_>, record: usize, losses: &mut Losses) -> Role {
    role_named(&fields.text("role").unwrap_or_default(), record, losses)
}

/// The role `name`; an unknown one is counted.
pub(crate) fn role_named(name: &str, record: usize, losses: &mut Losses) -> Role {
    match name {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            losses.kind(format!("role:{other}"), record);
            Role::Other(other.to_owned())
        }
    }
}

/// The id under `key`; an empty one is none.
pub(crate) fn id(fields: &Fields<'_>, key: &str) -> Option<String> {
    fields.label(key).filter(|id| !id.is_empty()).map(Cow::into_owned)
}

/// The time under `key`, as it is written.
pub(crate) fn time(fields: &Fields<'_>, key: &str) -> Option<String> {
    fields.label(key).filter(|ts| !ts.trim().is_empty()).map(Cow::into_owned)
}

/// The calls of a message, in all forms Chat and its relatives have had.
pub(crate) fn calls(fields: &Fields<'_>, record: usize, losses: &mut Losses) -> Vec<Call> {
    let mut calls = Vec::new();
    for item in fields.items("tool_calls").unwrap_or_default() {
        let Some(item) = Fields::of(item) else {
            losses.skip(record, "a call that is no object");
            continue;
        };
        let call = call(&item);
        if call.name.is_empty() {
            losses.kind("call:without a name", record);
        }
        calls.push(call);
    }
    if let Some(function) = fields.object("function_call") {
        calls.push(named_call(String::new(), function.text("name"), function.raw("arguments")));
    }
    calls
}

fn call(item: &Fields<'_>) -> Call {
    let id = item.label("id").unwrap_or_default().into_owned();
    if let Some(function) = item.object("function") {
        return named_call(id, function.text("name"), function.raw("arguments"));
    }
    // The input of a custom tool is free text, which only looks like JSON by chance.
    if let Some(custom) = item.object("custom") {
        let arguments = custom.text("input").unwrap_or_default().into_owned();
        return Call { id, name: tool_name(custom.text("name")), arguments };
    }
    let name = item.text("function").or_else(|| item.text("name"));
    named_call(id, name, item.raw("arguments").or_else(|| item.raw("args")))
}

/// A call of the tool `name`.
pub(crate) fn named_call(id: String, name: Option<Cow<'_, str>>, given: Option<&RawValue>) -> Call {
    Call { id, name: tool_name(name), arguments: arguments(given) }
}

/// Thinking text, in the fields that servers other than OpenAI's have for it.
pub(crate) fn reasoning(fields: &Fields<'_>) -> Option<String> {
    if let Some(text) = ["reasoning_content", "reasoning"].iter().find_map(|key| fields.text(key)) {
        return Some(text.into_owned()).filter(|text| !text.is_empty());
    }
    let mut reasoning = None;
    for detail in fields.items("reasoning_details")?.into_iter().filter_map(Fields::of) {
        if let Some(text) = detail.text("text").or_else(|| detail.text("summary")) {
            push_reasoning(&mut reasoning, text);
        } else if detail.has("data") {
            push_reasoning(&mut reasoning, "[encrypted]".into());
        }
    }
    reasoning
}

/// Thinking text of blocks as Anthropic writes them, which some harnesses keep beside the content.
pub(crate) fn thinking_blocks(fields: &Fields<'_>) -> Option<String> {
    let mut reasoning = None;
    for block in fields.items("thinking_blocks")?.into_iter().filter_map(Fields::of) {
        match block.text("thinking").filter(|text| !text.is_empty()) {
            Some(text) => push_reasoning(&mut reasoning, text),
            None if block.has("data") => push_reasoning(&mut reasoning, "[redacted]".into()),
            None => {}
        }
    }
    reasoning
}

/// The arguments of a call that is nothing but a command.
pub(crate) fn command_call(command: &str) -> Call {
    let arguments = serde_json::json!({ "command": command }).to_string();
    Call { id: String::new(), name: "bash".to_owned(), arguments }
}

#[cfg(test)]
mod tests {
    use super::{calls, thinking_blocks};
    use crate::fields::Fields;
    use crate::losses::Losses;

    #[test]
    fn calls_have_many_spellings() {
        let text = r#"{"tool_calls":[
            {"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},
            {"id":null,"function":"g","args":{"y":2}},
            {"id":"c","name":"h","arguments":{"z":3}},
            {"id":4,"type":"custom","custom":{"name":"i","input":"\"raw\""}},
            "k"],"function_call":{"name":"j","arguments":""}}"#;
        let mut losses = Losses::default();
        let calls = calls(&Fields::parse(text).expect("an object"), 1, &mut losses);
        let lines: Vec<_> = calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
        assert_eq!(lines, ["a f {\"x\":1}", " g {\"y\":2}", "c h {\"z\":3}", "4 i \"raw\"", " j "]);
        assert_eq!(losses.skipped_records, 1);
    }

    #[test]
    fn thoughts_that_are_only_blobs_are_told() {
        let text = r#"{"thinking_blocks":[{"thinking":"a"},{"type":"redacted_thinking","data":"x"},{"thinking":""}]}"#;
        let fields = Fields::parse(text).expect("an object");
        assert_eq!(thinking_blocks(&fields).as_deref(), Some("a\n[redacted]"));
    }
}
