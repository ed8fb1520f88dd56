//! Gemini `streamGenerateContent`: each event is a whole reply with the next parts, and the last usage
//! wins. A finish reason or a blocked prompt is the end, but usage may follow it.

use serde_json::{Value, json};

use crate::members::{Members, Object, object};
use crate::sse::Event;
use crate::stream::{Assemble, Progress, StreamError};

#[derive(Debug, Default)]
pub(crate) struct Gemini {
    body: Object,
    candidate: Object,
    parts: Vec<Value>,
    is_failed: bool,
}

impl Assemble for Gemini {
    fn take(&mut self, event: &Event) -> Result<Progress, StreamError> {
        let json = event.json()?;
        if json.said("error").is_some() {
            self.body = json;
            self.is_failed = true;
            return Ok(Progress::Over);
        }
        for candidate in json.list("candidates")? {
            let candidate = object("candidates", candidate)?;
            if candidate.said("index").is_some() {
                continue;
            }
            if let Some(content) = candidate.object("content")? {
                self.parts.extend(content.list("parts")?.iter().cloned());
            }
            for (name, value) in candidate.iter().filter(|(name, _)| *name != "content") {
                self.candidate.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in json.into_iter().filter(|(name, _)| name != "candidates") {
            self.body.insert(name, value);
        }
        Ok(Progress::Open)
    }

    fn body(self: Box<Self>) -> Option<Object> {
        let Self { mut body, mut candidate, parts, is_failed } = *self;
        if is_failed {
            return Some(body);
        }
        let is_blocked = body.get("promptFeedback").is_some_and(|feedback| feedback.get("blockReason").is_some());
        if !is_blocked && candidate.said("finishReason").is_none() {
            return None;
        }
        if !candidate.is_empty() || !parts.is_empty() {
            candidate.insert("content".to_owned(), json!({"role": "model", "parts": parts}));
            body.insert("candidates".to_owned(), json!([candidate]));
        }
        Some(body)
    }
}
