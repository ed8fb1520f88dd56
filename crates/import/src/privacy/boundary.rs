//! Where words begin and end in text that may be escaped: in `\nghp_...` the `n` is no part of the word.

/// Whether a word may start at byte `at`.
pub(super) fn starts_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    match before {
        [] => true,
        [.., last] if !is_word(*last) => true,
        // The letter of an escape, where the number of backslashes is odd or the text is escaped twice.
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => true,
        // An escaped byte of an address.
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        // The end of a colour.
        [.., digit, b'm'] => (digit.is_ascii_digit() || *digit == b'[') && has_escape(before),
        _ => false,
    }
}

/// Whether a colour of a terminal ends here: `ESC [ 0 ; 32 m`, also where the escape is written out.
fn has_escape(before: &[u8]) -> bool {
    let codes =
        before[..before.len() - 1].iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    before[..before.len() - 1 - codes].ends_with(b"[")
}

/// Whether a word may end at byte `at`.
pub(super) fn ends_word(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_none_or(|next| !is_word(*next))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The last character boundary up to byte `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::{ends_word, starts_word};

    #[test]
    fn words_in_escaped_text() {
        for (text, at, wanted) in [
            ("key", 0, true),
            ("akey", 1, false),
            (" key", 1, true),
            ("\\nkey", 2, true),
            ("x%3Dkey", 4, true),
            ("x3Dkey", 3, false),
            ("\u{1b}[32mkey", 5, true),
            ("\\u001b[0;1mkey", 11, true),
            ("5mkey", 2, false),
            ("_key", 1, false),
        ] {
            assert_eq!(starts_word(text, at), wanted, "{text}");
        }
        assert!(ends_word("key", 3) && ends_word("key.", 3) && !ends_word("key_", 3) && !ends_word("key1", 3));
    }
}
