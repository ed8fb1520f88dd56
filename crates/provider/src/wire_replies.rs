//! Checking how replies and streams are read against a folder of vectors: `responses_<route>.json` and
//! `streams.json`, each with what a reader has to make of it. Whatever differs is named by vector.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::failure::FailureKind;
use crate::parsed::{Parsed, Problem};
use crate::reply::{self, Finish, Usage};
use crate::route::Route;
use crate::stream::{Stream, StreamError};

/// A vector that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The vector's file and id.
    pub id: String,
    /// What differs; `None` where nothing does.
    pub problem: Option<String>,
}

/// Why a folder of vectors cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no file of vectors.
    #[error("{path}: not a file of vectors: {source}")]
    Vectors {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A vector names a route that there is none of.
    #[error(
        "{path}: `route` is \"{route}\"; the routes are chat_completions, responses, anthropic, gemini, bedrock_converse"
    )]
    Route {
        /// The file.
        path: PathBuf,
        /// What it names.
        route: String,
    },
    /// A header of a vector cannot stand in a reply.
    #[error("{path}: vector {id}: \"{name}\" is no header")]
    Header {
        /// The file.
        path: PathBuf,
        /// The vector.
        id: String,
        /// The header's name.
        name: String,
    },
}

#[derive(Deserialize)]
struct Replies {
    route: String,
    vectors: Vec<ReplyVector>,
}

#[derive(Deserialize)]
struct ReplyVector {
    id: String,
    http_status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Value,
    expected: Map<String, Value>,
}

#[derive(Deserialize)]
struct Streams {
    vectors: Vec<StreamVector>,
}

#[derive(Deserialize)]
struct StreamVector {
    id: String,
    route: String,
    sse: String,
    terminal: bool,
    expected: Map<String, Value>,
}

/// Checks all replies and streams of `folder`. A file that is not there has no vectors.
///
/// # Errors
/// When a file cannot be read or holds something else than vectors.
pub fn check(folder: &Path) -> Result<Vec<Checked>, WireError> {
    let mut checked = check_replies(folder)?;
    checked.extend(check_streams(folder)?);
    Ok(checked)
}

/// Checks the replies of `folder`.
///
/// # Errors
/// When a file cannot be read or holds something else than vectors.
pub fn check_replies(folder: &Path) -> Result<Vec<Checked>, WireError> {
    let mut checked = Vec::new();
    for route in Route::ALL {
        let name = format!("responses_{}.json", route.id().replace('-', "_"));
        let path = folder.join(&name);
        let Some(file) = vectors::<Replies>(&path)? else { continue };
        let route = route_of(&path, &file.route)?;
        for vector in file.vectors {
            let headers = headers(&path, &vector)?;
            // Text stands for a body that is no JSON.
            let bytes = vector.body.as_str().map_or_else(|| vector.body.to_string(), str::to_owned);
            let parsed = reply::parse(route, vector.http_status, &headers, bytes.as_bytes(), None);
            let problem = difference(&vector.expected, &said(&parsed));
            checked.push(Checked { id: format!("{name} {}", vector.id), problem });
        }
    }
    Ok(checked)
}

/// Checks the streams of `folder`.
///
/// # Errors
/// When the file cannot be read or holds something else than vectors.
pub fn check_streams(folder: &Path) -> Result<Vec<Checked>, WireError> {
    let path = folder.join("streams.json");
    let mut checked = Vec::new();
    for vector in vectors::<Streams>(&path)?.map(|file| file.vectors).unwrap_or_default() {
        let route = route_of(&path, &vector.route)?;
        let bytes = vector.sse.as_bytes();
        let parsed = reply::parse(route, 200, &HeaderMap::new(), bytes, None);
        let ended = !matches!(Stream::read(route, bytes), Err(StreamError::Cut));
        let problem = if ended == vector.terminal {
            difference(&vector.expected, &said(&parsed))
        } else {
            Some(format!("terminal: expected {}, found {ended}", vector.terminal))
        };
        checked.push(Checked { id: format!("streams.json {}", vector.id), problem });
    }
    Ok(checked)
}

fn vectors<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, WireError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(WireError::Read { path: path.to_owned(), source }),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|source| WireError::Vectors { path: path.to_owned(), source })
}

fn route_of(path: &Path, name: &str) -> Result<Route, WireError> {
    name.replace('_', "-").parse().map_err(|_| WireError::Route { path: path.to_owned(), route: name.to_owned() })
}

fn headers(path: &Path, vector: &ReplyVector) -> Result<HeaderMap, WireError> {
    let header = |(name, value): (&String, &String)| {
        let fault = || WireError::Header { path: path.to_owned(), id: vector.id.clone(), name: name.clone() };
        let value = HeaderValue::from_str(value).map_err(|_| fault())?;
        Ok((HeaderName::try_from(name.as_str()).map_err(|_| fault())?, value))
    };
    vector.headers.iter().map(header).collect()
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

/// What differs, member by member.
fn difference(expected: &Map<String, Value>, found: &Map<String, Value>) -> Option<String> {
    let expected = &in_words(expected);
    let names = expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
    let differing = names.filter(|name| expected.get(*name) != found.get(*name)).map(|name| {
        let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        format!("{name}: expected {}, found {}", shown(expected.get(name)), shown(found.get(name)))
    });
    let differing: Vec<String> = differing.collect();
    (!differing.is_empty()).then(|| differing.join("; "))
}
