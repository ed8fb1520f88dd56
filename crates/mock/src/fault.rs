//! How the mock fails: the kinds of failure, when they strike, and whom.

use serde::{Deserialize, Serialize};

use crate::draw::{draw, draw_attempt};
use crate::error::MockError;
use crate::request::Purpose;

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// 429, worth another try; see [`Retry`].
    RateLimit,
    /// A limit that no retry lifts: 429 with `insufficient_quota`, or what the route has for it.
    Quota,
    /// 500.
    ServerError,
    /// 503, 529 on Anthropic; see [`Retry`].
    Overloaded,
    /// 504, 408 on Bedrock.
    Timeout,
    /// 413, 400 on Gemini: a request that never fits.
    TooLarge,
    /// The connection closes without a reply.
    Drop,
    /// The connection closes in the middle of the reply's body.
    DropMidBody,
    /// 200 with a body that is no JSON; in a stream the first event is none.
    Malformed,
    /// The body ends too soon, but as if it were whole: a stream lacks its end marker.
    EarlyEnd,
    /// An error after a 200: an event in the middle of a stream, an error object in place of a whole reply.
    LateError,
    /// The output cap was reached: half of the text.
    Truncated,
    /// The model declines. In chat `message.refusal` is set and the finish reason says `stop`, as real servers do.
    Refused,
    /// The provider's filter strikes: no text, or on Azure 400.
    ContentFilter,
    /// The provider's filter strikes in the middle: half of the text.
    FilteredText,
    /// A normal stop whose text is a refusal.
    RefusalText,
    /// A normal stop with no text.
    Empty,
    /// A normal stop with no text beside recorded reasoning.
    ReasoningOnly,
    /// A call in place of a text.
    ToolCall,
    /// A full text that ended for no reason, or for one that no list holds.
    UnknownFinish,
    /// 400 in the words for a request that is too long, whatever its length.
    ContextOverflow,
    /// No answer until the client goes away or the fault's bound is over.
    Hang,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::RateLimit,
        Self::Quota,
        Self::ServerError,
        Self::Overloaded,
        Self::Timeout,
        Self::TooLarge,
        Self::Drop,
        Self::DropMidBody,
        Self::Malformed,
        Self::EarlyEnd,
        Self::LateError,
        Self::Truncated,
        Self::Refused,
        Self::ContentFilter,
        Self::FilteredText,
        Self::RefusalText,
        Self::Empty,
        Self::ReasoningOnly,
        Self::ToolCall,
        Self::UnknownFinish,
        Self::ContextOverflow,
        Self::Hang,
    ];

    /// The kind's id.
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimit => "rate-limit",
            Self::Quota => "quota",
            Self::ServerError => "server-error",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::TooLarge => "too-large",
            Self::Drop => "drop",
            Self::DropMidBody => "drop-mid-body",
            Self::Malformed => "malformed",
            Self::EarlyEnd => "early-end",
            Self::LateError => "late-error",
            Self::Truncated => "truncated",
            Self::Refused => "refused",
            Self::ContentFilter => "content-filter",
            Self::FilteredText => "filtered-text",
            Self::RefusalText => "refusal-text",
            Self::Empty => "empty",
            Self::ReasoningOnly => "reasoning-only",
            Self::ToolCall => "tool-call",
            Self::UnknownFinish => "unknown-finish",
            Self::ContextOverflow => "context-overflow",
            Self::Hang => "hang",
        }
    }

    /// Whether the same call may go well at its next attempt. What is not transient is the call's outcome: it
    /// is the same at every attempt, so that a client that retries it gains nothing and is seen in the log.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::ServerError
                | Self::Overloaded
                | Self::Timeout
                | Self::Drop
                | Self::DropMidBody
                | Self::Malformed
                | Self::EarlyEnd
                | Self::LateError
                | Self::Hang
        )
    }
}

/// When a fault strikes.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    /// With this probability: drawn for each attempt of a call where the fault is transient, once for the
    /// call where it is not.
    Probability(f64),
    /// At exactly these attempts of every call, counted from 1. Transient faults only.
    Attempts(Vec<u32>),
}

/// Which calls a fault is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AppliesTo {
    /// All calls.
    #[default]
    Any,
    /// Summarizer calls.
    Summarize,
    /// Judge calls.
    Judge,
}

/// How a reply says when to try again. On Gemini seconds and milliseconds stand in the body, as `RetryInfo`; on the
/// Codex route a used-up quota says them as `resets_in_seconds`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retry {
    /// It does not.
    #[default]
    Unsaid,
    /// `retry-after` in seconds.
    Seconds(u64),
    /// `retry-after-ms`.
    Millis(u64),
    /// `retry-after` as an HTTP date so many seconds from now.
    Date(u64),
    /// So many milliseconds, in the message alone.
    Text(u64),
}

/// One way in which the script makes calls fail.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "FaultEntry")]
pub struct Fault {
    /// What happens.
    pub kind: FaultKind,
    /// When it happens.
    pub when: When,
    /// To which calls.
    pub applies_to: AppliesTo,
    /// To which model; absent: to all.
    pub model: Option<String>,
    /// For `rate-limit`, `overloaded` and `quota`: what the reply says about a retry.
    pub retry: Retry,
    /// For `hang`: after how long the connection is closed.
    pub hang_ms: u64,
}

const HANG_MS: u64 = 60_000;

impl Fault {
    /// A fault that strikes any call.
    pub fn new(kind: FaultKind, when: When) -> Self {
        Self { kind, when, applies_to: AppliesTo::Any, model: None, retry: Retry::Unsaid, hang_ms: HANG_MS }
    }

