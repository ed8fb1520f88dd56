//! The body of a 200: a chat completion, whole or with the marks of a call that ended badly.

use serde_json::{Value, json};

use crate::fault::FaultKind;

/// A fixed date: replies are the same bytes in every run.
const CREATED: u64 = 1_790_000_000;

/// What the model is said to have done.
pub(crate) struct Completion<'a> {
    pub(crate) id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) prompt_tokens: usize,
    /// The text of a call that goes well.
    pub(crate) text: &'a str,
}

impl Completion<'_> {
    /// The body; `fault` is the way in which the call ended, where it did not end well.
    pub(crate) fn body(&self, fault: Option<FaultKind>) -> Value {
        let half = &self.text[..self.text.floor_char_boundary(self.text.len() / 2)];
        let text = Some(self.text);
        let (finish, content, extra) = match fault {
            Some(FaultKind::Truncated) => (Some("length"), Some(half), Extra::None),
            Some(FaultKind::Refused) => (Some("stop"), None, Extra::Refusal("I can't help with that.")),
            Some(FaultKind::ContentFilter) => (Some("content_filter"), None, Extra::None),
            Some(FaultKind::RefusalText) => {
                (Some("stop"), Some("I'm sorry, but I can't help with summarizing this conversation."), Extra::None)
            }
            Some(FaultKind::Empty) => (Some("stop"), Some(""), Extra::None),
            Some(FaultKind::ReasoningOnly) => {
                (Some("stop"), Some(""), Extra::Reasoning("The transcript is long; which parts matter most?"))
            }
            Some(FaultKind::ToolCall) => (Some("tool_calls"), None, Extra::Call),
            Some(FaultKind::UnknownFinish) => (None, text, Extra::None),
            _ => (Some("stop"), text, Extra::None),
        };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        let mut written = content.map_or(0, |content| content.chars().count());
        let mut reasoning_tokens = 0;
        match extra {
            Extra::None => {}
            Extra::Refusal(refusal) => {
                message["refusal"] = json!(refusal);
                written += refusal.len();
            }
            Extra::Reasoning(reasoning) => {
                message["reasoning_content"] = json!(reasoning);
                written += reasoning.len();
                reasoning_tokens = reasoning.len().div_ceil(4);
            }
            Extra::Call => {
                let function = json!({"name": "read_file", "arguments": "{\"path\":\"README.md\"}"});
                message["tool_calls"] = json!([{"id": "call_mock1", "type": "function", "function": function}]);
            }
        }
        let completion_tokens = written.div_ceil(4);
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": CREATED,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": null}],
            "usage": {
                "prompt_tokens": self.prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": self.prompt_tokens + completion_tokens,
                "prompt_tokens_details": {"cached_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
            },
            "system_fingerprint": "fp_mock",
        })
    }
}

/// What a message carries beside its content.
enum Extra {
    None,
    Refusal(&'static str),
    Reasoning(&'static str),
    Call,
}

/// The body of `GET /v1/models`.
pub(crate) fn models(names: &[String]) -> Value {
    let one = |name: &str| json!({"id": name, "object": "model", "created": CREATED, "owned_by": "laundromat-mock"});
    let data: Vec<Value> = match names {
        [] => vec![one("mock-model")],
        names => names.iter().map(|name| one(name)).collect(),
    };
    json!({"object": "list", "data": data})
}
