//! A provider's word, in the headers of any reply, that an account has nothing left for now.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// The pairs of headers that say how much is left and when there is more.
const PAIRS: [(&str, &str); 6] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// How long the account has nothing left: the longest reset of what stands at 0.
pub fn exhausted(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // The server's own clock says how far away its date is.
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    PAIRS
        .iter()
        .filter(|(remaining, _)| text(remaining).is_some_and(|left| left == "0"))
        .filter_map(|(_, reset)| text(reset).and_then(|reset| until(reset, now)))
        .max()
}

/// A span such as `6m0s`, `1.5s` or `12ms`, a number of seconds, or a moment in RFC 3339.
fn until(reset: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(moment) = reset.parse::<jiff::Timestamp>() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(moment.as_millisecond()).ok()?);
        return Some(moment.duration_since(now).unwrap_or_default());
    }
    span(reset)
}

fn span(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let scale = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" | "" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += scale * number.parse::<f64>().ok()?;
        rest = tail;
    }
    (text.len() < 40).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::exhausted;

    fn of(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        let headers: HeaderMap = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        exhausted(&headers, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn only_what_stands_at_zero_is_waited_for() {
        let left = ("x-ratelimit-remaining-requests", "0");
        for (reset, seconds) in [("1s", 1.0), ("6m0s", 360.0), ("1h0m0.5s", 3600.5), ("12ms", 0.012), ("3", 3.0)] {
            let expected = Some(Duration::from_secs_f64(seconds));
            assert_eq!(of(&[left, ("x-ratelimit-reset-requests", reset)]), expected, "{reset}");
        }
        assert_eq!(of(&[("x-ratelimit-remaining-requests", "1"), ("x-ratelimit-reset-requests", "6m0s")]), None);
        assert_eq!(of(&[left, ("x-ratelimit-reset-requests", "soon")]), None);
        assert_eq!(of(&[left]), None);
    }

    #[test]
    fn the_longest_of_several_counts_and_the_server_s_clock_decides() {
        let both = [
            ("date", "Mon, 30 Nov 2026 10:00:00 GMT"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-11-30T10:00:07Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-30T10:00:03Z"),
        ];
        assert_eq!(of(&both), Some(Duration::from_secs(7)));
    }
}
