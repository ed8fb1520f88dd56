//! The class of an error reply. What the body says beats what the status says: a quota and a rate limit
//! share 429, a context overflow and a typing error share 400.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::SystemTime;

use regex::Regex;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::delay;
use crate::envelope::{self, quote};
use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape, object, plain};
use crate::parsed::{Parsed, Problem};
use crate::route::Route;

/// How servers say that a request is larger than the context.
static OVERFLOW: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"prompt is too long",
        r"input is too long",
        r"context[ _]length[ _]exceeded",
        r"exceed_context_size",
        r"exceeds? the (?:available )?context (?:window|size|limit)",
        r"exceeds? context (?:window|limit)",
        r"input token count.{0,40}exceeds the maximum",
        r"maximum prompt length is",
        r"reduce the length of the messages",
        r"maximum context length",
        r"greater than the context length",
        r"context window exceeds limit",
        r"exceeded model token limit",
        r"keep the first \d+ tokens when context",
        r"max_tokens. exceed context limit",
        r"too many tokens in (?:the )?(?:prompt|input)",
        r"token count of \d+ exceeds the limit of \d+",
    ])
});

/// How Gemini, which has no 413 for it, says that a request is larger than it takes.
static TOO_LARGE: LazyLock<Regex> = LazyLock::new(|| any_of(&["request payload size exceeds the limit"]));

/// How llama.cpp, vLLM and LM Studio say that a chat template, not the machine, refuses.
static TEMPLATE: LazyLock<Regex> =
    LazyLock::new(|| any_of(&["jinja", "raise_exception", "roles must alternate", "chat template"]));

/// How servers say that a quota, not a rate, is used up.
static QUOTA: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&["exceeded your current quota, please check your plan", "api usage limits", "usage limit has been reached"])
});

/// Codes and types that mean a used-up quota.
const QUOTA_CODES: [&str; 8] = [
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "usage_limit_reached",
    "enforced_spend_limit_reached",
    "billing_hard_limit_reached",
];

/// Codes by which a policy refuses the request.
const POLICY_CODES: [&str; 5] = [
    "invalid_prompt",
    "bio_policy",
    "misalignment_policy_violation",
    "content_filter",
    "image_content_policy_violation",
];

fn any_of(patterns: &[&str]) -> Regex {
    Regex::new(&format!("(?i){}", patterns.join("|"))).expect("constant patterns")
}

/// Whether a code means that a policy refused.
pub(crate) fn is_policy(code: &str) -> bool {
    POLICY_CODES.contains(&code)
}

/// An error reply as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorReply<'a> {
    /// The route it came on.
    pub(crate) route: Route,
    /// HTTP status.
    pub(crate) status: u16,
    /// HTTP headers.
    pub(crate) headers: &'a HeaderMap,
    /// Our time, for servers that name a date and not their own.
    pub(crate) clock: Option<SystemTime>,
}

