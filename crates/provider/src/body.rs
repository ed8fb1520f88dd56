//! A request body with its digest, made once and shared by all repetitions.

use laundromat_session::Message;
use serde_json::{Map, Value};

use crate::policy::Policy;
use crate::route::Route;
use crate::routes::{Shape, write};

/// A request body with its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The exact bytes.
    pub bytes: Vec<u8>,
    /// blake3 of the bytes.
    pub digest: [u8; 32],
}

impl Body {
    /// The body of a chat completions request as every server takes it, with `parameters` behind the
    /// messages.
    pub fn chat(model: &str, messages: &[Message], parameters: &Map<String, Value>) -> Self {
        let shape = Shape { model, messages, policy: &Policy::default(), fields: parameters };
        Self::from(write(Route::ChatCompletions, &shape))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        let digest = *blake3::hash(&bytes).as_bytes();
        Self { bytes, digest }
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Message, MessageRole, SentCall};
    use serde_json::json;

    use super::Body;

    /// Byte for byte: a stored call is found again by its body.
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
        let expected = concat!(
            r#"{"model":"m","messages":[{"role":"system","content":"s"},"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function","#,
            r#""function":{"name":"read_file","arguments":"{}"}}]},"#,
            r#"{"role":"tool","content":"r","tool_call_id":"call00001"},"#,
            r#"{"role":"user","content":"p"}],"temperature":0}"#,
        );
        assert_eq!(String::from_utf8(body.bytes.clone()).expect("text"), expected);
        assert_eq!(body.digest, *blake3::hash(&body.bytes).as_bytes());
    }
}
