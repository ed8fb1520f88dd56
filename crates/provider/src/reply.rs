//! Reading a chat completions reply: text, finish class, usage. What is not known is said to be
//! unknown, never taken as good.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::{CallFailure, FailureKind, classify, message};
use crate::retry::told;
use crate::route::Route;

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

/// Tokens as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: Option<u64>,
    /// Input tokens served from a cache.
    pub cached: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
}

/// A parsed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The visible text; empty where there is none.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// Tokens.
    pub usage: Usage,
    /// The model that the provider says has answered.
    pub served_model: String,
}

/// A reply that is no chat completion.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or JSON of another shape.
    #[error("the reply is not a chat completion: {0}")]
    Shape(#[from] serde_json::Error),
    /// There is no choice in it.
    #[error("the reply has no choices")]
    NoChoice,
}

#[derive(Deserialize)]
struct WireReply {
    #[serde(default)]
    model: String,
    #[serde(default)]
    choices: Vec<WireChoice>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct WireChoice {
    message: WireMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireMessage {
    /// Text, null, or a list of parts of which the texts count.
    content: Option<Value>,
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<WireDetails>,
}

#[derive(Deserialize)]
struct WireDetails {
    cached_tokens: Option<u64>,
}

/// Reads what came back from a call: a completion, or the failure and the delay the server asks for.
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
    if (200..300).contains(&status) {
        return stored(route, bytes).map_err(|error| (broken(bytes, &error), None));
    }
    let text = String::from_utf8_lossy(bytes);
    let kind = classify(status, &text);
    Err((CallFailure { kind, status: Some(status), said: message(&text), attempts: 0 }, told(headers, now)))
}

/// Reads a reply that [`read`] found to be a completion and that was kept since.
///
/// # Errors
/// When the bytes are no completion of this route.
pub fn stored(_route: Route, bytes: &[u8]) -> Result<Completion, ParseError> {
    chat(bytes)
}

/// A 200 that is no chat completion: an error object in it says more than its shape.
fn broken(reply: &[u8], error: &ParseError) -> CallFailure {
    let text = String::from_utf8_lossy(reply);
    let has_error = serde_json::from_slice::<Value>(reply).is_ok_and(|value| value.get("error").is_some());
    if has_error {
        let kind = match classify(400, &text) {
            FailureKind::Invalid => FailureKind::Server,
            kind => kind,
        };
        return CallFailure { kind, status: Some(200), said: message(&text), attempts: 0 };
    }
    CallFailure { kind: FailureKind::Protocol, status: Some(200), said: error.to_string(), attempts: 0 }
}

/// Parses a chat completions reply.
///
/// # Errors
/// When the bytes are no chat completion.
fn chat(bytes: &[u8]) -> Result<Completion, ParseError> {
    let reply: WireReply = serde_json::from_slice(bytes)?;
    let choice = reply.choices.into_iter().next().ok_or(ParseError::NoChoice)?;
    let calls = choice.message.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
    let refused = choice.message.refusal.is_some_and(|refusal| !refusal.is_empty());
    // Blocked before length before tool call before a normal stop: the worse reading wins.
    let finish = match choice.finish_reason.as_deref() {
        _ if refused => Finish::Blocked,
        Some("content_filter" | "sensitive" | "refusal") => Finish::Blocked,
        Some("length" | "max_tokens" | "model_length" | "model_context_window_exceeded") => Finish::Truncated,
        Some("tool_calls" | "function_call") => Finish::ToolCall,
        _ if calls => Finish::ToolCall,
        Some("stop" | "eos" | "end_turn" | "stop_sequence") => Finish::Complete,
        _ => Finish::Unknown,
    };
    let usage = reply.usage.map(|usage| Usage {
        input: usage.prompt_tokens,
        cached: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
        output: usage.completion_tokens,
    });
    Ok(Completion {
        text: choice.message.content.map(visible).unwrap_or_default(),
        finish,
        usage: usage.unwrap_or_default(),
        served_model: reply.model,
    })
}

/// The visible text of a message: its text, or the text parts of a list.
fn visible(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Finish, chat};

    fn finish(message: &Value, reason: &Value) -> Finish {
        let reply = json!({"model": "m", "choices": [{"message": message, "finish_reason": reason}]}).to_string();
        chat(reply.as_bytes()).expect("a reply").finish
    }

    #[test]
    fn finish_classes_follow_their_order() {
        let text = json!({"content": "x"});
        assert_eq!(finish(&text, &json!("stop")), Finish::Complete);
        assert_eq!(finish(&text, &json!("length")), Finish::Truncated);
        assert_eq!(finish(&text, &json!("content_filter")), Finish::Blocked);
        assert_eq!(finish(&text, &json!("something new")), Finish::Unknown);
        assert_eq!(finish(&text, &Value::Null), Finish::Unknown);
        assert_eq!(finish(&json!({"content": null, "tool_calls": [{}]}), &json!("stop")), Finish::ToolCall);
        assert_eq!(finish(&json!({"content": "", "refusal": "no"}), &json!("length")), Finish::Blocked);
    }

    #[test]
    fn what_is_no_completion_is_an_error() {
        for bytes in ["", "{}", "[]", "{\"choices\": []}", "<html>"] {
            assert!(chat(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }
}
