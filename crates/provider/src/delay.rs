//! How long a server asks to be left alone: in a header, in Google's `RetryInfo`, in the Codex backend's
//! `resets_in_seconds`, or in a sentence.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::Regex;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::members::{Members, Object, Shape, object};

/// No server means a longer delay than this; what says so is damaged.
const LONGEST_SECONDS: f64 = 1e9;

/// "try again in 1m26.4s", "retry in 450ms".
static IN_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:try again|retry) in (?:(\d+)h)?(?:(?:(\d+)m)?(\d+(?:\.\d+)?) ?(ms|s)|(\d+)m)?")
        .expect("a constant pattern")
});

/// The delay that headers, an error record and its message ask for; the first that says one wins. A date
/// is compared with the server's own clock, else with `clock`.
pub(crate) fn told(
    headers: &HeaderMap,
    record: &Object,
    message: &str,
    clock: Option<SystemTime>,
) -> Result<Option<Duration>, Shape> {
    if let Some(delay) = in_headers(headers, clock) {
        return Ok(Some(delay));
    }
    if let Some(delay) = in_details(record)? {
        return Ok(Some(delay));
    }
    if record.contains_key("resets_in_seconds") {
        return Ok(Some(Duration::from_secs(record.count("resets_in_seconds").unwrap_or(0))));
    }
    Ok(in_words(message))
}

fn in_headers(headers: &HeaderMap, clock: Option<SystemTime>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).and_then(millis) {
        return Some(millis);
    }
    let after = text("retry-after")?;
    if let Ok(seconds) = after.parse::<f64>() {
        return millis(seconds * 1000.0);
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = text("date").and_then(|date| httpdate::parse_http_date(date).ok()).or(clock)?;
    Some(until.duration_since(now).unwrap_or_default())
}

fn in_details(record: &Object) -> Result<Option<Duration>, Shape> {
    for detail in record.get("details").and_then(Value::as_array).into_iter().flatten() {
        let detail = object("details", detail)?;
        let is_retry = detail.label("@type").is_some_and(|name| name.ends_with("google.rpc.RetryInfo"));
        let delay = if is_retry { detail.text("retryDelay")?.strip_suffix('s') } else { None };
        if let Some(seconds) = delay.and_then(|seconds| seconds.parse::<f64>().ok()) {
            return Ok(millis((seconds * 1000.0).round()));
        }
    }
    Ok(None)
}

fn in_words(message: &str) -> Option<Duration> {
    let found = IN_WORDS.captures(message)?;
    let number = |group: usize| found.get(group).and_then(|text| text.as_str().parse::<f64>().ok());
    let minutes = number(2).or_else(|| number(5));
    let unit = if found.get(4).is_some_and(|unit| unit.as_str().eq_ignore_ascii_case("ms")) { 1.0 } else { 1000.0 };
    let parts = [number(1).map(|h| h * 3_600_000.0), minutes.map(|m| m * 60_000.0), number(3).map(|n| n * unit)];
    if parts.iter().all(Option::is_none) {
        return None;
    }
    millis(parts.into_iter().flatten().sum::<f64>().round())
}

fn millis(millis: f64) -> Option<Duration> {
    (0.0..LONGEST_SECONDS * 1000.0).contains(&millis).then(|| Duration::from_millis(millis as u64))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::{Value, json};

    use super::{in_words, told};
    use crate::members::Object;

    const ASKED: &str = "Mon, 30 Nov 2026 10:00:00 GMT";
    const LATER: &str = "Mon, 30 Nov 2026 10:00:07 GMT";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn record(value: &Value) -> Object {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn headers_are_read_in_every_form() {
        let cases = [
            (vec![("retry-after-ms", "50"), ("retry-after", "9")], Some(50)),
            (vec![("retry-after-ms", "soon"), ("retry-after", "9")], Some(9_000)),
            (vec![("retry-after", "1.5")], Some(1_500)),
            (vec![("retry-after", LATER), ("date", ASKED)], Some(7_000)),
            (vec![("retry-after", ASKED), ("date", LATER)], Some(0)),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-1")], None),
            (vec![("retry-after", "inf")], None),
            (vec![], None),
        ];
        for (pairs, expected) in cases {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(told(&headers(&pairs), &Object::new(), "", None), Ok(expected), "{pairs:?}");
        }
    }

    #[test]
    fn a_date_needs_a_clock() {
        let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_032_800);
        let later = headers(&[("retry-after", LATER)]);
        assert_eq!(told(&later, &Object::new(), "", None), Ok(None));
        assert_eq!(told(&later, &Object::new(), "", Some(clock)), Ok(Some(Duration::from_secs(7))));
    }

    #[test]
    fn bodies_say_it_in_their_order() {
        let info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.601s"});
        let google = record(&json!({"details": [{"@type": "other", "retryDelay": "1s"}, info]}));
        let both = record(&json!({"details": [info], "resets_in_seconds": 5}));
        let codex = record(&json!({"resets_in_seconds": "5"}));
        let words = "Please retry in 3s.";
        let none = HeaderMap::new();
        assert_eq!(told(&none, &google, words, None), Ok(Some(Duration::from_millis(38_601))));
        assert_eq!(told(&none, &both, words, None), Ok(Some(Duration::from_millis(38_601))));
        assert_eq!(told(&none, &codex, words, None), Ok(Some(Duration::from_secs(5))));
        assert_eq!(told(&none, &Object::new(), words, None), Ok(Some(Duration::from_secs(3))));
        assert_eq!(told(&headers(&[("retry-after", "1")]), &google, words, None), Ok(Some(Duration::from_secs(1))));
        assert!(told(&none, &record(&json!({"details": ["text"]})), words, None).is_err());
    }

    #[test]
    fn sentences_are_understood() {
        let cases = [
            ("Please try again in 20s.", Some(20_000)),
            ("try again in 450ms", Some(450)),
            ("try again in 7.192s", Some(7_192)),
            ("Try Again In 1m26.4s", Some(86_400)),
            ("retry in 2h", Some(7_200_000)),
            ("retry in 1h2m3s", Some(3_723_000)),
            ("retry in 5m", Some(300_000)),
            ("retry in 20 seconds", Some(20_000)),
            ("retry in 1m30", Some(60_000)),
            ("try again in a moment", None),
            ("please try again later", None),
        ];
        for (text, expected) in cases {
            assert_eq!(in_words(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
