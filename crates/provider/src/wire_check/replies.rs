//! How replies and streams are read, against the vectors of `responses_<route>.json` and `streams.json`.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::difference;
use crate::failure::FailureKind;
use crate::parsed::{Parsed, Problem};
use crate::reply::{self, Finish, Usage};
use crate::route::Route;
use crate::stream::{Stream, StreamError};

#[derive(Deserialize)]
struct ReplyVector {
    http_status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Value,
    expected: Map<String, Value>,
}

#[derive(Deserialize)]
struct StreamVector {
    sse: String,
    terminal: bool,
    expected: Map<String, Value>,
}

/// Checks a vector of a reply.
pub(super) fn response(route: Route, vector: &Value) -> Result<(), String> {
    let vector: ReplyVector = opened(vector)?;
    let headers = headers(&vector.headers)?;
    // Text stands for a body that is no JSON.
    let bytes = vector.body.as_str().map_or_else(|| vector.body.to_string(), str::to_owned);
    let parsed = reply::parse(route, vector.http_status, &headers, bytes.as_bytes(), None);
    compare(&vector.expected, &parsed)
}

/// Checks a vector of a stream.
pub(super) fn stream(route: Route, vector: &Value) -> Result<(), String> {
    let vector: StreamVector = opened(vector)?;
    let bytes = vector.sse.as_bytes();
    let ended = !matches!(Stream::read(route, bytes), Err(StreamError::Cut));
    if ended != vector.terminal {
        return Err(format!("terminal is {ended}, {} is expected", vector.terminal));
    }
    compare(&vector.expected, &reply::parse(route, 200, &HeaderMap::new(), bytes, None))
}

fn opened<T: DeserializeOwned>(vector: &Value) -> Result<T, String> {
    T::deserialize(vector).map_err(|error| error.to_string())
}

fn headers(headers: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let header = |(name, value): (&String, &String)| {
        let fault = || format!("\"{}\" is no header", name.escape_debug());
        let value = HeaderValue::from_str(value).map_err(|_| fault())?;
        Ok((HeaderName::try_from(name.as_str()).map_err(|_| fault())?, value))
    };
    headers.iter().map(header).collect()
}

fn compare(expected: &Map<String, Value>, parsed: &Parsed) -> Result<(), String> {
    match difference(&Value::Object(in_words(expected)), &Value::Object(said(parsed))) {
        Some(what) => Err(what),
        None => Ok(()),
    }
}

/// A parsed reply in the words of the vectors.
fn said(parsed: &Parsed) -> Map<String, Value> {
    let empty = parsed.text.trim().is_empty();
    let complete = matches!(parsed.ending, Ok(Finish::Complete));
    let mut said = Map::new();
    let mut say = |name: &str, value: Value| said.insert(name.to_owned(), value);
    say("class", json!(class(&parsed.ending)));
    say("reason_raw", json!(parsed.reason));
    say("text", json!(parsed.text));
    say("empty", json!(empty));
    say("refusal", json!(parsed.refusal));
    say("accept_summary", json!(complete && !empty));
    say("usage", parsed.usage.as_ref().map_or(Value::Null, usage));
    if let Err(problem) = &parsed.ending {
        say("error", error(problem));
    }
    said
}

fn class(ending: &Result<Finish, Problem>) -> &'static str {
    match ending {
        Ok(Finish::Complete) => "Complete",
        Ok(Finish::Truncated) => "Truncated",
        Ok(Finish::Blocked) | Err(Problem { kind: FailureKind::Blocked, .. }) => "Blocked",
        Ok(Finish::ToolCall) => "ToolCall",
        Ok(Finish::Unknown) => "Unknown",
        Err(_) => "Error",
    }
}

fn usage(usage: &Usage) -> Value {
    let count = |count: Option<u64>| count.unwrap_or(0);
    json!({
        "input": count(usage.input),
        "cached_input": count(usage.cached),
        "cache_write_input": count(usage.cache_write),
        "output": count(usage.output),
        "reasoning": count(usage.reasoning),
        "total": count(usage.total()),
    })
}

fn error(problem: &Problem) -> Value {
    let kind = match problem.kind {
        FailureKind::Auth => "auth",
        FailureKind::Permission => "permission",
        FailureKind::Billing => "billing",
        FailureKind::NotFound => "not_found",
        FailureKind::Misdirected | FailureKind::Invalid => "bad_request",
        FailureKind::Quota => "quota_exhausted",
        FailureKind::ContextOverflow => "context_overflow",
        FailureKind::TooLarge => "payload_too_large",
        FailureKind::Blocked => "policy_block",
        FailureKind::RateLimit => "rate_limit",
        FailureKind::Overloaded => "overloaded",
        FailureKind::Server => "server",
        FailureKind::Timeout => "timeout",
        FailureKind::Conflict => "conflict",
        FailureKind::Connection => "connection",
        FailureKind::Protocol => "protocol",
    };
    let delay = problem.delay.as_ref().map(Duration::as_millis).and_then(|millis| u64::try_from(millis).ok());
    json!({"kind": kind, "retryable": problem.retryable, "retry_after_ms": delay})
}

/// What is expected, with a reason that is no string as the text that it is read as.
fn in_words(expected: &Map<String, Value>) -> Map<String, Value> {
    let word = |(name, value): (&String, &Value)| match value {
        Value::Bool(_) | Value::Number(_) if name == "reason_raw" => (name.clone(), json!(value.to_string())),
        value => (name.clone(), value.clone()),
    };
    expected.iter().map(word).collect()
}
