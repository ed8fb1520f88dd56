//! What comes back from a call: a completion, or the failure that a status, an error object or a shape
//! says it is. What is not known is said to be unknown, never taken as good.
//!
//! A reply is read from its bytes alone, streamed or not, so that one which was kept reads the same years
//! later. [`crate::replies`] reads each route, [`crate::classify`] the errors of all.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::classify::ErrorReply;
use crate::envelope;
use crate::failure::CallFailure;
use crate::members::{Members, Object};
use crate::parsed::{Parsed, Problem};
use crate::replies::{anthropic, bedrock, chat, gemini, responses};
use crate::route::Route;
use crate::sse;
use crate::stream::Stream;

/// Headers that name a request on the provider's side.
const REQUEST_ID: [&str; 3] = ["x-request-id", "request-id", "x-amzn-requestid"];

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finish {
    /// Normally.
    Complete,
    /// Cut off by a length limit.
    Truncated,
    /// Refused by the model or a filter.
    Blocked,
    /// With a tool call.
    ToolCall,
    /// With a reason that is missing or not known.
    Unknown,
}

/// Tokens as the provider counts them; `None` for what it does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: Option<u64>,
    /// Input tokens served from a cache.
    pub cached: Option<u64>,
    /// Input tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Output tokens spent on reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Input and output together.
    pub fn total(&self) -> Option<u64> {
        sum([self.input, self.output])
    }
}

/// The sum of the counts that are known; `None` where none is.
pub(crate) fn sum<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

/// Who answered, as far as the provider says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// The model; empty where the provider does not say.
    pub model: String,
    /// The provider behind a gateway (OpenRouter).
    pub provider: Option<String>,
    /// The state of the provider's machine that a seed goes with (`system_fingerprint`).
    pub fingerprint: Option<String>,
    /// The provider's id of the request, from the headers: known for a fresh reply only.
    pub request_id: Option<String>,
}

/// A parsed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The visible text; empty where there is none, as in a reply of reasoning only.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// The provider's own word for how it ended.
    pub reason: Option<String>,
    /// What the model said in refusing, or the category of a refusal.
    pub refusal: Option<String>,
    /// Whether the model reasoned before it answered.
    pub has_reasoning: bool,
    /// Tokens.
    pub usage: Usage,
    /// Who answered.
    pub served: Served,
}

impl Completion {
    /// Whether there is no visible text.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// A kept reply that is no completion.
#[derive(Debug, thiserror::Error)]
#[error("the stored reply is no completion of its route: {0}")]
pub struct ParseError(String);

/// Reads what came back from a call: a completion, or the failure and the delay the server asks for. A
/// stream is recognised by its content.
///
/// # Errors
/// When the status, an error object or the shape says that this is no completion.
pub fn read(
    route: Route,
    status: u16,
    headers: &HeaderMap,
    bytes: &[u8],
    now: SystemTime,
) -> Result<Completion, (CallFailure, Option<Duration>)> {
    let mut completion = parse(route, status, headers, bytes, Some(now)).settle(status)?;
    let id = REQUEST_ID.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok());
    completion.served.request_id = id.map(str::to_owned);
    Ok(completion)
}

/// Reads a reply that [`read`] found to be a completion and that was kept since.
///
/// # Errors
/// When the bytes are no completion of this route.
pub fn stored(route: Route, bytes: &[u8]) -> Result<Completion, ParseError> {
    let parsed = parse(route, 200, &HeaderMap::new(), bytes, None);
    parsed.settle(200).map_err(|(failure, _)| ParseError(failure.said))
}

/// Reads a reply without deciding what becomes of it.
pub(crate) fn parse(route: Route, status: u16, headers: &HeaderMap, bytes: &[u8], clock: Option<SystemTime>) -> Parsed {
    let reply = ErrorReply { route, status, headers, clock };
    if !(200..300).contains(&status) {
        return match serde_json::from_slice(bytes) {
            Ok(Value::String(text)) => reply.read_text(&text),
            Ok(body) => reply.read_json(&body),
            Err(_) => reply.read_text(&String::from_utf8_lossy(bytes)),
        };
    }
    let reply = ErrorReply { status: 200, ..reply };
    let body = if sse::is_stream(bytes) {
        Stream::read(route, bytes).map(Value::Object).map_err(Problem::protocol)
    } else {
        serde_json::from_slice(bytes).map_err(|error| Problem::protocol(format_args!("it is no JSON: {error}")))
    };
    match body {
        Ok(Value::Object(body)) if !has_error(route, &body) => completion(route, &body),
        Ok(body @ (Value::Object(_) | Value::Array(_))) => reply.read_json(&body),
        Ok(_) => Parsed::failed(Problem::protocol("it is JSON, but no object")),
        Err(problem) => Parsed::failed(problem),
    }
}

/// Whether a 200 carries an error instead of a reply. A response of the Responses route has a member
/// `error` of its own.
fn has_error(route: Route, body: &Object) -> bool {
    match route {
        Route::Responses => {
            !body.contains_key("output") && envelope::in_object(body).is_some_and(|record| !record.is_empty())
        }
        _ => body.said("error").is_some(),
    }
}

fn completion(route: Route, body: &Object) -> Parsed {
    let parsed = match route {
        Route::ChatCompletions => chat::parse(body),
        Route::Responses => responses::parse(body),
        Route::Anthropic => anthropic::parse(body),
        Route::Gemini => gemini::parse(body),
        Route::BedrockConverse => bedrock::parse(body),
    };
    parsed.unwrap_or_else(|shape| Parsed::failed(Problem::protocol(shape)))
}
