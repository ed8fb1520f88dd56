//! What a fault does in place of an answer: the statuses, headers and envelopes in which each provider says that a
//! call did not go through.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::envelope::Trouble;
use crate::fault::{Fault, FaultKind, Retry};
use crate::plan::{Act, Reply};
use crate::profile::{Dialect, Profile};
use crate::route::Route;
use crate::violation::Violation;

/// What `fault` does to a request of `tokens`; nothing where it only spoils the answer. `limit` is the longest
/// request, where the script has one.
pub(crate) fn of(fault: &Fault, dialect: Dialect, tokens: usize, limit: Option<usize>) -> Option<Act> {
    let reply = match fault.kind {
        FaultKind::RateLimit => rate_limit(fault.retry, dialect),
        FaultKind::Quota => quota(fault.retry, dialect),
        FaultKind::ServerError => {
            plain(dialect, 500, "server_error", "The server had an error while processing your request.", None)
        }
        FaultKind::Overloaded => overloaded(fault.retry, dialect),
        FaultKind::Timeout => {
            let status = if dialect.route == Route::Converse { 408 } else { 504 };
            plain(dialect, status, "server_error", "Deadline expired before the request could be answered.", None)
        }
        FaultKind::TooLarge => too_large(dialect),
        FaultKind::ContextOverflow => {
            let limit = limit.unwrap_or(tokens.saturating_sub(1));
            let overflow = Violation::overflow(dialect, limit, tokens.max(limit + 1));
            Reply::error(dialect, overflow.status, &overflow.body(dialect))
        }
        FaultKind::ContentFilter if dialect.route == Route::Azure => azure_filter(),
        FaultKind::Drop => return Some(Act::Drop),
        FaultKind::Hang => return Some(Act::Hang(Duration::from_millis(fault.hang_ms))),
        _ => return None,
    };
    Some(Act::Reply(reply))
}

fn plain(dialect: Dialect, status: u16, kind: &str, message: &str, code: Option<&str>) -> Reply {
    say(dialect, &Trouble { status, kind, message, code, ..Trouble::default() })
}

fn say(dialect: Dialect, trouble: &Trouble<'_>) -> Reply {
    // The Codex backend words its refusals in its own way, and its failures as OpenAI does.
    let body = match dialect.route {
        Route::Codex => trouble.body(Dialect::new(Route::Responses, Profile::OpenAi)),
        _ => trouble.body(dialect),
    };
    Reply::error(dialect, trouble.status, &body)
}

fn rate_limit(retry: Retry, dialect: Dialect) -> Reply {
    let said = match dialect.route {
        Route::Gemini => "Resource has been exhausted (e.g. check quota).",
        Route::Converse => "Too many requests, please wait before trying again.",
        _ => "Rate limit reached for requests.",
    };
    let details = (dialect.route == Route::Gemini)
        .then(|| google_details("GenerateContentPaidTierInputTokensPerModelPerMinute", retry));
    let message = worded(said, retry);
    let kind = if dialect.profile == Profile::Groq { "tokens" } else { "requests" };
    let code = Some("rate_limit_exceeded");
    let reply = say(dialect, &Trouble { status: 429, kind, message: &message, param: None, code, details });
    delayed(hinted(reply, dialect, "true"), retry, dialect.route)
}

/// A limit that no waiting of seconds lifts.
fn quota(retry: Retry, dialect: Dialect) -> Reply {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    match dialect.route {
        Route::Codex => {
            let seconds = match retry {
                Retry::Seconds(s) | Retry::Date(s) => s,
                Retry::Unsaid | Retry::Millis(_) | Retry::Text(_) => 5400,
            };
            Reply::json(
                429,
                &json!({"error": {
                    "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
                    "resets_in_seconds": seconds,
                }}),
            )
        }
        Route::Anthropic => {
            let message = "This request would exceed your organization's monthly spend limit.";
            let details = Some(json!({"error_code": "enforced_spend_limit_reached"}));
            let reply = say(dialect, &Trouble { status: 429, message, details, ..Trouble::default() });
            hinted(reply, dialect, "false")
        }
        Route::Gemini => {
            let details = Some(google_details("GenerateRequestsPerDayPerProjectPerModel-FreeTier", retry));
            say(dialect, &Trouble { status: 429, message, details, ..Trouble::default() })
        }
        Route::Converse => {
            let body = json!({"message": "Your request exceeds the service quota for your account."});
            Reply::json(400, &body).header("x-amzn-errortype", "ServiceQuotaExceededException")
        }
        Route::Chat | Route::Azure | Route::Responses => {
            let reply = plain(dialect, 429, "insufficient_quota", message, Some("insufficient_quota"));
            hinted(reply, dialect, "false")
        }
    }
}

