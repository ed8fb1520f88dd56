//! A request body with its digest, made once and shared by all repetitions; its text is shared by all
//! models that are sent the same one.

use bytes::Bytes;
use laundromat_session::Message;
use serde_json::{Map, Value};

use crate::policy::Policy;
use crate::route::Route;
use crate::routes::{Shape, write};

/// A request body with its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The exact bytes.
    pub bytes: Bytes,
    /// blake3 of the bytes.
    pub digest: [u8; 32],
    /// Length of the beginning that names the model; 0 where it stands in the address.
    head: usize,
}

impl Body {
    /// The body of a chat completions request as every server takes it, with `parameters` behind the
    /// messages.
    pub fn chat(model: &str, messages: &[Message], parameters: &Map<String, Value>) -> Self {
        let shape = Shape { model, messages, policy: &Policy::default(), fields: parameters };
        Self::new(write(Route::ChatCompletions, &shape), model)
    }

    /// The body `bytes` for `model`.
    pub(crate) fn new(bytes: Vec<u8>, model: &str) -> Self {
        let head = head(model);
        let head = if bytes.starts_with(head.as_bytes()) { head.len() } else { 0 };
        let digest = *blake3::hash(&bytes).as_bytes();
        Self { bytes: bytes.into(), digest, head }
    }

    /// The same for another model.
    pub(crate) fn renamed(&self, model: &str) -> Self {
        if self.head == 0 {
            return self.clone();
        }
        let (head, (_, text)) = (head(model), self.parts());
        Self::new([head.as_bytes(), text].concat(), model)
    }

    /// The beginning that names the model, and the text that follows, which is the same for every model.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.head)
    }
}

/// How a body begins that names its model.
fn head(model: &str) -> String {
    format!("{{\"model\":{}", Value::from(model))
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
        assert_eq!(String::from_utf8(body.bytes.to_vec()).expect("text"), expected);
        assert_eq!(body.digest, *blake3::hash(&body.bytes).as_bytes());
    }

    #[test]
    fn a_body_for_another_model_is_the_one_that_would_be_made_for_it() {
        let messages = [Message::text(MessageRole::User, "say \"model\"")];
        let parameters = json!({"model_kwargs": "m"}).as_object().expect("an object").clone();
        let body = |model: &str| Body::chat(model, &messages, &parameters);
        assert_eq!(body("m").renamed("a \"quoted\" name"), body("a \"quoted\" name"));
        let (one, other) = (body("m"), body("n"));
        assert_eq!(one.parts().0, br#"{"model":"m""#);
        assert_eq!(one.parts().1, other.parts().1);
    }
}
