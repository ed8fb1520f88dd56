//! Repairs of JSON text that writers in the field produce and strict parsers refuse: lone
//! surrogates, `NaN` and `Infinity`, raw control characters inside strings, broken UTF-8.
//!
//! A repair never moves a bracket or a quote, so it cannot change who said what.

use std::borrow::Cow;

use memchr::memmem;

/// Text after its repair.
#[derive(Debug, PartialEq, Eq)]
pub struct Mended {
    /// The text; valid UTF-8, but not necessarily valid JSON.
    pub text: String,
    /// How many characters and tokens were replaced.
    pub replacements: usize,
}

/// Whether `bytes` hold an escape of the surrogate range, alone or in a pair: parsers that skip over
/// a string do not look at it, so it has to be found beforehand.
pub fn has_surrogate_escape(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\\ud").is_some() || memmem::find(bytes, b"\\uD").is_some()
}

/// `bytes` without a byte-order mark, and without blanks and NUL bytes at either end.
pub fn trim(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0);
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// Repairs `bytes`: a lone surrogate escape becomes the escape of U+FFFD, a bare `NaN` or `Infinity`
/// becomes `null`, a raw control character in a string becomes its escape, broken UTF-8 becomes U+FFFD.
pub fn mend(bytes: &[u8]) -> Mended {
    let lossy = String::from_utf8_lossy(bytes);
    let mut replacements = match &lossy {
        Cow::Borrowed(_) => 0,
        Cow::Owned(text) => text.matches('\u{FFFD}').count(),
    };
    let source = lossy.as_bytes();
    let mut out = Vec::with_capacity(source.len() + 16);
    let mut in_string = false;
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        let (taken, replacement) = if in_string { string_piece(&source[at..]) } else { bare_piece(&source[at..]) };
        in_string ^= byte == b'"';
        match replacement {
            Some(replacement) => {
                replacements += 1;
                out.extend_from_slice(replacement.as_bytes());
            }
            None => out.extend_from_slice(&source[at..at + taken]),
        }
        at += taken;
    }
    // Replacements are ASCII and taken whole, so the text stays UTF-8.
    Mended { text: String::from_utf8(out).unwrap_or_default(), replacements }
}

/// Length of the piece at the start of `rest`, inside a string, and what to put in its place.
fn string_piece(rest: &[u8]) -> (usize, Option<String>) {
    match rest {
        [b'\\', b'u', ..] => match escaped(rest) {
            Some(0xD800..=0xDBFF) if matches!(escaped(&rest[6..]), Some(0xDC00..=0xDFFF)) => (12, None),
            Some(0xD800..=0xDFFF) => (6, Some("\\ufffd".to_owned())),
            _ => (2, None),
        },
        [b'\\', _, ..] => (2, None),
        [control @ 0..=0x1F, ..] => (1, Some(format!("\\u{control:04x}"))),
        // A quote, or a backslash at the very end.
        [b'"', ..] | [b'\\'] => (1, None),
        // As far as nothing needs a look.
        _ => {
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
            (plain.unwrap_or(rest.len()), None)
        }
    }
}

/// Length of the piece at the start of `rest`, outside of strings, and what to put in its place.
fn bare_piece(rest: &[u8]) -> (usize, Option<String>) {
    for token in ["-Infinity", "Infinity", "NaN"] {
        if rest.starts_with(token.as_bytes()) {
            return (token.len(), Some("null".to_owned()));
        }
    }
    (1, None)
}

/// The code unit of the `\uXXXX` escape at the start of `rest`.
fn escaped(rest: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = rest else { return None };
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// The beginning `text` of a JSON document as a document of its own: cut behind its last complete
/// value, with all brackets closed. `None` where no value begins.
pub fn close(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut safe = None;
    let (mut in_string, mut escape) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escape => escape = false,
            b'\\' if in_string => escape = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                open.push(if byte == b'{' { '}' } else { ']' });
                safe = Some(at + 1);
            }
            b'}' | b']' => {
                open.pop();
                safe = Some(at + 1);
            }
            b',' => safe = Some(at),
            _ => {}
        }
    }
    let mut closed = text[..safe?].to_owned();
    closed.extend(open.iter().rev());
    Some(closed)
}

#[cfg(test)]
mod tests {
    use super::{close, has_surrogate_escape, mend, trim};

    fn mended(text: &str) -> (String, usize) {
        let mended = mend(text.as_bytes());
        (mended.text, mended.replacements)
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        assert_eq!(mended(r#""a\ud83d\ude00b""#), (r#""a\ud83d\ude00b""#.to_owned(), 0));
        assert_eq!(mended(r#""a\udc88b""#), (r#""a\ufffdb""#.to_owned(), 1));
        assert_eq!(mended(r#""\uD83D\uD83D\uDE00""#), (r#""\ufffd\uD83D\uDE00""#.to_owned(), 1));
        assert_eq!(mended(r#""\ud83d\n""#), (r#""\ufffd\n""#.to_owned(), 1));
        // An escaped backslash before `ud800` is no escape of a surrogate.
        assert_eq!(mended(r#""\\ud800""#), (r#""\\ud800""#.to_owned(), 0));
        assert_eq!(mended(r#""\"#), (r#""\"#.to_owned(), 0));
        assert!(has_surrogate_escape(br"\uD83D") && !has_surrogate_escape(br"\u00d8"));
    }

    #[test]
    fn numbers_of_python_become_null_outside_of_strings_only() {
        assert_eq!(
            mended(r#"{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \" NaN"}"#),
            (r#"{"a":null,"b":[null,null],"c":"NaN \" NaN"}"#.to_owned(), 3)
        );
    }

    #[test]
    fn raw_control_characters_survive_as_escapes() {
        assert_eq!(mended("{\"a\":\"x\u{0}y\tz\"}"), (r#"{"a":"x\u0000y\u0009z"}"#.to_owned(), 2));
    }

    #[test]
    fn broken_utf8_is_replaced() {
        let mended = mend(b"\"a\xFFb\"");
        assert_eq!((mended.text.as_str(), mended.replacements), ("\"a\u{FFFD}b\"", 1));
    }

    #[test]
    fn blanks_nul_bytes_and_byte_order_mark_are_trimmed() {
        assert_eq!(trim(b"\xEF\xBB\xBF \0\0{}\0\r\n"), b"{}");
        assert_eq!(trim(b"\0\0"), b"");
    }

    #[test]
    fn a_beginning_is_closed_behind_its_last_complete_value() {
        let whole = r#"{"a":[1,{"b":"x,]}","c":2}],"d":"e"}"#;
        for end in 1..=whole.len() {
            let closed = close(&whole[..end]).expect("begins");
            assert!(serde_json::from_str::<serde_json::Value>(&closed).is_ok(), "{closed}");
        }
        assert_eq!(close(&whole[..whole.len() - 2]).as_deref(), Some(r#"{"a":[1,{"b":"x,]}","c":2}]}"#));
        assert_eq!(close(whole).as_deref(), Some(whole));
        assert_eq!(close("hello"), None);
    }
}
