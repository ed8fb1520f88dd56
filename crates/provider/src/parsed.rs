//! What a reply says, before it is decided whether that is a completion or a failure.

use std::time::Duration;

use crate::failure::{CallFailure, FailureKind};
use crate::reply::{Completion, Finish, Served, Usage};

/// A reply that was read to its end.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// How it ended, or why it is none.
    pub(crate) ending: Result<Finish, Problem>,
    /// The provider's own word for how it ended.
    pub(crate) reason: Option<String>,
    /// The visible text.
    pub(crate) text: String,
    /// What the model said in refusing, or the category of a refusal.
    pub(crate) refusal: Option<String>,
    /// Whether the model reasoned before it answered.
    pub(crate) has_reasoning: bool,
    /// Tokens; `None` where the reply has no count at all.
    pub(crate) usage: Option<Usage>,
    /// Who answered.
    pub(crate) served: Served,
}

/// Why a reply is no completion.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Its class.
    pub(crate) kind: FailureKind,
    /// Whether another attempt may fare better.
    pub(crate) retryable: bool,
    /// How long the server asks to wait.
    pub(crate) delay: Option<Duration>,
    /// What the server said.
    pub(crate) said: String,
}

impl Problem {
    /// A problem as retryable as its kind.
    pub(crate) fn new(kind: FailureKind, said: impl Into<String>) -> Self {
        Self { kind, retryable: kind.is_transport(), delay: None, said: said.into() }
    }

    /// A reply that its route does not have.
    pub(crate) fn protocol(fault: &impl ToString) -> Self {
        Self::new(FailureKind::Protocol, fault.to_string())
    }

    /// A reply that ended with a failure.
    pub(crate) fn ended_with(kind: FailureKind, reason: Option<&str>) -> Self {
        Self::new(kind, format!("the reply ended with \"{}\"", reason.unwrap_or_default().escape_debug()))
    }

    /// The same, where another attempt would end the same way.
    pub(crate) fn for_good(self) -> Self {
        Self { retryable: false, ..self }
    }
}

impl Parsed {
    /// A reply without any content.
    pub(crate) fn failed(problem: Problem) -> Self {
        Self {
            ending: Err(problem),
            reason: None,
            text: String::new(),
            refusal: None,
            has_reasoning: false,
            usage: None,
            served: Served::default(),
        }
    }

    /// A request that a policy refused.
    pub(crate) fn blocked(reason: &str, problem: Problem) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::failed(problem) }
    }

    /// The completion, or the failure and the delay the server asks for.
    pub(crate) fn settle(self, status: u16) -> Result<Completion, (CallFailure, Option<Duration>)> {
        match self.ending {
            Ok(finish) => Ok(Completion {
                text: self.text,
                finish,
                reason: self.reason,
                refusal: self.refusal,
                has_reasoning: self.has_reasoning,
                usage: self.usage.unwrap_or_default(),
                served: self.served,
            }),
            Err(Problem { kind, retryable, delay, said }) => {
                let usage = self.usage.map(Box::new);
                Err((CallFailure { kind, status: Some(status), said, attempts: 0, retryable, usage }, delay))
            }
        }
    }
}
