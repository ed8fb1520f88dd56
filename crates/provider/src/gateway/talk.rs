//! A conversation as it is read from a client's request: what all shapes share.

use std::collections::BTreeSet;
use std::collections::HashMap;

use laundromat_session::{Message, MessageRole, SentCall};
use serde_json::{Map, Value};

use super::request::{Malformed, OutputCap};

/// Longest name of something left out that is shown.
const SHOWN: usize = 40;

/// A conversation being read.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) messages: Vec<Message>,
    /// What the client sent and the summarizer does not get, by name.
    pub(super) left_out: BTreeSet<String>,
    /// The bound on the reply.
    pub(super) cap: Option<OutputCap>,
    /// Harnesses draw ids at random; numbered ones make the same request the same bytes on every start.
    ids: HashMap<String, String>,
    numbered: usize,
}

impl Talk {
    /// Adds a text message.
    pub(super) fn say(&mut self, role: MessageRole, text: String) {
        self.messages.push(Message::text(role, text));
    }

    /// Adds the result of the call `id`.
    pub(super) fn result(&mut self, id: &str, text: String) {
        let id = self.id(id);
        self.messages.push(Message::result(id, text));
    }

    /// Adds an assistant message.
    pub(super) fn assistant(&mut self, text: String, calls: Vec<SentCall>) {
        self.messages.push(Message { calls, ..Message::text(MessageRole::Assistant, text) });
    }

    /// Adds a call to the assistant message at the end, or to a new one.
    pub(super) fn call_behind(&mut self, call: SentCall) {
        match self.messages.last_mut() {
            Some(last) if last.role == MessageRole::Assistant => last.calls.push(call),
            _ => self.assistant(String::new(), vec![call]),
        }
    }

    /// A call with its numbered id.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: String) -> SentCall {
        SentCall { id: self.id(id), name: name.to_owned(), arguments }
    }

    /// The numbered id of a recorded one: equal ids stay equal, others stay apart.
    fn id(&mut self, recorded: &str) -> String {
        if let Some(id) = self.ids.get(recorded) {
            return id.clone();
        }
        let id = self.fresh_id();
        self.ids.insert(recorded.to_owned(), id.clone());
        id
    }

    /// A numbered id that no recorded one has.
    pub(super) fn fresh_id(&mut self) -> String {
        self.numbered += 1;
        format!("call{:05}", self.numbered)
    }

    /// Notes that something was left out.
    pub(super) fn leave_out(&mut self, name: &str) {
        self.left_out.insert(tidy(name));
    }

    /// Takes the first of `fields` that bounds the reply.
    pub(super) fn take_cap(&mut self, object: &Map<String, Value>, fields: &[&'static str]) {
        let caps = fields.iter().filter_map(|field| Some((*field, object.get(*field)?.as_u64()?)));
        self.cap = caps.map(|(field, tokens)| OutputCap { field, tokens }).next();
    }

    /// Notes every field of `object` that is not one of `known`, nor the bound on the reply.
    pub(super) fn leave_out_others(&mut self, object: &Map<String, Value>, known: &[&str]) {
        let cap = self.cap.map(|cap| cap.field);
        for name in object.keys().filter(|name| !known.contains(&name.as_str()) && cap != Some(name.as_str())) {
            self.leave_out(name);
        }
    }

    /// The text of content: text, nothing, or a list of parts, which are joined with a newline. What is no
    /// text leaves its kind behind in brackets.
    pub(super) fn text(&mut self, content: Option<&Value>) -> Result<String, Malformed> {
        match content {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Array(parts)) => {
                let texts: Result<Vec<String>, Malformed> = parts.iter().map(|part| self.part(part)).collect();
                Ok(texts?.join("\n"))
            }
            Some(_) => Err(Malformed::new("content is neither text nor a list of parts")),
        }
    }

    fn part(&mut self, part: &Value) -> Result<String, Malformed> {
        if let Some(text) = part.as_str() {
            return Ok(text.to_owned());
        }
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("part");
        let field = if kind == "refusal" { "refusal" } else { "text" };
        match (kind, part.get(field).and_then(Value::as_str)) {
            ("text" | "input_text" | "output_text" | "refusal", Some(text)) => Ok(text.to_owned()),
            ("text" | "input_text" | "output_text" | "refusal", None) => {
                Err(Malformed::new(format!("a part of type {kind} has no text")))
            }
            (other, _) => Ok(self.placeholder(other)),
        }
    }

    /// What stands for content that is no text.
    pub(super) fn placeholder(&mut self, kind: &str) -> String {
        self.leave_out(kind);
        format!("[{}]", tidy(kind))
    }
}

/// A name from a request, fit to be shown.
fn tidy(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).take(SHOWN).collect()
}

/// A list that must be there.
pub(super) fn list<'v>(object: &'v Map<String, Value>, key: &str) -> Result<&'v [Value], Malformed> {
    let list = object.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| Malformed::new(format!("{key} is not a list")))
}

/// Text that must be there.
pub(super) fn field<'v>(object: &'v Value, key: &str) -> Result<&'v str, Malformed> {
    object.get(key).and_then(Value::as_str).ok_or_else(|| Malformed::new(format!("{key} is missing")))
}

/// Arguments as text: they are text on some routes and an object on others.
pub(super) fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(object) => object.to_string(),
    }
}

/// Arguments as an object, for routes that have them so.
pub(super) fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => serde_json::json!({ "_raw": arguments }),
    }
}
