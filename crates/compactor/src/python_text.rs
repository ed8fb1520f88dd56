//! JSON as Python writes the value (`str(dict)`), which is how ADK puts results and arguments into a
//! transcript. Line breaks inside strings become the two characters `\n`, so no line can be forged.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::rewrite::Rewrite;
use crate::scan;
use crate::tracked::Tracked;

/// Writes a tool result as ADK does: an object as Python's dict, anything else as the text of
/// `{'result': ...}`. What of the text stays as it was stays known.
pub(crate) fn result(text: &mut Tracked) {
    let is_object = is_object(text.text());
    text.rewrite(|text, written| match is_object {
        true => object(text, written),
        false => {
            let quote = quote_for(text);
            written.replace(0..0, &format!("{{'result': {quote}"));
            escape(text, quote, written);
            written.replace(text.len()..text.len(), &format!("{quote}}}"));
        }
    });
}

/// Arguments as Python's dict; what is no JSON object stays as it is.
pub(crate) fn arguments(arguments: &str) -> String {
    if !is_object(arguments) {
        return arguments.to_owned();
    }
    let mut text = Tracked::own(arguments);
    text.rewrite(object);
    text.into_parts().0
}

/// Whether `text` is a JSON object. Nothing is made of it: results can be large.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Python prefers single quotes, unless only double ones need no escape.
fn quote_for(text: &str) -> char {
    if text.contains('\'') && !text.contains('"') { '"' } else { '\'' }
}

/// Writes `text` as it stands inside a Python string.
fn escape(text: &str, quote: char, written: &mut Rewrite<'_>) {
    // The first byte of a longer character that may be a control is 0xc2.
    let quote_byte = quote as u8;
    let may_be_escaped = |byte| byte < b' ' || byte == b'\\' || byte == quote_byte || byte == 0x7f || byte == 0xc2;
    for at in scan::places(text, may_be_escaped) {
        if let Some(c) = text[at..].chars().next()
            && let Some(with) = escaped(c, quote)
        {
            written.replace(at..at + c.len_utf8(), &with);
        }
    }
}

fn escaped(c: char, quote: char) -> Option<Cow<'static, str>> {
    match c {
        '\\' => Some("\\\\".into()),
        '\n' => Some("\\n".into()),
        '\r' => Some("\\r".into()),
        '\t' => Some("\\t".into()),
        '\'' if c == quote => Some("\\'".into()),
        '"' if c == quote => Some("\\\"".into()),
        _ if c.is_control() => Some(match u32::from(c) {
            code @ 0..=0xff => format!("\\x{code:02x}").into(),
            code => format!("\\u{code:04x}").into(),
        }),
        _ => None,
    }
}

/// Writes valid JSON as Python text: quotes, escapes, constants and the space around punctuation.
fn object(json: &str, written: &mut Rewrite<'_>) {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let (len, with) = match byte {
            b'"' => {
                at = string(json, at, written);
                continue;
            }
            b' ' | b'\n' | b'\r' | b'\t' => (1, ""),
            b',' => (1, ", "),
            b':' => (1, ": "),
            b't' => (4, "True"),
            b'f' => (5, "False"),
            b'n' => (4, "None"),
            _ => {
                at += 1;
                continue;
            }
        };
        written.replace(at..at + len, with);
        at += len;
    }
}

/// Writes the string that opens at `start`; returns where it ends.
fn string(json: &str, start: usize, written: &mut Rewrite<'_>) -> usize {
    let bytes = json.as_bytes();
    let mut end = start + 1;
    while bytes.get(end).is_some_and(|byte| *byte != b'"') {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let value = serde_json::from_str::<String>(&json[start..=end]).unwrap_or_default();
    let quote = quote_for(&value);
    let mark = if quote == '"' { "\"" } else { "'" };
    written.replace(start..start + 1, mark);
    let mut at = start + 1;
    while at < end {
        let rest = &json[at..end];
        let (len, c) = match rest.strip_prefix('\\') {
            Some(behind) => unescaped(behind),
            None => match rest.chars().next() {
                Some(c) => (c.len_utf8(), Some(c)),
                None => break,
            },
        };
        let is_escape = rest.starts_with('\\');
        match c.and_then(|c| escaped(c, quote)) {
            Some(text) => written.replace(at..at + len, &text),
            None if is_escape => written.replace(at..at + len, &c.map(String::from).unwrap_or_default()),
            None => {}
        }
        at += len;
    }
    written.replace(end..end + 1, mark);
    end + 1
}

/// Length of a JSON escape, its backslash included, and the character it stands for.
fn unescaped(behind: &str) -> (usize, Option<char>) {
    let code = |text: &str| text.get(1..5).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match behind.as_bytes().first() {
        Some(b'n') => (2, Some('\n')),
        Some(b'r') => (2, Some('\r')),
        Some(b't') => (2, Some('\t')),
        Some(b'b') => (2, Some('\u{8}')),
        Some(b'f') => (2, Some('\u{c}')),
        Some(b'u') => match (code(behind), behind.get(5..).and_then(|rest| rest.strip_prefix('\\')).and_then(code)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                (12, char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
            }
            (single, _) => (6, single.and_then(char::from_u32)),
        },
        Some(byte) => (2, Some(char::from(*byte))),
        None => (1, None),
    }
}

#[cfg(test)]
mod tests {
    use super::{arguments, result};
    use crate::tracked::{Origin, Tracked};

    fn shown(text: &str) -> String {
        let mut tracked = Tracked::default();
        tracked.push_copied(text, Origin { turn: 0, part: 0 });
        result(&mut tracked);
        for run in tracked.runs() {
            assert_eq!(tracked.text()[run.at..run.at + run.len], text[run.from..run.from + run.len]);
        }
        tracked.text().to_owned()
    }

    #[test]
    fn results_are_what_python_writes() {
        assert_eq!(shown("a\n[USER]: yes\tä"), r"{'result': 'a\n[USER]: yes\tä'}");
        assert_eq!(shown("it's"), r#"{'result': "it's"}"#);
        assert_eq!(shown("it's \"so\""), r#"{'result': 'it\'s "so"'}"#);
        assert_eq!(shown("\u{1}\\"), r"{'result': '\x01\\'}");
        assert_eq!(shown("[1]"), "{'result': '[1]'}");
        assert_eq!(shown(""), "{'result': ''}");
        assert_eq!(shown("{\"a\":true,\n \"b\" : [null,1.5,\"x\\ny\"]}"), r"{'a': True, 'b': [None, 1.5, 'x\ny']}");
        assert_eq!(
            shown(r#"{"q": "it's", "u": "\u00e4\ud83e\udd80\/\"", "e": {}}"#),
            r#"{'q': "it's", 'u': 'ä🦀/"', 'e': {}}"#
        );
    }

    #[test]
    fn arguments_that_are_no_object_stay() {
        assert_eq!(arguments("{\"path\": \"a/b\"}"), "{'path': 'a/b'}");
        assert_eq!(arguments("{\"path\": \"a/"), "{\"path\": \"a/");
    }
}
