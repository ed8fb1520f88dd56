//! The alphabets of names and ids.

/// Letters, digits, `_` and `-`, at least one.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The same with `.` and `:`.
pub(super) fn is_dotted(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    !text.is_empty() && text.bytes().all(fits)
}

/// A function name of Gemini's: [`is_dotted`], beginning with a letter or `_`, at most 64 long.
pub(super) fn is_gemini(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && text.len() <= 64 && is_dotted(text)
}

/// Nine letters and digits.
pub(super) fn is_nine(text: &str) -> bool {
    text.len() == 9 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
