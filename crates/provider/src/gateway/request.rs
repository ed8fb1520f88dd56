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
        let model = self.model.or_else(|| body.get("model").and_then(Value::as_str)).unwrap_or_default();
        Ok(Request {
            shape: self.shape,
            model: model.to_owned(),
            messages: talk.messages,
            left_out: talk.left_out.into_iter().collect(),
            cap: talk.cap,
            delivery: self.delivery.unwrap_or(delivery),
            raw: self.raw,
        })
    }
}
