//! Whether a value looks like a secret: random, and not a word, a name, a path or a placeholder.

use super::pseudonym::holds_one;

/// Shannon entropy of `text` in bits a character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len().max(1) as f64;
    let bits = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    -bits.map(|share| share * share.log2()).sum::<f64>()
}

/// Words of values that are written down to be replaced.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "xxxx",
    "your",
    "placeholder",
    "dummy",
    "redacted",
    "changeme",
    "change-me",
    "change_me",
    "replace",
    "insert",
    "fake",
    "sample",
    "todo",
    "****",
    "....",
    "none",
    "null",
    "undefined",
    "foobar",
    "abcdefgh",
    "12345678",
];

/// Whether someone wrote the value to stand for another.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '%', '<', '{', '[', '('])
        || holds_one(value)
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Whether what a key, token or secret is set to is one.
pub(super) fn is_key(value: &str) -> bool {
    let long = value.len() >= 16;
    long && has_digit(value) && has_letter(value) && !is_placeholder(value) && !is_wordy(value) && entropy(value) >= 3.0
}

/// Whether what a password is set to is one: it may be short, and is seldom random.
pub(super) fn is_password(value: &str) -> bool {
    const SYMBOLS: &[char] = &['!', '@', '#', '$', '%', '^', '&', '*', '?', '~'];
    value.len() >= 8
        && has_digit(value)
        && has_letter(value)
        && !is_placeholder(value)
        && (value.contains(SYMBOLS) || value.bytes().all(|byte| byte.is_ascii_alphanumeric()) || !is_wordy(value))
}

/// Whether all pieces of a value are words, numbers or very short: names, paths, versions and dates are.
fn is_wordy(value: &str) -> bool {
    let pieces = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty());
    let mut words = 0;
    for piece in pieces {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        let word = digits == 0 && is_word(piece);
        if !(word || digits == piece.len() || piece.len() <= 4 || is_numbered_word(piece)) {
            return false;
        }
        words += 1;
    }
    words > 0
}

/// Letters as words have them: one case, a capital in front, or camel case with few humps.
fn is_word(piece: &str) -> bool {
    let humps = piece.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase());
    humps.count() * 3 <= piece.len() || piece.len() <= 4
}

/// A word with a number behind it, such as `sha256` or `db01`.
fn is_numbered_word(piece: &str) -> bool {
    let word = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = piece.len() - word.len();
    number <= 8 && word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_word(word)
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

fn has_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether `text` is Base64 of `user:password`.
pub(super) fn is_basic_credentials(text: &str) -> bool {
    decoded(text).is_some_and(|bytes| {
        bytes.contains(&b':') && bytes.len() >= 4 && bytes.iter().all(|byte| (0x20..0x7F).contains(byte))
    })
}

/// Base64 decoded; `None` where it is none.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).unwrap_or_default());
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{entropy, is_basic_credentials, is_key, is_password};

    #[test]
    fn entropy_of_known_texts() {
        assert!(entropy("") == 0.0 && entropy("aaaa") == 0.0);
        assert!((entropy("abcd") - 2.0).abs() < 1e-9);
    }

    #[test]
    fn keys_are_told_from_names() {
        for key in
            ["wJalrXUtnFEMIK7MDENGbPxRfiCYzq9Tk3mVd2aB", "9f86d081884c7d659a2feaa0c55ad015", "a8Kd-93jf_Qm2xLpZ7tR"]
        {
            assert!(is_key(key), "{key}");
        }
        for other in [
            "process.env.API_KEY_2",
            "claude-3-5-sonnet-20241022",
            "my-app-prod-secret-1",
            "/run/secrets/db1_password",
            "getAccessTokenFromServer2",
            "your-api-key-goes-here-1",
            "${OPENAI_API_KEY_1234}",
            "2026-01-05T10:00:00",
            "short1",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxx1",
        ] {
            assert!(!is_key(other), "{other}");
        }
        assert!(is_password("Tr0ub4dor&3") && is_password("hunter22!") && is_password("x9Kq2LmP"));
        assert!(!is_password("password") && !is_password("string") && !is_password("changeme123"));
    }

    #[test]
    fn basic_credentials() {
        assert!(is_basic_credentials("dXNlcjpwYXNzMQ=="));
        assert!(!is_basic_credentials("aGVsbG8gd29ybGQ=") && !is_basic_credentials("knowledge of things"));
    }
}
