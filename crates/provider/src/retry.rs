//! When to try again. There is this one layer and no other: nested ones multiply.
//!
//! * A 429 that says when to come back is waited for under the call's deadline and counts as no attempt: the server
//!   is well, it only has a rate.
//! * Any other failure in transport has bounded attempts, with full jitter where the server names no delay.

use std::time::Duration;

use crate::failure::FailureKind;
use crate::key::CallKey;

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Most attempts, the first included; a 429 that says when to come back is none.
    pub attempts: u32,
    /// First step of the backoff.
    pub base: Duration,
    /// Longest step of the backoff.
    pub cap: Duration,
    /// Longest delay of a server's that is waited for.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 6,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(60),
            longest: Duration::from_secs(120),
        }
    }
}

/// A failed attempt, as far as the next one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed {
    /// What failed.
    pub(crate) kind: FailureKind,
    /// The delay that the server asks for.
    pub(crate) told: Option<Duration>,
    /// Whether another attempt may fare better.
    pub(crate) retryable: bool,
}

impl Failed {
    /// The delay of a 429 that says when to come back. None at all is no such word: it would be asked again without end.
    fn stated(self) -> Option<Duration> {
        self.told.filter(|told| self.kind == FailureKind::RateLimit && !told.is_zero())
    }

    /// Whether the attempt counts towards [`Retry::attempts`].
    pub(crate) fn counts(self) -> bool {
        self.stated().is_none()
    }
}

impl Retry {
    /// How long to wait after the attempt that `failed`, of which `counted` counted until now; `None` to give up.
    /// Without a word from the server: a share of `base * 2^counted`, at most `cap`. The share is a hash of call and
    /// attempt, so that calls which failed together do not come back together.
    pub(crate) fn delay(&self, failed: Failed, counted: u32, key: &CallKey) -> Option<Duration> {
        if !failed.retryable || failed.counts() && counted >= self.attempts {
            return None;
        }
        let share = share(key, counted);
        if let Some(told) = failed.told.filter(|told| !told.is_zero()) {
            // A little later than told, each by another little.
            return (told <= self.longest).then(|| told + told.mul_f64(share / 10.0));
        }
        let step = self.base.saturating_mul(2_u32.saturating_pow(counted.saturating_sub(1))).min(self.cap);
        Some(step.mul_f64(share))
    }
}

/// A number from 0 to 1 that depends on call and attempt alone.
fn share(key: &CallKey, attempt: u32) -> f64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(&attempt.to_le_bytes());
    f64::from(hasher.finalize().as_bytes()[0]) / 255.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Failed, Retry};
    use crate::failure::FailureKind;

    #[test]
    fn attempts_are_bounded_and_delays_capped() {
        let retry = Retry { attempts: 3, ..Retry::default() };
        let key = [7; 32];
        let failed = |kind: FailureKind, told| Failed { kind, told, retryable: kind.is_transport() };
        let server = failed(FailureKind::Server, None);
        assert!(retry.delay(server, 1, &key).is_some_and(|delay| delay <= Duration::from_secs(1)));
        assert!(retry.delay(server, 2, &key).is_some_and(|delay| delay <= Duration::from_secs(2)));
        assert_eq!(retry.delay(server, 3, &key), None);
        assert_eq!(retry.delay(failed(FailureKind::Invalid, None), 1, &key), None);
    }

    #[test]
    fn a_429_that_says_when_counts_as_no_attempt() {
        let retry = Retry { attempts: 1, ..Retry::default() };
        let key = [7; 32];
        let told = |kind, seconds| Failed { kind, told: Some(Duration::from_secs(seconds)), retryable: true };
        let stated = |seconds| told(FailureKind::RateLimit, seconds);
        assert!(!stated(5).counts());
        let delay = retry.delay(stated(5), 9, &key).expect("another attempt");
        assert!((Duration::from_secs(5)..=Duration::from_millis(5500)).contains(&delay));
        assert_eq!(retry.delay(stated(121), 1, &key), None, "longer than anyone waits");
        assert!(stated(0).counts());
        assert_eq!(retry.delay(stated(0), 1, &key), None, "no delay is no word");
        let overloaded = told(FailureKind::Overloaded, 5);
        assert!(overloaded.counts());
        assert_eq!(retry.delay(overloaded, 1, &key), None);
    }
}
