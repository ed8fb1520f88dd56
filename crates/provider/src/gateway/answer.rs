//! What goes back to a client: an answer or a refusal, in the client's own shape.

use laundromat_session::{SentCall, tokens};
use serde_json::Value;

use super::request::{Delivery, Request};
use super::sse::stream;
use super::talk::Talk;
use super::target::{Listing, Shape};
use super::{anthropic, chat, gemini, responses};
use crate::failure::{CallFailure, FailureKind};
use crate::reply::{Completion, Finish};
use crate::route::Route;

/// A model's answer, the same for all shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The visible text.
    pub text: String,
    /// The calls it makes.
    pub calls: Vec<SentCall>,
    /// How it ended; a client is told the same.
    pub finish: Finish,
    /// Input tokens: as counted by the provider, else by the four-characters rule.
    pub input: u64,
    /// Input tokens served from a cache.
    pub cached: u64,
    /// Output tokens: as counted by the provider, else by the four-characters rule.
    pub output: u64,
    /// The model that answered.
    pub model: String,
    /// Number of the call behind this door, from 1.
    pub number: u32,
    /// The reply as it came, where the client speaks the summarizer's own route.
    verbatim: Option<Vec<u8>>,
}

impl Answer {
    /// The answer to `request`: what `completion` read from `reply`, which came on `route`.
    pub fn new(request: &Request, number: u32, route: Route, reply: &[u8], completion: &Completion) -> Self {
        let chars: usize = request.messages.iter().map(laundromat_session::Message::chars).sum();
        let usage = completion.usage;
        Self {
            calls: calls(route, reply),
            finish: completion.finish,
            input: usage.input.unwrap_or(tokens::estimate(chars) as u64),
            cached: usage.cached.unwrap_or(0),
            output: usage.output.unwrap_or(tokens::estimate(completion.text.chars().count()) as u64),
            model: completion.served.model.clone(),
            text: completion.text.clone(),
            number,
            // A stored stream is no JSON object; its client gets the answer written anew.
            verbatim: (request.shape.route() == route && reply.starts_with(b"{")).then(|| reply.to_vec()),
        }
    }
}

/// The calls in a provider's reply. One that cannot be read has none: how it ended still tells of them.
fn calls(route: Route, reply: &[u8]) -> Vec<SentCall> {
    let Ok(reply) = serde_json::from_slice::<Value>(reply) else { return Vec::new() };
    let mut talk = Talk::default();
    let calls = match route {
        Route::ChatCompletions => chat::calls(&mut talk, &reply["choices"][0]["message"]),
        Route::Responses => responses::calls(&mut talk, &reply),
        Route::Anthropic => anthropic::calls(&mut talk, &reply),
        Route::Gemini => gemini::calls(&mut talk, &reply),
        Route::BedrockConverse => Ok(Vec::new()),
    };
    calls.unwrap_or_default()
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    NotHere,
    WrongToken,
    WrongHost,
    TooLarge,
    Invalid,
    Overflow,
    Blocked,
    TooMany,
    Overloaded,
    Timeout,
    Upstream,
}

impl Kind {
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::NotHere => 404,
            Self::WrongToken => 401,
            Self::WrongHost => 403,
            Self::TooLarge => 413,
            Self::Invalid | Self::Overflow | Self::Blocked => 400,
            Self::TooMany => 429,
            Self::Overloaded => 503,
            Self::Timeout => 504,
            Self::Upstream => 502,
        }
    }

    pub(super) fn openai_type(self) -> &'static str {
        match self.status() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        }
    }

    pub(super) fn code(self) -> &'static str {
        match self {
            Self::NotHere => "not_found",
            Self::WrongToken => "invalid_api_key",
            Self::WrongHost => "wrong_host",
            Self::TooLarge => "request_too_large",
            Self::Invalid => "invalid_request",
            // Harnesses look for this word before they send less.
            Self::Overflow => "context_length_exceeded",
            Self::Blocked => "content_filter",
            Self::TooMany => "rate_limit_exceeded",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Upstream => "upstream_error",
        }
    }

    pub(super) fn anthropic_type(self) -> &'static str {
        match self {
            Self::NotHere => "not_found_error",
            Self::WrongToken => "authentication_error",
            Self::WrongHost => "permission_error",
            Self::TooLarge => "request_too_large",
            Self::Invalid | Self::Overflow | Self::Blocked => "invalid_request_error",
            Self::TooMany => "rate_limit_error",
            Self::Overloaded => "overloaded_error",
            Self::Timeout => "timeout_error",
            Self::Upstream => "api_error",
        }
    }

    pub(super) fn google_status(self) -> &'static str {
        match self.status() {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            502 => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        }
    }
}