fn overloaded(retry: Retry, dialect: Dialect) -> Reply {
    let (status, said) = match dialect.route {
        Route::Anthropic => (529, "Overloaded"),
        Route::Gemini => (503, "The model is overloaded. Please try again later."),
        _ => (503, "The engine is currently overloaded."),
    };
    let details = (dialect.route == Route::Gemini && stated(retry).is_some()).then(|| json!([retry_info(retry)]));
    let message = worded(said, retry);
    let trouble = Trouble { status, kind: "server_error", message: &message, details, ..Trouble::default() };
    delayed(hinted(say(dialect, &trouble), dialect, "true"), retry, dialect.route)
}

/// A request that never fits, however long one waits; Groq has a code for it that speaks of rates.
fn too_large(dialect: Dialect) -> Reply {
    match (dialect.route, dialect.profile) {
        (Route::Gemini, _) => plain(dialect, 400, "", "Request payload size exceeds the limit: 20971520 bytes.", None),
        (_, Profile::Groq) => {
            let message = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 36294, please \
                           reduce your message size and try again.";
            plain(dialect, 413, "tokens", message, Some("rate_limit_exceeded"))
        }
        _ => plain(dialect, 413, "invalid_request_error", "Request exceeds the maximum size", None),
    }
}

/// Azure looks at the prompt first, and refuses it with an error.
fn azure_filter() -> Reply {
    let result = json!({"jailbreak": {"filtered": true, "detected": true}});
    Reply::json(
        400,
        &json!({"error": {
            "message": "The response was filtered due to the prompt triggering the content management policy.",
            "type": null, "param": "prompt", "code": "content_filter", "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": result},
        }}),
    )
}

/// The delay in milliseconds, where one is stated.
fn stated(retry: Retry) -> Option<u64> {
    match retry {
        Retry::Unsaid => None,
        Retry::Seconds(s) | Retry::Date(s) => Some(s.saturating_mul(1000)),
        Retry::Millis(ms) | Retry::Text(ms) => Some(ms),
    }
}

/// The message, with the delay in it where the script wants that.
fn worded(message: &str, retry: Retry) -> String {
    match retry {
        Retry::Text(ms) if ms < 1000 => format!("{message} Please try again in {ms}ms."),
        Retry::Text(ms) => format!("{message} Please try again in {}.{:03}s.", ms / 1000, ms % 1000),
        _ => message.to_owned(),
    }
}

/// Google says in the body which quota it is and how long to wait.
fn google_details(quota: &str, retry: Retry) -> Value {
    let failure = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]});
    match retry {
        Retry::Seconds(_) | Retry::Millis(_) => json!([failure, retry_info(retry)]),
        Retry::Unsaid | Retry::Date(_) | Retry::Text(_) => json!([failure]),
    }
}

fn retry_info(retry: Retry) -> Value {
    let ms = stated(retry).unwrap_or_default();
    let delay = format!("{}.{:03}s", ms / 1000, ms % 1000);
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
}

/// The header that tells a client of OpenAI's or Anthropic's whether to try again.
fn hinted(reply: Reply, dialect: Dialect, hint: &str) -> Reply {
    match dialect.route {
        Route::Anthropic => reply.header("x-should-retry", hint),
        _ => reply,
    }
}

/// The headers that say when to try again. Google has its own place for that.
fn delayed(reply: Reply, retry: Retry, route: Route) -> Reply {
    match retry {
        Retry::Unsaid | Retry::Text(_) => reply,
        Retry::Seconds(_) | Retry::Millis(_) if route == Route::Gemini => reply,
        Retry::Seconds(s) => reply.header("retry-after", s.to_string()),
        Retry::Millis(ms) => reply.header("retry-after-ms", ms.to_string()),
        Retry::Date(s) => {
            let at = SystemTime::now() + Duration::from_secs(s);
            reply.header("retry-after", httpdate::fmt_http_date(at))
        }
    }
}