    /// The same for some calls only.
    pub fn applies_to(mut self, calls: AppliesTo) -> Self {
        self.applies_to = calls;
        self
    }

    /// The same for one model only.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The same with a word about when to try again.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same, hanging for at most `ms`.
    pub fn hang_ms(mut self, ms: u64) -> Self {
        self.hang_ms = ms;
        self
    }

    pub(crate) fn check(&self) -> Result<(), MockError> {
        let field = format!("faults: {}", self.kind.name());
        match &self.when {
            When::Probability(p) if !(0.0..=1.0).contains(p) => {
                Err(MockError::script(field, format!("probability {p}"), "give one from 0 to 1"))
            }
            When::Attempts(_) if !self.kind.is_transient() => Err(MockError::script(
                field,
                "a final outcome cannot depend on the attempt",
                "give a probability in place of attempts",
            )),
            When::Attempts(attempts) if attempts.is_empty() || attempts.contains(&0) => {
                Err(MockError::script(field, format!("attempts {attempts:?}"), "name attempts from 1 on"))
            }
            _ => Ok(()),
        }
    }

    /// Whether it strikes this attempt of this call.
    pub(crate) fn strikes(&self, seed: u64, purpose: Purpose, model: &str, key: &str, attempt: u32) -> bool {
        let for_it = match self.applies_to {
            AppliesTo::Any => true,
            AppliesTo::Summarize => purpose == Purpose::Summarize,
            AppliesTo::Judge => purpose == Purpose::Judge,
        };
        if !for_it || self.model.as_deref().is_some_and(|wanted| wanted != model) {
            return false;
        }
        match &self.when {
            When::Attempts(attempts) => attempts.contains(&attempt),
            When::Probability(p) if self.kind.is_transient() => draw_attempt(seed, self.kind.name(), key, attempt) < *p,
            When::Probability(p) => draw(seed, self.kind.name(), key) < *p,
        }
    }
}

/// A fault as a script file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FaultEntry {
    kind: FaultKind,
    probability: Option<f64>,
    attempts: Option<Vec<u32>>,
    #[serde(default)]
    applies_to: AppliesTo,
    model: Option<String>,
    retry_after_s: Option<u64>,
    retry_after_ms: Option<u64>,
    retry_date_s: Option<u64>,
    retry_text_ms: Option<u64>,
    hang_ms: Option<u64>,
}

impl TryFrom<FaultEntry> for Fault {
    type Error = MockError;

    fn try_from(entry: FaultEntry) -> Result<Self, MockError> {
        let field = || format!("faults: {}", entry.kind.name());
        let when = match (entry.probability, entry.attempts) {
            (Some(p), None) => When::Probability(p),
            (None, Some(attempts)) => When::Attempts(attempts),
            _ => return Err(MockError::script(field(), "when it strikes", "give either probability or attempts")),
        };
        let mut delays = [
            entry.retry_after_s.map(Retry::Seconds),
            entry.retry_after_ms.map(Retry::Millis),
            entry.retry_date_s.map(Retry::Date),
            entry.retry_text_ms.map(Retry::Text),
        ]
        .into_iter()
        .flatten();
        let retry = delays.next().unwrap_or_default();
        if delays.next().is_some() {
            let remedy = "give one of retry-after-s, retry-after-ms, retry-date-s and retry-text-ms";
            return Err(MockError::script(field(), "several delays", remedy));
        }
        let hang_ms = entry.hang_ms.unwrap_or(HANG_MS);
        let fault = Self { kind: entry.kind, when, applies_to: entry.applies_to, model: entry.model, retry, hang_ms };
        fault.check()?;
        Ok(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::{AppliesTo, Fault, FaultKind, When};
    use crate::request::Purpose::{Judge, Summarize};

    #[test]
    fn a_final_outcome_is_the_same_at_every_attempt_and_a_transient_one_is_drawn_anew() {
        let half = |kind| Fault::new(kind, When::Probability(0.5));
        let changes = |fault: &Fault| {
            (0..200)
                .map(|key| key.to_string())
                .filter(|key| fault.strikes(1, Summarize, "m", key, 1) != fault.strikes(1, Summarize, "m", key, 2))
                .count()
        };
        for kind in FaultKind::ALL {
            let changed = changes(&half(*kind));
            assert_eq!(changed > 0, kind.is_transient(), "{}: {changed}", kind.name());
        }
    }

    #[test]
    fn a_fault_strikes_only_whom_it_is_for() {
        let fault = Fault::new(FaultKind::Drop, When::Attempts(vec![2])).applies_to(AppliesTo::Judge).model("m");
        assert!(fault.strikes(1, Judge, "m", "k", 2));
        assert!(!fault.strikes(1, Judge, "m", "k", 1));
        assert!(!fault.strikes(1, Judge, "other", "k", 2));
        assert!(!fault.strikes(1, Summarize, "m", "k", 2));
    }

    #[test]
    fn faults_without_sense_are_refused() {
        assert!(Fault::new(FaultKind::Drop, When::Probability(1.5)).check().is_err());
        assert!(Fault::new(FaultKind::Drop, When::Attempts(vec![0])).check().is_err());
        assert!(Fault::new(FaultKind::Truncated, When::Attempts(vec![1])).check().is_err());
        assert!(Fault::new(FaultKind::Truncated, When::Probability(1.0)).check().is_ok());
    }

    #[test]
    fn names_are_the_ones_that_files_use() {
        for kind in FaultKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
