//! The body of an OpenAI chat completions request: `model`, `messages` and the user's parameters.

use laundromat_session::{Message, MessageRole};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Map, Value};

/// A request body with its digest, made once and shared by all repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The exact bytes.
    pub bytes: Vec<u8>,
    /// blake3 of the bytes.
    pub digest: [u8; 32],
}

impl Body {
    /// The body that asks `model` to answer `messages`, with `parameters` behind them.
    pub fn chat(model: &str, messages: &[Message], parameters: &Map<String, Value>) -> Self {
        let size: usize = messages.iter().map(|message| message.text.len() + 128).sum();
        let mut bytes = Vec::with_capacity(size + size / 8);
        let wire = Wire { model, messages: WireMessages(messages), parameters };
        // Writing text to memory cannot fail.
        serde_json::to_writer(&mut bytes, &wire).unwrap_or_default();
        let digest = *blake3::hash(&bytes).as_bytes();
        Self { bytes, digest }
    }
}

#[derive(Serialize)]
struct Wire<'a> {
    model: &'a str,
    messages: WireMessages<'a>,
    #[serde(flatten)]
    parameters: &'a Map<String, Value>,
}

struct WireMessages<'a>(&'a [Message]);

impl Serialize for WireMessages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for message in self.0 {
            list.serialize_element(&WireMessage {
                role: message.role.as_str(),
                // An assistant message that only calls has no content, which every route takes as null.
                content: (message.role != MessageRole::Assistant || !message.text.trim().is_empty())
                    .then_some(&message.text),
                tool_calls: message.calls.iter().map(WireCall::from).collect(),
                tool_call_id: message.call_id.as_deref(),
            })?;
        }
        list.end()
    }
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'a str,
    content: Option<&'a String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> From<&'a laundromat_session::SentCall> for WireCall<'a> {
    fn from(call: &'a laundromat_session::SentCall) -> Self {
        Self {
            id: &call.id,
            r#type: "function",
            function: WireFunction { name: &call.name, arguments: &call.arguments },
        }
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Message, MessageRole, SentCall};
    use serde_json::{Value, json};

    use super::Body;

    #[test]
    fn a_typed_conversation_is_a_chat_body() {
        let call = SentCall { id: "call00001".to_owned(), name: "read_file".to_owned(), arguments: "{}".to_owned() };
        let body = Body::chat(
            "m",
            &[
                Message::text(MessageRole::System, "s"),
                Message { calls: vec![call], ..Message::text(MessageRole::Assistant, "") },
                Message::result("call00001", "r"),
                Message::text(MessageRole::User, "p"),
            ],
            json!({"temperature": 0}).as_object().expect("an object"),
        );
        let expected = json!({"model": "m", "messages": [
            {"role": "system", "content": "s"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]},
            {"role": "tool", "content": "r", "tool_call_id": "call00001"},
            {"role": "user", "content": "p"},
        ], "temperature": 0});
        assert_eq!(serde_json::from_slice::<Value>(&body.bytes).expect("JSON"), expected);
        assert_eq!(body.digest, *blake3::hash(&body.bytes).as_bytes());
    }
}