impl ErrorReply<'_> {
    /// Reads a body that is JSON. A record whose members have unexpected types says nothing, and the
    /// status alone decides; in a 200 there is no status to go by.
    pub(crate) fn read_json(self, body: &Value) -> Parsed {
        let record = envelope::record(body);
        let message = record.as_ref().and_then(|record| envelope::message(record)).unwrap_or_default();
        let said = if message.is_empty() && !body.is_object() { body.to_string() } else { message.clone() };
        match self.classify(&record.unwrap_or(Cow::Owned(Object::new())), &message, &said) {
            Ok(parsed) => parsed,
            Err(shape) if self.status == 200 => Parsed::failed(Problem::protocol(&shape)),
            Err(_) => self.read_text(""),
        }
    }

    /// Reads a body that is no JSON: HTML of a proxy, a sentence, nothing.
    pub(crate) fn read_text(self, body: &str) -> Parsed {
        // An empty record has no member of a wrong type.
        self.classify(&Object::new(), body, body).unwrap_or_else(|shape| Parsed::failed(Problem::protocol(&shape)))
    }

    fn classify(self, record: &Object, message: &str, said: &str) -> Result<Parsed, Shape> {
        let facts = Facts::of(record)?;
        let status = facts.status(self.status);
        let delay = delay::told(self.headers, record, message, self.clock)?;
        let problem = |kind: FailureKind| Problem::new(kind, self.said(said));
        if facts.code == "content_filter" || facts.inner_code == "ResponsibleAIPolicyViolation" {
            return Ok(Parsed::blocked("content_filter", problem(FailureKind::Blocked)));
        }
        if is_policy(&facts.code) {
            return Ok(Parsed::blocked(&facts.code, problem(FailureKind::Blocked)));
        }
        if status == 403 && facts.is_moderation {
            return Ok(Parsed::blocked("moderation", problem(FailureKind::Blocked)));
        }
        // Bedrock words it as any other bad request, and names it in a header alone.
        let is_service_quota = self.amazon_type().starts_with("ServiceQuotaExceeded");
        let by_words = facts.kind_by_words(self.route, status, message)?;
        let kind = match by_words.or(is_service_quota.then_some(FailureKind::Quota)) {
            Some(kind) => kind,
            None => {
                let kind = if status == 200 { FailureKind::Server } else { by_status(status) };
                let mut problem = problem(kind);
                problem.delay = delay;
                if let Some(server) = self.should_retry() {
                    problem.retryable = server;
                }
                return Ok(Parsed::failed(problem));
            }
        };
        let mut problem = problem(kind);
        // A used-up quota may say when it is filled again.
        if kind == FailureKind::Quota && facts.is_used_up(self.route, message)? {
            problem.delay = delay;
        }
        Ok(Parsed::failed(problem))
    }

    /// The server's own word, which overrides the table of statuses.
    fn should_retry(self) -> Option<bool> {
        match self.headers.get("x-should-retry")?.as_bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// What to quote: the message, else what kind of error Bedrock names in a header.
    fn said(self, text: &str) -> String {
        quote(if text.is_empty() { self.amazon_type() } else { text })
    }

    /// What kind of error Bedrock names in a header.
    fn amazon_type(&self) -> &str {
        self.headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// What an error record says beside its message. Details are looked at in order and only as far as needed:
/// a strange one behind the telling one harms nothing.
struct Facts<'a> {
    code: String,
    kind: String,
    inner_code: &'a str,
    is_moderation: bool,
    details: &'a [Value],
}

impl<'a> Facts<'a> {
    fn of(record: &'a Object) -> Result<Self, Shape> {
        let word = |name: &str| record.said(name).map(plain);
        // Anthropic puts the finer code into an object of details.
        let details = record.get("details");
        let finer = details.and_then(Value::as_object).and_then(|details| details.said("error_code"));
        let metadata = record.get("metadata").and_then(Value::as_object);
        Ok(Self {
            code: finer.map(plain).or_else(|| word("code")).unwrap_or_default(),
            kind: word("type").or_else(|| word("status")).unwrap_or_default(),
            inner_code: record.object("innererror")?.and_then(|inner| inner.label("code")).unwrap_or_default(),
            is_moderation: metadata.is_some_and(|m| m.contains_key("reasons") || m.contains_key("flagged_input")),
            details: details.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
        })
    }

    /// The status to go by: inside a 200, the one that the record names or that its type stands for.
    fn status(&self, status: u16) -> u16 {
        if status != 200 {
            return status;
        }
        let code = Some(&self.code).filter(|code| !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()));
        match code {
            Some(code) => code.parse().unwrap_or(u16::MAX),
            None => status_of(&self.kind).or_else(|| status_of(&self.code)).unwrap_or(status),
        }
    }

    /// The kind where the record itself tells it.
    fn kind_by_words(&self, route: Route, status: u16, message: &str) -> Result<Option<FailureKind>, Shape> {
        let is_overflow = self.code == "context_length_exceeded"
            || self.kind == "exceed_context_size_error"
            || (status != 429 && OVERFLOW.is_match(message));
        Ok(if is_overflow {
            Some(FailureKind::ContextOverflow)
        } else if status == 413 || (status == 400 && TOO_LARGE.is_match(message)) {
            Some(FailureKind::TooLarge)
        } else if self.is_used_up(route, message)? || self.has_detail(is_daily)? {
            Some(FailureKind::Quota)
        } else if self.has_detail(|detail| Ok(detail.label("reason") == Some("API_KEY_INVALID")))? {
            Some(FailureKind::Auth)
        } else {
            (matches!(status, 400 | 500) && TEMPLATE.is_match(message)).then_some(FailureKind::Invalid)
        })
    }

    /// Whether a code or a sentence says that a quota is used up. Gemini words every rate limit so; with
    /// a delay beside it, it is a rate limit.
    fn is_used_up(&self, route: Route, message: &str) -> Result<bool, Shape> {
        let named = [&self.code, &self.kind].iter().any(|word| QUOTA_CODES.contains(&word.as_str()));
        if !named && !QUOTA.is_match(message) {
            return Ok(false);
        }
        let is_retry = |detail: &Object| Ok(detail.label("@type").is_some_and(|name| name.contains("RetryInfo")));
        Ok(route != Route::Gemini || !self.has_detail(is_retry)?)
    }

    fn has_detail(&self, is_it: impl Fn(&Object) -> Result<bool, Shape>) -> Result<bool, Shape> {
        for detail in self.details {
            if is_it(object("details", detail)?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a detail of Google's is about a quota that is filled again tomorrow.
fn is_daily(detail: &Object) -> Result<bool, Shape> {
    let is_per_day = |violation: &&Object| violation.get("quotaId").is_some_and(|id| plain(id).contains("PerDay"));
    Ok(detail.objects("violations")?.iter().any(is_per_day))
}

/// The status that a type of error stands for, where the error comes without one.
fn status_of(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

fn by_status(status: u16) -> FailureKind {
    match status {
        300..=399 | 405 => FailureKind::Misdirected,
        401 => FailureKind::Auth,
        402 => FailureKind::Billing,
        403 => FailureKind::Permission,
        404 => FailureKind::NotFound,
        408 | 504 | 524 => FailureKind::Timeout,
        409 => FailureKind::Conflict,
        429 => FailureKind::RateLimit,
        498 | 503 | 529 => FailureKind::Overloaded,
        424 | 425 | 500.. => FailureKind::Server,
        _ => FailureKind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::{Value, json};

    use super::ErrorReply;
    use crate::failure::FailureKind;
    use crate::parsed::{Parsed, Problem};
    use crate::route::Route;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn reply(route: Route, status: u16, headers: &HeaderMap) -> ErrorReply<'_> {
        ErrorReply { route, status, headers, clock: None }
    }

    fn problem(parsed: Parsed) -> Problem {
        parsed.ending.expect_err("an error reply")
    }

    fn kind(status: u16, body: &Value) -> FailureKind {
        problem(reply(Route::ChatCompletions, status, &HeaderMap::new()).read_json(body)).kind
    }

    #[test]
    fn a_status_alone_has_its_class() {
        let cases = [
            (302, FailureKind::Misdirected),
            (400, FailureKind::Invalid),
            (401, FailureKind::Auth),
            (402, FailureKind::Billing),
            (403, FailureKind::Permission),
            (404, FailureKind::NotFound),
            (405, FailureKind::Misdirected),
            (408, FailureKind::Timeout),
            (409, FailureKind::Conflict),
            (413, FailureKind::TooLarge),
            (418, FailureKind::Invalid),
            (422, FailureKind::Invalid),
            (424, FailureKind::Server),
            (429, FailureKind::RateLimit),
            (498, FailureKind::Overloaded),
            (500, FailureKind::Server),
            (501, FailureKind::Server),
            (502, FailureKind::Server),
            (503, FailureKind::Overloaded),
            (504, FailureKind::Timeout),
            (524, FailureKind::Timeout),
            (529, FailureKind::Overloaded),
        ];
        for (status, kind) in cases {
            let found = problem(reply(Route::Anthropic, status, &HeaderMap::new()).read_text("<html>"));
            assert_eq!((found.kind, found.retryable), (kind, kind.is_transport()), "{status}");
        }
    }

    #[test]
    fn bodies_beat_statuses() {
        let cases = [
            (429, json!({"error": {"code": "insufficient_quota"}}), FailureKind::Quota),
            (429, json!({"error": {"message": "Rate limit reached"}}), FailureKind::RateLimit),
            (429, json!({"error": {"message": "maximum context length"}}), FailureKind::RateLimit),
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 8"}}),
                FailureKind::ContextOverflow,
            ),
            (
                500,
                json!({"error": "Trying to keep the first 9 tokens when context overflows"}),
                FailureKind::ContextOverflow,
            ),
            (400, json!({"detail": "API usage limits"}), FailureKind::Quota),
            (400, json!({"error": {"code": "content_filter"}}), FailureKind::Blocked),
            (403, json!({"error": {"metadata": {"reasons": ["x"]}}}), FailureKind::Blocked),
            (403, json!({"error": {"message": "no"}}), FailureKind::Permission),
            (500, json!({"error": {"message": "Jinja Exception: roles must alternate"}}), FailureKind::Invalid),
            (400, json!({"error": {"message": "Unrecognized request argument"}}), FailureKind::Invalid),
            (200, json!({"error": {"code": 429}}), FailureKind::RateLimit),
            (200, json!({"error": {"code": "503"}}), FailureKind::Overloaded),
            (200, json!({"error": {"type": "overloaded_error"}}), FailureKind::Overloaded),
            (200, json!({"error": {"code": "new"}}), FailureKind::Server),
            (503, json!({"error": {"innererror": "text"}}), FailureKind::Overloaded),
            (200, json!({"error": {"innererror": "text"}}), FailureKind::Protocol),
        ];
        for (status, body, expected) in cases {
            assert_eq!(kind(status, &body), expected, "{status} {body}");
        }
    }

    #[test]
    fn gemini_words_its_rate_limits_as_quotas() {
        let words = "You exceeded your current quota, please check your plan and billing details.";
        let refills = json!({"error": {"message": words, "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s"},
        ]}});
        let none = HeaderMap::new();
        let limited = problem(reply(Route::Gemini, 429, &none).read_json(&refills));
        assert_eq!((limited.kind, limited.delay.map(|delay| delay.as_secs())), (FailureKind::RateLimit, Some(20)));
        assert_eq!(problem(reply(Route::ChatCompletions, 429, &none).read_json(&refills)).kind, FailureKind::Quota);
        let daily = json!({"error": {"details": [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]}});
        let used_up = problem(reply(Route::Gemini, 429, &headers(&[("retry-after", "9")])).read_json(&daily));
        assert_eq!((used_up.kind, used_up.delay), (FailureKind::Quota, None));
    }

    #[test]
    fn the_server_has_the_last_word_on_trying_again() {
        let (yes, no) = (headers(&[("x-should-retry", "true")]), headers(&[("x-should-retry", "false")]));
        let limit = problem(reply(Route::Responses, 429, &no).read_text(""));
        assert_eq!((limit.kind, limit.retryable), (FailureKind::RateLimit, false));
        assert!(problem(reply(Route::Responses, 400, &yes).read_text("")).retryable);
        // What the body says is not a matter of trying again.
        let overflow = json!({"error": {"code": "context_length_exceeded"}});
        assert!(!problem(reply(Route::Responses, 400, &yes).read_json(&overflow)).retryable);
    }

    #[test]
    fn something_is_always_quoted() {
        let throttled = headers(&[("x-amzn-errortype", "ThrottlingException")]);
        assert_eq!(problem(reply(Route::BedrockConverse, 429, &throttled).read_text("")).said, "ThrottlingException");
        assert_eq!(problem(reply(Route::Gemini, 500, &HeaderMap::new()).read_text("<b>\n no</b>")).said, "<b> no</b>");
    }
}
