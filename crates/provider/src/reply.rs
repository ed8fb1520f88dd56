//! What comes back from a call: a completion, or the failure that a status, an error object or a shape
//! says it is. What is not known is said to be unknown, never taken as good.
//!
//! A reply is read from its bytes alone, streamed or not, so that one which was kept reads the same years
//! later. `replies` reads each route, `classify` the errors of all.

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
        Stream::read(route, bytes).map(Value::Object).map_err(|error| Problem::protocol(&error))
    } else {
        serde_json::from_slice(bytes).map_err(|error| Problem::protocol(&format_args!("it is no JSON: {error}")))
    };
    match body {
        Ok(Value::Object(body)) if !has_error(route, &body) => completion(route, &body),
        Ok(body @ (Value::Object(_) | Value::Array(_))) => reply.read_json(&body),
        Ok(_) => Parsed::failed(Problem::protocol(&"it is JSON, but no object")),
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
    parsed.unwrap_or_else(|shape| Parsed::failed(Problem::protocol(&shape)))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use reqwest::header::{HeaderMap, HeaderValue};
    use serde_json::{Value, json};

    use super::{Completion, Finish, Served, Usage, read, stored};
    use crate::failure::FailureKind;
    use crate::route::Route;

    fn completion(route: Route, body: &Value) -> Completion {
        stored(route, body.to_string().as_bytes()).expect("a completion")
    }

    fn chat(message: &Value, reason: &Value) -> Completion {
        completion(Route::ChatCompletions, &json!({"choices": [{"message": message, "finish_reason": reason}]}))
    }

    #[test]
    fn the_worse_reading_wins() {
        let text = json!({"content": "x"});
        assert_eq!(chat(&text, &json!("stop")).finish, Finish::Complete);
        assert_eq!(chat(&text, &json!("something new")).finish, Finish::Unknown);
        assert_eq!(chat(&text, &Value::Null).finish, Finish::Unknown);
        let calling = json!({"content": "x", "tool_calls": [{}]});
        assert_eq!(chat(&calling, &json!("stop")).finish, Finish::ToolCall);
        assert_eq!(chat(&calling, &json!("length")).finish, Finish::Truncated);
        let refusing = json!({"content": "x", "refusal": "no", "tool_calls": [{}]});
        assert_eq!(chat(&refusing, &json!("length")).finish, Finish::Blocked);
        assert_eq!(chat(&refusing, &json!("length")).refusal.as_deref(), Some("no"));
    }

    #[test]
    fn reasoning_is_seen_and_is_no_text() {
        let replies = [
            (Route::ChatCompletions, json!({"choices": [{"message": {"reasoning": "hm"}, "finish_reason": "stop"}]})),
            (
                Route::ChatCompletions,
                json!({"choices": [{"message": {"content": [{"type": "thinking", "thinking": []}]}, "finish_reason": "stop"}]}),
            ),
            (Route::Responses, json!({"status": "completed", "output": [{"type": "reasoning"}]})),
            (Route::Anthropic, json!({"stop_reason": "end_turn", "content": [{"type": "redacted_thinking"}]})),
            (
                Route::Gemini,
                json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "hm", "thought": true}]}}]}),
            ),
            (
                Route::BedrockConverse,
                json!({"stopReason": "end_turn", "output": {"message": {"content": [{"reasoningContent": {}}]}}}),
            ),
        ];
        for (route, body) in replies {
            let completion = completion(route, &body);
            assert!(completion.has_reasoning && completion.is_empty(), "{route} {body}");
            assert_eq!(completion.finish, Finish::Complete, "{route} {body}");
        }
        assert!(!chat(&json!({"content": "x"}), &json!("stop")).has_reasoning);
    }

    #[test]
    fn who_answered_is_told() {
        let body = json!({
            "model": "m-2026", "provider": "P", "system_fingerprint": "fp", "choices": [{"message": {}}],
        });
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", HeaderValue::from_static("req-1"));
        let fresh = read(Route::ChatCompletions, 200, &headers, body.to_string().as_bytes(), SystemTime::UNIX_EPOCH);
        let served = Served {
            model: "m-2026".to_owned(),
            provider: Some("P".to_owned()),
            fingerprint: Some("fp".to_owned()),
            request_id: Some("req-1".to_owned()),
        };
        assert_eq!(fresh.expect("a completion").served, served);
        assert_eq!(completion(Route::Gemini, &json!({"modelVersion": "g", "candidates": [{}]})).served.model, "g");
    }

    #[test]
    fn what_is_not_counted_is_not_zero() {
        assert_eq!(chat(&json!({}), &json!("stop")).usage, Usage::default());
        let counted = json!({"choices": [{}], "usage": {"prompt_tokens": "12", "completion_tokens": null}});
        let usage = completion(Route::ChatCompletions, &counted).usage;
        assert_eq!((usage.input, usage.output, usage.total()), (Some(12), None, Some(12)));
        let cached =
            json!({"usage": {"input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 4}});
        let usage = completion(Route::Anthropic, &cached).usage;
        assert_eq!((usage.input, usage.cached, usage.cache_write), (Some(7), Some(2), Some(4)));
    }

    #[test]
    fn what_ended_with_an_error_is_a_failure_that_keeps_its_tokens() {
        let body = json!({
            "candidates": [{"finishReason": "OTHER", "content": {"parts": [{"text": "part"}]}}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1},
        });
        let bytes = body.to_string();
        let failed = read(Route::Gemini, 200, &HeaderMap::new(), bytes.as_bytes(), SystemTime::UNIX_EPOCH);
        let (failure, _) = failed.expect_err("no completion");
        assert_eq!((failure.kind, failure.retryable), (FailureKind::Server, false));
        assert_eq!(failure.usage.as_ref().map(|usage| (usage.input, usage.output)), Some((Some(9), Some(1))));
        assert!(failure.to_string().contains("the reply ended with \"OTHER\""), "{failure}");
        let error = stored(Route::Gemini, bytes.as_bytes()).expect_err("no completion");
        assert!(error.to_string().contains("OTHER"), "{error}");
    }

    #[test]
    fn what_is_no_completion_of_its_route_is_an_error() {
        for route in Route::ALL {
            for bytes in ["", "[]", "5", "\"text\"", "<html>", "data: {}\n\n", "{\"error\": {\"code\": 400}}"] {
                assert!(stored(*route, bytes.as_bytes()).is_err(), "{route} {bytes}");
            }
        }
        assert!(stored(Route::ChatCompletions, b"{\"choices\": []}").is_err());
    }
}