/// A refusal, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declined {
    pub(crate) kind: Kind,
    pub(crate) message: String,
}

impl Declined {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// More calls than whoever opened the door allows.
    pub fn too_many(message: impl Into<String>) -> Self {
        Self::new(Kind::TooMany, message)
    }

    /// The summarizer cannot be asked, for a reason that is not the client's.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Upstream, message)
    }
}

impl From<&CallFailure> for Declined {
    fn from(failure: &CallFailure) -> Self {
        let kind = match failure.kind {
            FailureKind::ContextOverflow => Kind::Overflow,
            FailureKind::Blocked => Kind::Blocked,
            FailureKind::Invalid => Kind::Invalid,
            FailureKind::RateLimit => Kind::TooMany,
            FailureKind::Overloaded => Kind::Overloaded,
            FailureKind::Timeout => Kind::Timeout,
            _ => Kind::Upstream,
        };
        // What the provider said comes first: harnesses look into it.
        let message = if failure.said.is_empty() { failure.to_string() } else { failure.said.clone() };
        Self::new(kind, message)
    }
}

/// What goes back.
#[derive(Debug)]
pub enum Reply {
    /// The answer.
    Answer(Box<Answer>),
    /// A refusal.
    Declined(Declined),
}

/// A reply as bytes.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

const JSON: &str = "application/json";

/// A reply in the client's shape.
pub(crate) fn render(shape: Shape, delivery: Delivery, reply: Reply) -> Rendered {
    let answer = match reply {
        Reply::Declined(declined) => return refuse(shape, &declined),
        Reply::Answer(answer) => answer,
    };
    let (content_type, body) = match (delivery, answer.verbatim) {
        (Delivery::Whole, Some(verbatim)) => (JSON, verbatim),
        (Delivery::Events | Delivery::EventsWithUsage, _) => {
            let answer = Answer { verbatim: None, ..*answer };
            ("text/event-stream", stream(shape, delivery, &answer).into_bytes())
        }
        (Delivery::Whole | Delivery::Array, _) => {
            let answer = Answer { verbatim: None, ..*answer };
            let whole = match shape {
                Shape::Chat => chat::whole(&answer),
                Shape::Responses => responses::whole(&answer),
                Shape::Anthropic => anthropic::whole(&answer),
                Shape::Gemini => gemini::whole(&answer),
            };
            let whole = if delivery == Delivery::Array { Value::Array(vec![whole]) } else { whole };
            (JSON, whole.to_string().into_bytes())
        }
    };
    Rendered { status: 200, content_type, body }
}

/// A refusal in the client's shape.
pub(crate) fn refuse(shape: Shape, declined: &Declined) -> Rendered {
    let body = match shape {
        Shape::Chat | Shape::Responses => chat::error(declined),
        Shape::Anthropic => anthropic::error(declined),
        Shape::Gemini => gemini::error(declined),
    };
    Rendered { status: declined.kind.status(), content_type: JSON, body: body.to_string().into_bytes() }
}

/// The one model that a door leads to.
pub(crate) fn models(listing: Listing, model: &str) -> Rendered {
    let body = match listing {
        Listing::Data => serde_json::json!({"object": "list", "has_more": false, "data": [{
            "id": model, "object": "model", "type": "model", "display_name": model, "created": 0,
            "created_at": "1970-01-01T00:00:00Z", "owned_by": "laundromat",
        }]}),
        Listing::Gemini => serde_json::json!({"models": [{
            "name": format!("models/{model}"), "displayName": model,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent"],
        }]}),
    };
    Rendered { status: 200, content_type: JSON, body: body.to_string().into_bytes() }
}
