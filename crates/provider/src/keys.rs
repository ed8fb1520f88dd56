//! The keys of a run: read from the environment once, sent in headers, and kept out of everything that is kept.
//! A server can send back what it was sent, so every reply goes through [`Keys::scrub`] before it is read.

use std::collections::HashMap;

use memchr::memmem;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::client::ClientError;
use crate::model::Endpoint;

/// What stands where a key stood.
const INSTEAD: &str = "[key]";
/// How often JSON may be quoted inside JSON for a key in it to be found still.
const DEEPEST: usize = 3;

/// The values of all variables that go into headers, by the variable's name.
#[derive(Debug, Default)]
pub(crate) struct Keys(HashMap<String, SecretString>);

impl Keys {
    /// The keys of `endpoints`: the first variable of each that is set, and the others that go into its headers.
    pub(crate) fn of<'e>(endpoints: impl IntoIterator<Item = &'e Endpoint>) -> Result<Self, ClientError> {
        let mut keys = HashMap::new();
        for endpoint in endpoints {
            let names: Vec<&str> = endpoint.keys.iter().map(|source| source.env.as_str()).collect();
            match names.iter().find(|name| is_set(name)) {
                Some(name) => keys.extend([read(name)?]),
                None if endpoint.needs_key() => return Err(missing(&names, endpoint)),
                None => {}
            }
            for name in endpoint.variables() {
                if !is_set(name) {
                    return Err(missing(&[name], endpoint));
                }
                keys.extend([read(name)?]);
            }
        }
        Ok(Self(keys))
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    /// `bytes` without any key, as it is or as JSON may write it, whoever put it there.
    pub(crate) fn scrub(&self, bytes: Vec<u8>) -> Vec<u8> {
        let found = self.found_in(&bytes);
        if found.is_empty() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for (start, end) in found {
            if start >= done {
                clean.extend_from_slice(&bytes[done..start]);
                clean.extend_from_slice(INSTEAD.as_bytes());
            }
            done = done.max(end);
        }
        clean.extend_from_slice(&bytes[done..]);
        clean
    }

    /// `headers` without any key.
    pub(crate) fn scrub_headers(&self, mut headers: HeaderMap) -> HeaderMap {
        for value in headers.values_mut() {
            if !self.found_in(value.as_bytes()).is_empty() {
                *value = HeaderValue::from_static(INSTEAD);
            }
        }
        headers
    }

    /// Whether `text` holds a key.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        !self.found_in(text.as_bytes()).is_empty()
    }

    /// Where keys stand, in order.
    fn found_in(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        if self.0.is_empty() {
            return found;
        }
        let mut look = |text: &[u8], start: &dyn Fn(usize) -> usize| {
            for key in self.0.values().map(|key| key.expose_secret().as_bytes()) {
                found.extend(memmem::find_iter(text, key).map(|at| (start(at), start(at + key.len()))));
            }
        };
        look(bytes, &|at| at);
        let mut deeper = Unquoted::of(bytes, |at| at);
        for _ in 0..DEEPEST {
            let Some(text) = deeper else { break };
            look(&text.bytes, &|at| text.starts[at]);
            deeper = Unquoted::of(&text.bytes, |at| text.starts[at]);
        }
        found.sort_unstable();
        found
    }
}

/// Text with one level of JSON's escapes undone, and where each of its bytes stood at first.
struct Unquoted {
    bytes: Vec<u8>,
    /// One more than there are bytes.
    starts: Vec<usize>,
}

impl Unquoted {
    /// `bytes`, which stood at `start` at first, without their escapes; `None` where none of them can hide a key.
    fn of(bytes: &[u8], start: impl Fn(usize) -> usize) -> Option<Self> {
        let can_hide = |at: usize| matches!(bytes.get(at + 1), Some(b'u' | b'"' | b'\\' | b'/'));
        memchr::memchr_iter(b'\\', bytes).find(|at| can_hide(*at))?;
        let mut undone = Self { bytes: Vec::with_capacity(bytes.len()), starts: Vec::with_capacity(bytes.len() + 1) };
        let mut at = 0;
        while at < bytes.len() {
            let (byte, length) = unescaped(&bytes[at..]);
            undone.bytes.push(byte);
            undone.starts.push(start(at));
            at += length;
        }
        undone.starts.push(start(bytes.len()));
        Some(undone)
    }
}

/// The byte that `bytes` begins with once an escape is undone, and how long it is written. What is no character of
/// a key becomes one that is in none.
fn unescaped(bytes: &[u8]) -> (u8, usize) {
    const IN_NO_KEY: u8 = b'\n';
    match bytes {
        [b'\\', b'u', rest @ ..] => {
            let digits = rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(code) => (u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(IN_NO_KEY), 6),
                None => (b'\\', 1),
            }
        }
        [b'\\', plain @ (b'"' | b'\\' | b'/'), ..] => (*plain, 2),
        [b'\\', b'b' | b'f' | b'n' | b'r' | b't', ..] => (IN_NO_KEY, 2),
        [byte, ..] => (*byte, 1),
        [] => (IN_NO_KEY, 1),
    }
}

