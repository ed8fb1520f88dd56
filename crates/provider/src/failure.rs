//! Why a call has no reply. Transport failures may be tried again, final ones never are: retrying
//! them would select outcomes. Classes after the wire reference, section 8.

use std::fmt;

use serde_json::Value;

/// The class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// 401 or 403: the key is missing, wrong or not allowed.
    Auth,
    /// 404: no such model or route.
    NotFound,
    /// The account's quota or credit is used up.
    Quota,
    /// The request is larger than the model's context.
    ContextOverflow,
    /// A policy refuses the request itself.
    Blocked,
    /// The request is malformed or has a field the server does not take.
    Invalid,
    /// Too many requests.
    RateLimit,
    /// 502, 503, 529 and the like.
    Overloaded,
    /// Another 5xx.
    Server,
    /// No answer in time.
    Timeout,
    /// No connection, or it was cut.
    Connection,
    /// A reply that is no chat completion, or longer than any reply may be.
    Protocol,
}

impl FailureKind {
    /// Whether another attempt may fare better.
    pub fn is_transport(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Overloaded | Self::Server | Self::Timeout | Self::Connection | Self::Protocol
        )
    }

    /// Whether every other call to this endpoint will fail in the same way.
    pub fn is_fatal(self) -> bool {
        matches!(self, Self::Auth | Self::NotFound | Self::Quota)
    }

    /// What it is, and what to do about it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Auth => ("the key was not accepted", "check the key and the variable it stands in"),
            Self::NotFound => ("there is no such model or route", "check model and base-url"),
            Self::Quota => ("the account's quota is used up", "raise it, then run again to go on"),
            Self::ContextOverflow => {
                ("the request is larger than the model's context", "use a model with a larger one, or shorter sessions")
            }
            Self::Blocked => ("the provider's policy refused the request", "it is reported as refused"),
            Self::Invalid => ("the server does not take the request", "check the parameters"),
            Self::RateLimit => ("too many requests", "lower limits.concurrency, then run again to go on"),
            Self::Overloaded => ("the server is overloaded", "run again later to go on"),
            Self::Server => ("the server failed", "run again later to go on"),
            Self::Timeout => ("no answer in time", "raise limits.attempt-seconds, then run again to go on"),
            Self::Connection => ("no connection", "check base-url and that the server runs, then run again to go on"),
            Self::Protocol => {
                ("the reply is not a chat completion", "check that base-url is an OpenAI-compatible server")
            }
        }
    }
}

/// A call that has no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// Its class.
    pub kind: FailureKind,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// What the server or the connection said, cut and without the key.
    pub said: String,
    /// Attempts made.
    pub attempts: u32,
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = self.kind.words();
        f.write_str(what)?;
        if let Some(status) = self.status {
            write!(f, " (HTTP {status})")?;
        }
        if !self.said.is_empty() {
            write!(f, ": {}", self.said)?;
        }
        write!(f, "; {remedy}")
    }
}

impl std::error::Error for CallFailure {}

/// Phrases by which servers say that a request is larger than the context.
const OVERFLOW: [&str; 12] = [
    "context_length_exceeded",
    "prompt is too long",
    "exceed context limit",
    "exceeds the maximum",
    "too long for requested model",
    "maximum context length",
    "maximum prompt length is",
    "exceeds the available context size",
    "exceeded model token limit",
    "context window exceeds limit",
    "trying to keep the first",
    "reduce the length of the messages",
];
/// Words by which servers say that a quota, not a rate, is used up.
const QUOTA: [&str; 6] =
    ["insufficient_quota", "credit_balance", "spend_limit_exceeded", "usage_limit_reached", "billing", "perday"];
/// Words by which a policy refuses the request.
const POLICY: [&str; 4] = ["content_filter", "responsibleaipolicyviolation", "invalid_prompt", "moderation"];
/// Words by which llama.cpp says that its template, not its machine, refuses.
const TEMPLATE: [&str; 3] = ["jinja", "raise_exception", "roles must alternate"];

/// The class of an error reply, from status and body.
pub fn classify(status: u16, body: &str) -> FailureKind {
    let text = body.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match status {
        401 => FailureKind::Auth,
        403 if says(&POLICY) => FailureKind::Blocked,
        403 => FailureKind::Auth,
        402 => FailureKind::Quota,
        404 => FailureKind::NotFound,
        408 | 504 | 524 => FailureKind::Timeout,
        429 if says(&QUOTA) => FailureKind::Quota,
        409 | 424 | 429 | 498 => FailureKind::RateLimit,
        500 if says(&TEMPLATE) => FailureKind::Invalid,
        _ if (status >= 400) && says(&OVERFLOW) => FailureKind::ContextOverflow,
        413 => FailureKind::ContextOverflow,
        400 if says(&POLICY) => FailureKind::Blocked,
        502 | 503 | 529 => FailureKind::Overloaded,
        500..=599 => FailureKind::Server,
        400..=499 => FailureKind::Invalid,
        _ => FailureKind::Protocol,
    }
}

/// What an error body says, in one line of at most 200 characters.
pub fn message(body: &str) -> String {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let error = value.as_ref().map(|value| value.get("error").or_else(|| value.get("detail")).unwrap_or(value));
    let text = error.and_then(|error| error.get("message").unwrap_or(error).as_str()).unwrap_or(body);
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    if line.len() < text.len() && line.chars().count() == 200 {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{FailureKind, classify, message};

    #[test]
    fn statuses_and_bodies_have_their_class() {
        let cases = [
            (401, "", FailureKind::Auth),
            (404, r#"{"error":{"code":"model_not_found"}}"#, FailureKind::NotFound),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, FailureKind::Quota),
            (429, r#"{"error":{"message":"Rate limit reached"}}"#, FailureKind::RateLimit),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, FailureKind::ContextOverflow),
            (400, r#"{"error":{"code":"content_filter"}}"#, FailureKind::Blocked),
            (400, r#"{"error":{"message":"Unrecognized request argument"}}"#, FailureKind::Invalid),
            (500, "Jinja Exception: roles must alternate", FailureKind::Invalid),
            (500, "", FailureKind::Server),
            (503, "", FailureKind::Overloaded),
            (302, "", FailureKind::Protocol),
        ];
        for (status, body, kind) in cases {
            assert_eq!(classify(status, body), kind, "{status} {body}");
        }
    }

    #[test]
    fn every_envelope_gives_its_message() {
        for body in
            [r#"{"error":{"message":"no"}}"#, r#"{"error":"no"}"#, r#"{"detail":"no"}"#, r#"{"message":"no"}"#, "no"]
        {
            assert_eq!(message(body), "no", "{body}");
        }
        assert_eq!(message(&"x ".repeat(500)).chars().count(), 201);
    }
}
