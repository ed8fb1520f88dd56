//! When to try again: bounded attempts, full jitter, and the server's own word where it gives one.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

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

/// The delay a server asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
pub(crate) fn told(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && (0.0..1e9).contains(n));
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Some(Duration::from_secs_f64(millis / 1000.0));
    }
    let after = text("retry-after")?;
    if let Some(seconds) = number(after) {
        return Some(Duration::from_secs_f64(seconds));
    }
    let until = httpdate::parse_http_date(after).ok()?;
    // The server's own clock says how far away its date is.
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{Retry, told};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_server_s_word_is_read_in_every_form() {
        let now = SystemTime::UNIX_EPOCH;
        let (asked, later) = ("Mon, 30 Nov 2026 10:00:00 GMT", "Mon, 30 Nov 2026 10:00:07 GMT");
        let cases = [
            (vec![("retry-after-ms", "50"), ("retry-after", "9")], Some(Duration::from_millis(50))),
            (vec![("retry-after", "1.5")], Some(Duration::from_millis(1500))),
            (vec![("retry-after", later), ("date", asked)], Some(Duration::from_secs(7))),
            (vec![("retry-after", asked), ("date", later)], Some(Duration::ZERO)),
            (vec![("retry-after", "soon")], None),
            (vec![], None),
        ];
        for (pairs, expected) in cases {
            assert_eq!(told(&headers(&pairs), now), expected, "{pairs:?}");
        }
    }

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