/// Whether a variable is set; an empty one is not.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn missing(names: &[&str], endpoint: &Endpoint) -> ClientError {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    ClientError::NoKey { names, url: endpoint.url.clone() }
}

fn read(name: &str) -> Result<(String, SecretString), ClientError> {
    let key = std::env::var(name).unwrap_or_default();
    // Nothing else is found again in whatever a server makes of it.
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ClientError::BadKey { name: name.to_owned() });
    }
    Ok((name.to_owned(), SecretString::from(key)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use reqwest::header::{HeaderMap, HeaderValue};
    use secrecy::SecretString;
    use serde_json::{Value, json};

    use super::Keys;

    fn keys(key: &str) -> Keys {
        Keys(HashMap::from([("K".to_owned(), SecretString::from(key))]))
    }

    fn scrubbed(key: &str, text: &str) -> String {
        String::from_utf8(keys(key).scrub(text.as_bytes().to_vec())).expect("still text")
    }

    #[test]
    fn a_key_that_a_server_sends_back_is_kept_nowhere() {
        assert_eq!(scrubbed("sk-7f3a", "wrong key sk-7f3a"), "wrong key [key]");
        assert_eq!(scrubbed("sk-7f3a", r#"{"said": "Bearer sk-7f3a"}"#), r#"{"said": "Bearer [key]"}"#);
        assert_eq!(scrubbed("sk-7f3a", "{}"), "{}");
        assert_eq!(scrubbed("sk-7f3a", "sk-7f3ask-7f3a sk-7f3"), "[key][key] sk-7f3");
        assert_eq!(Keys::default().scrub(b"sk-7f3a".to_vec()), b"sk-7f3a");
    }

    #[test]
    fn escapes_do_not_hide_a_key() {
        for written in [r"a\/b\u002Bc", r"a/b+c", r"\u0061\u002fb\u002bc", r"a\\/b\\u002bc", r"a\\\\\/b\\\\u002bc"] {
            assert_eq!(scrubbed("a/b+c", &format!("\"x {written} y\"")), "\"x [key] y\"", "{written}");
        }
        assert_eq!(scrubbed(r#"a"b\c"#, r#"{"x":"a\"b\\c"}"#), r#"{"x":"[key]"}"#);
        assert_eq!(scrubbed("a/b", r"a\u00/b \"), r"a\u00/b \", "what is no escape is none");
    }

    #[test]
    fn a_header_with_a_key_is_replaced_as_a_whole() {
        let given: HeaderMap = HeaderMap::from_iter([
            ("x-request-id".parse().expect("a name"), HeaderValue::from_static("req sk-7f3a")),
            ("server".parse().expect("a name"), HeaderValue::from_static("s")),
        ]);
        let clean = keys("sk-7f3a").scrub_headers(given);
        assert_eq!((clean["x-request-id"].as_bytes(), clean["server"].as_bytes()), (&b"[key]"[..], &b"s"[..]));
    }

    #[test]
    fn a_key_is_not_shown_by_what_holds_it() {
        assert!(!format!("{:?}", keys("sk-7f3a")).contains("7f3a"));
    }

    /// JSON that writes some characters of a text as escapes that it does not need.
    fn written(text: &str, escaped: &[bool]) -> String {
        let chars = text.chars().zip(escaped.iter().cycle());
        let inner: String = chars
            .map(|(c, escape)| match (c, escape) {
                (_, true) => format!("\\u{:04x}", u32::from(c)),
                ('"' | '\\', false) => format!("\\{c}"),
                (c, false) => c.to_string(),
            })
            .collect();
        format!("{{\"x\": \"{inner}\", \"y\": 1}}")
    }

    proptest! {
        #[test]
        fn whatever_json_makes_of_a_key_it_is_found_and_what_is_left_is_json(
            key in "[!-~]{8,40}",
            before in "[ -~]{0,20}",
            after in "[ -~]{0,20}",
            escaped in prop::collection::vec(any::<bool>(), 1..50),
        ) {
            let reply = written(&format!("{before}{key}{after}"), &escaped);
            let clean = scrubbed(&key, &reply);
            let read: Value = serde_json::from_str(&clean).expect("still JSON");
            prop_assert!(!read["x"].as_str().expect("text").contains(&key), "{clean}");
            prop_assert_eq!(&read["y"], &json!(1));
            let nested = json!({"inner": reply}).to_string();
            let clean: Value = serde_json::from_str(&scrubbed(&key, &nested)).expect("still JSON");
            let inner: Value = serde_json::from_str(clean["inner"].as_str().expect("text")).expect("still JSON");
            prop_assert!(!inner["x"].as_str().expect("text").contains(&key));
        }

        #[test]
        fn replies_without_a_key_stay_as_they_are(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(keys("no-such-key").scrub(bytes.clone()), bytes);
        }
    }
}
