//! When to try again: bounded attempts, full jitter, and the server's own word where it gives one.

use std::time::Duration;

use crate::key::CallKey;

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Most attempts, the first included.
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
            attempts: 5,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(60),
            longest: Duration::from_secs(120),
        }
    }
}

impl Retry {
    /// How long to wait after failed attempt `attempt` (from 1); `None` to give up. Without a word
    /// from the server: a share of `base * 2^attempt`, at most `cap`. The share is a hash of call and
    /// attempt, so that calls which failed together do not come back together.
    pub(crate) fn delay(&self, attempt: u32, told: Option<Duration>, key: &CallKey) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        if let Some(told) = told {
            return (told <= self.longest).then_some(told);
        }
        let step = self.base.saturating_mul(2_u32.saturating_pow(attempt - 1)).min(self.cap);
        let mut hasher = blake3::Hasher::new();
        hasher.update(key).update(&attempt.to_le_bytes());
        let share = f64::from(hasher.finalize().as_bytes()[0]) / 255.0;
        Some(step.mul_f64(share))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retry;

    #[test]
    fn attempts_are_bounded_and_delays_capped() {
        let retry = Retry { attempts: 3, ..Retry::default() };
        let key = [7; 32];
        assert!(retry.delay(1, None, &key).is_some_and(|delay| delay <= Duration::from_secs(1)));
        assert!(retry.delay(2, None, &key).is_some_and(|delay| delay <= Duration::from_secs(2)));
        assert_eq!(retry.delay(3, None, &key), None);
        assert_eq!(retry.delay(1, Some(Duration::from_secs(121)), &key), None);
        assert_eq!(retry.delay(1, Some(Duration::from_secs(5)), &key), Some(Duration::from_secs(5)));
    }
}
