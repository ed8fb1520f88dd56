//! OpenAI Responses: the last event carries the whole reply. The Codex backend's carries it without its
//! output, which is then collected from the finished items, or from the text deltas where there are none.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::members::{Members, Object};
use crate::sse::Event;
use crate::stream::{Assemble, Progress, StreamError};

#[derive(Debug, Default)]
pub(crate) struct Responses {
    items: BTreeMap<u64, Value>,
    text: String,
    body: Option<Object>,
}

impl Assemble for Responses {
    fn take(&mut self, event: &Event) -> Result<Progress, StreamError> {
        let json = event.json()?;
        match event.kind(&json) {
            Some("response.output_text.delta") => self.text.push_str(json.text("delta")?),
            Some("response.output_item.done") => {
                let next = self.items.len() as u64;
                let item = json.needed("item")?.clone();
                self.items.insert(json.count("output_index").unwrap_or(next), Value::Object(item));
            }
            Some(kind @ ("response.completed" | "response.incomplete" | "response.failed")) => {
                let response = json.needed("response")?.clone();
                self.body = Some(self.complete(response, kind));
                return Ok(Progress::Over);
            }
            Some("error") => {
                let error = json.said("error").cloned().unwrap_or_else(
                    || json!({"code": json.get("code"), "message": json.get("message"), "param": json.get("param")}),
                );
                self.body = Some([("error".to_owned(), error)].into_iter().collect());
                return Ok(Progress::Over);
            }
            _ => {}
        }
        Ok(Progress::Open)
    }

    fn body(self: Box<Self>) -> Option<Object> {
        self.body
    }
}

impl Responses {
    fn complete(&mut self, mut response: Object, kind: &str) -> Object {
        if !response.contains_key("status") {
            let status = kind.trim_start_matches("response.");
            response.insert("status".to_owned(), Value::String(status.to_owned()));
        }
        if response.said("output").is_none() {
            let mut items: Vec<Value> = std::mem::take(&mut self.items).into_values().collect();
            if items.is_empty() && !self.text.is_empty() {
                let content = json!([{"type": "output_text", "text": self.text}]);
                items.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            response.insert("output".to_owned(), Value::Array(items));
        }
        response
    }
}
