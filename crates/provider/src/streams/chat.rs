//! Chat Completions: deltas of the first choice, usage in a chunk without choices, `[DONE]` at the end.

use serde_json::{Value, json};

use crate::members::{Members, Object};
use crate::replies::chat;
use crate::sse::Event;
use crate::stream::{Assemble, Progress, StreamError};

/// Members of a chunk that are the same in all of them.
const ABOUT: [&str; 5] = ["id", "created", "model", "provider", "system_fingerprint"];
/// Members of a delta that are text, beside its content.
const TEXTS: [&str; 3] = ["refusal", "reasoning_content", "reasoning"];

#[derive(Debug, Default)]
pub(crate) struct Chat {
    about: Object,
    content: String,
    texts: [String; TEXTS.len()],
    calls: Vec<Value>,
    finish_reason: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
    is_done: bool,
}

impl Assemble for Chat {
    fn take(&mut self, event: &Event) -> Result<Progress, StreamError> {
        if event.data.trim_ascii() == b"[DONE]" {
            self.is_done = true;
            return Ok(Progress::Over);
        }
        let chunk = event.json()?;
        // A provider behind a gateway can fail after the 200 is out.
        if let Some(error) = chunk.said("error") {
            return Ok(self.fail(error));
        }
        let choices = chunk.objects("choices")?;
        if let Some(error) = choices.iter().find_map(|choice| choice.said("error")) {
            return Ok(self.fail(error));
        }
        for name in ABOUT {
            if let Some(value) = chunk.said(name).filter(|_| !self.about.contains_key(name)) {
                self.about.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(usage) = chunk.said("usage") {
            self.usage = Some(usage.clone());
        }
        for choice in choices.into_iter().filter(|choice| choice.said("index").is_none()) {
            self.take_choice(choice)?;
        }
        Ok(Progress::Open)
    }

    fn body(self: Box<Self>) -> Option<Object> {
        if let Some(error) = self.error {
            return Some([("error".to_owned(), error)].into_iter().collect());
        }
        if !self.is_done && self.finish_reason.is_none() {
            return None;
        }
        let mut message = Object::new();
        message.insert("content".to_owned(), Value::String(self.content));
        for (name, text) in TEXTS.into_iter().zip(self.texts) {
            message.insert(name.to_owned(), Value::String(text));
        }
        message.insert("tool_calls".to_owned(), Value::Array(self.calls));
        let mut body = self.about;
        body.insert("choices".to_owned(), json!([{"message": message, "finish_reason": self.finish_reason}]));
        body.extend(self.usage.map(|usage| ("usage".to_owned(), usage)));
        Some(body)
    }
}

impl Chat {
    fn fail(&mut self, error: &Value) -> Progress {
        self.error = Some(error.clone());
        Progress::Over
    }

    fn take_choice(&mut self, choice: &Object) -> Result<(), StreamError> {
        if let Some(reason) = choice.said("finish_reason") {
            self.finish_reason = Some(reason.clone());
        }
        let Some(delta) = choice.object("delta")? else { return Ok(()) };
        self.content.push_str(&chat::text(delta)?);
        for (name, text) in TEXTS.into_iter().zip(&mut self.texts) {
            text.push_str(delta.label(name).unwrap_or_default());
        }
        self.calls.extend(delta.list("tool_calls")?.iter().cloned());
        Ok(())
    }
}
