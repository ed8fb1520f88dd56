//! What a request that passed the rules asks for: its texts, its form and its length. It borrows the parsed
//! body; nothing is copied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The form of a summarizer's input, read from the request alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One user message and nothing else.
    FlatUser,
    /// System text and one user message.
    FlatSplit,
    /// Turns as messages: tool messages, assistant turns, or several user messages.
    Typed,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A summary is asked for.
    Summarize,
    /// A verdict is asked for.
    Judge,
    /// The request was refused before that was known.
    Unknown,
}

/// One text of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The role of its message.
    pub(crate) role: &'a str,
    pub(crate) text: &'a str,
}

impl Text<'_> {
    pub(crate) fn is_system(&self) -> bool {
        matches!(self.role, "system" | "developer")
    }
}

/// A request as the answering side sees it.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) form: Form,
    pub(crate) texts: Vec<Text<'a>>,
    /// Characters of everything the model would read.
    chars: usize,
}

impl<'a> Request<'a> {
    /// Reads a body that passed the rules.
    pub(crate) fn of(body: &'a Value) -> Self {
        let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut texts = Vec::with_capacity(messages.len());
        let (mut systems, mut users, mut others) = (0, 0, 0);
        for message in messages {
            let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
            match role {
                "system" | "developer" => systems += 1,
                "user" => users += 1,
                _ => others += 1,
            }
            texts.extend(strings(message).map(|text| Text { role, text }));
        }
        let form = match (others, users, systems) {
            (0, 0 | 1, 0) => Form::FlatUser,
            (0, 0 | 1, _) => Form::FlatSplit,
            _ => Form::Typed,
        };
        let chars = texts.iter().map(|text| text.text.chars().count()).sum();
        Self { model: body.get("model").and_then(Value::as_str).unwrap_or_default(), form, texts, chars }
    }

    /// Tokens by the four-characters rule.
    pub(crate) fn tokens(&self) -> usize {
        self.chars.div_ceil(4)
    }
}

/// Every text of a message: content, recorded reasoning, names and arguments of calls.
fn strings(message: &Value) -> impl Iterator<Item = &str> {
    let (whole, parts) = match message.get("content") {
        Some(Value::String(text)) => (Some(text.as_str()), &[][..]),
        Some(Value::Array(parts)) => (None, parts.as_slice()),
        _ => (None, &[][..]),
    };
    let parts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
    let reasoning = message.get("reasoning_content").and_then(Value::as_str);
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let calls = calls.iter().filter_map(|call| call.get("function")).flat_map(|function| {
        ["name", "arguments"].into_iter().filter_map(|field| function.get(field).and_then(Value::as_str))
    });
    whole.into_iter().chain(parts).chain(reasoning).chain(calls)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Form, Request};

    fn body(messages: &Value) -> Value {
        json!({"model": "m", "messages": messages})
    }

    #[test]
    fn forms_are_told_apart_by_structure_alone() {
        let system = json!({"role": "system", "content": "s"});
        let user = json!({"role": "user", "content": [{"type": "text", "text": "[USER]: u"}]});
        let assistant = json!({"role": "assistant", "content": "a"});
        for (messages, form) in [
            (json!([user]), Form::FlatUser),
            (json!([system, user]), Form::FlatSplit),
            (json!([system, user, user]), Form::Typed),
            (json!([user, assistant]), Form::Typed),
        ] {
            assert_eq!(Request::of(&body(&messages)).form, form, "{messages}");
        }
    }

    #[test]
    fn all_that_the_model_reads_is_counted() {
        let call = json!({"id": "c", "function": {"name": "four", "arguments": "{\"a\":1}"}});
        let body = body(&json!([
            {"role": "user", "content": [{"type": "text", "text": "zwölf"}]},
            {"role": "assistant", "content": null, "reasoning_content": "why", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ]));
        let request = Request::of(&body);
        assert_eq!(request.chars, 5 + 3 + 4 + 7 + 2);
        assert_eq!(request.tokens(), 6);
    }
}
