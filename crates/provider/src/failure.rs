//! Why a call has no reply. Transport failures may be tried again, final ones never are: retrying
//! them would select outcomes.

use std::fmt;

use crate::reply::Usage;

/// The class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// 401: the key is missing or wrong.
    Auth,
    /// 403: the key may not do this.
    Permission,
    /// 402: nothing is left to pay with.
    Billing,
    /// 404: no such model or route.
    NotFound,
    /// A redirect, or a path that takes no such call.
    Misdirected,
    /// The account's quota or spend limit is used up; waiting does not help.
    Quota,
    /// The request is larger than the model's context.
    ContextOverflow,
    /// The request is larger than the server takes, whatever the model.
    TooLarge,
    /// A policy refuses the request itself.
    Blocked,
    /// The request is malformed or has a field the server does not take.
    Invalid,
    /// Too many requests.
    RateLimit,
    /// 502, 503, 529 and the like.
    Overloaded,
    /// Another 5xx, or a reply that ended with a failure of the provider's.
    Server,
    /// No answer in time.
    Timeout,
    /// Something else is going on with the same resource.
    Conflict,
    /// No connection, or it was cut.
    Connection,
    /// A reply that its route does not have, a stream without its end, or more than any reply may be.
    Protocol,
}

impl FailureKind {
    /// Whether another attempt may fare better.
    pub fn is_transport(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Timeout
            | Self::Conflict
            | Self::Connection
            | Self::Protocol => true,
            Self::Auth
            | Self::Permission
            | Self::Billing
            | Self::NotFound
            | Self::Misdirected
            | Self::Quota
            | Self::ContextOverflow
            | Self::TooLarge
            | Self::Blocked
            | Self::Invalid => false,
        }
    }

    /// Whether every other call to this endpoint will fail in the same way.
    pub fn is_fatal(self) -> bool {
        matches!(self, Self::Auth | Self::Permission | Self::Billing | Self::NotFound | Self::Misdirected | Self::Quota)
    }

    /// What it is, and what to do about it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Auth => ("the key was not accepted", "check the key and the variable it stands in"),
            Self::Permission => ("the key may not do this", "check what the account is allowed, and the region"),
            Self::Billing => ("the account has no credit left", "add credit, then run again to go on"),
            Self::NotFound => ("there is no such model or route", "check model and base-url"),
            Self::Misdirected => ("the server does not take calls at this address", "check base-url and route"),
            Self::Quota => ("the account's quota is used up", "raise it, then run again to go on"),
            Self::ContextOverflow => {
                ("the request is larger than the model's context", "use a model with a larger one, or shorter sessions")
            }
            Self::TooLarge => {
                ("the request is larger than the server takes", "raise the account's limits, or shorter sessions")
            }
            Self::Blocked => ("the provider's policy refused the request", "it is reported as refused"),
            Self::Invalid => ("the server does not take the request", "check the parameters"),
            Self::RateLimit => ("too many requests", "lower limits.concurrency, then run again to go on"),
            Self::Overloaded => ("the server is overloaded", "run again later to go on"),
            Self::Server => ("the server failed", "run again later to go on"),
            Self::Timeout => ("no answer in time", "raise limits.attempt-seconds, then run again to go on"),
            Self::Conflict => ("the server is busy with the same thing", "run again later to go on"),
            Self::Connection => ("no connection", "check base-url and that the server runs, then run again to go on"),
            Self::Protocol => ("the reply is not one of this route", "check that base-url is a server of this route"),
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
    /// Whether another attempt may fare better. The kind says so, unless the server says otherwise or
    /// the failure is the model's.
    pub retryable: bool,
    /// Tokens that a failed reply counts all the same: they are paid for. Boxed, since most have none.
    pub usage: Option<Box<Usage>>,
}

impl CallFailure {
    /// A failure of `kind`, as retryable as its kind.
    pub fn new(kind: FailureKind, said: impl Into<String>) -> Self {
        Self { kind, status: None, said: said.into(), attempts: 0, retryable: kind.is_transport(), usage: None }
    }
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

#[cfg(test)]
mod tests {
    use super::{CallFailure, FailureKind};

    #[test]
    fn what_stops_a_run_is_never_tried_again() {
        for kind in [FailureKind::Auth, FailureKind::Billing, FailureKind::Misdirected, FailureKind::Quota] {
            assert!(kind.is_fatal() && !kind.is_transport(), "{kind:?}");
        }
        // These are about one request: the others may pass.
        for kind in [FailureKind::ContextOverflow, FailureKind::TooLarge, FailureKind::Blocked, FailureKind::Invalid] {
            assert!(!kind.is_fatal() && !kind.is_transport(), "{kind:?}");
        }
    }

    #[test]
    fn a_failure_says_what_it_is_and_what_to_do() {
        let failure = CallFailure { status: Some(402), ..CallFailure::new(FailureKind::Billing, "no funds") };
        assert_eq!(
            failure.to_string(),
            "the account has no credit left (HTTP 402): no funds; add credit, then run again to go on"
        );
        let silent = CallFailure::new(FailureKind::Connection, "");
        assert!(silent.to_string().starts_with("no connection; check base-url"), "{silent}");
        assert!(silent.retryable);
    }
}
