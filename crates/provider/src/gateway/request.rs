//! A client's request, the same for all shapes.

use laundromat_session::Message;
use serde_json::Value;

use super::target::Shape;
use super::{anthropic, chat, gemini, responses};

/// How the client wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As one JSON object.
    Whole,
    /// As server-sent events.
    Events,
    /// As server-sent events, with the usage in one more of them (chat alone asks so).
    EventsWithUsage,
    /// As a JSON array of parts (Gemini without `alt=sse`).
    Array,
}

/// A bound on the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputCap {
    /// The client's name for it.
    pub field: &'static str,
    /// Most tokens.
    pub tokens: u64,
}

/// What a client asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// How it speaks.
    pub shape: Shape,
    /// The model it named.
    pub model: String,
    /// The conversation. Ids are numbered anew, in order; nothing else is changed.
    pub messages: Vec<Message>,
    /// What it sent beside the conversation and its summarizer does not get, by name, sorted.
    pub left_out: Vec<String>,
    /// How long it lets the reply be. Whoever answers decides whether that acts.
    pub cap: Option<OutputCap>,
    /// How it wants the answer.
    pub delivery: Delivery,
    /// The body as it came.
    pub raw: Vec<u8>,
}

/// A body that is not what its path says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Malformed {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }

    /// The same, with the place in front.
    pub(super) fn at(self, list: &str, index: usize) -> Self {
        Self(format!("{list}[{index}]: {}", self.0))
    }
}

/// A request whose path is known and whose body is still bytes.
#[derive(Debug)]
pub(crate) struct Unread<'a> {
    pub(crate) shape: Shape,
    /// The model, where the path names it.
    pub(crate) model: Option<&'a str>,
    /// The delivery, where the path names it.
    pub(crate) delivery: Option<Delivery>,
    pub(crate) raw: Vec<u8>,
}

impl Unread<'_> {
    /// Reads the body.
    pub(crate) fn read(self) -> Result<Request, Malformed> {
        let body: Value =
            serde_json::from_slice(&self.raw).map_err(|error| Malformed::new(format!("not JSON: {error}")))?;
        let Value::Object(body) = body else { return Err(Malformed::new("the body is not an object")) };
        let talk = match self.shape {
            Shape::Chat => chat::read(&body),
            Shape::Responses => responses::read(&body),
            Shape::Anthropic => anthropic::read(&body),
            Shape::Gemini => gemini::read(&body),
        }?;
        if talk.messages.is_empty() {
            return Err(Malformed::new("there is no message"));
        }
        let streams = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
        let with_usage = body.get("stream_options").and_then(|options| options.get("include_usage"));
        let delivery = match (streams, with_usage.and_then(Value::as_bool)) {
            (false, _) => Delivery::Whole,
            (true, Some(true)) => Delivery::EventsWithUsage,
            (true, _) => Delivery::Events,
        };
        let named = || body.get("model").and_then(Value::as_str).map(str::to_owned);
        Ok(Request {
            shape: self.shape,
            model: self.model.map(decoded).or_else(named).unwrap_or_default(),
            messages: talk.messages,
            left_out: talk.left_out.into_iter().collect(),
            cap: talk.cap,
            delivery: self.delivery.unwrap_or(delivery),
            raw: self.raw,
        })
    }
}

/// A name from a path: clients disagree on whether a slash in it is encoded. What encodes no text stays.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let encoded = behind.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match encoded.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{OutputCap, Unread, decoded};
    use crate::gateway::Shape;

    #[test]
    fn a_name_in_a_path_is_decoded_once() {
        for (path, name) in [("a/b", "a/b"), ("a%2Fb", "a/b"), ("a%252Fb", "a%2Fb"), ("100%", "100%"), ("%zz", "%zz")] {
            assert_eq!(decoded(path), name);
        }
        assert_eq!(decoded("%ff"), "%ff", "no text");
    }

    #[test]
    fn the_bound_on_the_reply_is_taken_and_the_rest_is_named() {
        let read = |shape: Shape, more: Value| {
            let mut body = json!({"messages": [{"role": "user", "content": "u"}], "input": "u",
                                  "contents": [{"role": "user", "parts": [{"text": "u"}]}]});
            let kept = if shape == Shape::Gemini {
                "contents"
            } else if shape == Shape::Responses {
                "input"
            } else {
                "messages"
            };
            let body = body.as_object_mut().expect("an object");
            body.retain(|name, _| name == kept);
            body.extend(more.as_object().expect("an object").clone());
            let raw = Value::from(body.clone()).to_string().into_bytes();
            let request = (Unread { shape, model: None, delivery: None, raw }).read().expect("a request");
            (request.cap, request.left_out.join(" "))
        };
        let cap = |field, tokens| Some(OutputCap { field, tokens });
        for (shape, more, expected, left_out) in [
            (Shape::Chat, json!({"max_tokens": 9, "temperature": 0}), cap("max_tokens", 9), "temperature"),
            (
                Shape::Chat,
                json!({"max_completion_tokens": 9, "max_tokens": 8}),
                cap("max_completion_tokens", 9),
                "max_tokens",
            ),
            (Shape::Responses, json!({"max_output_tokens": 9}), cap("max_output_tokens", 9), ""),
            (Shape::Anthropic, json!({"max_tokens": 9}), cap("max_tokens", 9), ""),
            (
                Shape::Gemini,
                json!({"generationConfig": {"maxOutputTokens": 9, "topP": 1}}),
                cap("maxOutputTokens", 9),
                "generationConfig.topP",
            ),
            (Shape::Gemini, json!({"generation_config": {"max_output_tokens": 9}}), cap("max_output_tokens", 9), ""),
            (Shape::Chat, json!({"max_tokens": "many"}), None, "max_tokens"),
        ] {
            assert_eq!(read(shape, more), (expected, left_out.to_owned()), "{shape}");
        }
    }
}
