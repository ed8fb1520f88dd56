//! Commit hashes and digests.

use super::text::{after, before, is_after_escape, is_escape_letter, is_word};
use super::{Form, Mention};

/// The shortest abbreviation that counts.
pub(super) const SHORTEST: usize = 7;

/// The length of a commit hash.
const COMMIT: usize = 40;

/// The length of a SHA-256 digest.
const DIGEST: usize = 64;

/// How far the surroundings of a candidate are looked at.
const REACH: usize = 128;

/// Finds hashes: 7 to 40 or 64 hex digits between non-alphanumeric neighbours, with a digit and a letter among them, in
/// one case of letters.
pub(super) fn scan(text: &str, mentions: &mut Vec<Mention>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let mut start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        if start > 0 && bytes[start - 1] == b'\\' && is_escape_letter(bytes[start]) {
            start += 1;
        }
        if is_hash(&bytes[start..at]) && stands_alone(text, start, at) && !is_something_else(bytes, start, at) {
            mentions.push(Mention { span: start..at, form: Form::Sha(text[start..at].to_ascii_lowercase()) });
        }
    }
}

fn is_hash(run: &[u8]) -> bool {
    if !((SHORTEST..=COMMIT).contains(&run.len()) || run.len() == DIGEST) {
        return false;
    }
    let (mut digit, mut lower, mut upper) = (false, false, false);
    for byte in run {
        match byte {
            b'0'..=b'9' => digit = true,
            b'a'..=b'f' => lower = true,
            b'A'..=b'F' => upper = true,
            _ => return false,
        }
    }
    // Tools print one case of letters; a mixture is base64.
    digit && lower != upper
}

/// The neighbours that are not ASCII.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && is_word(c));
    (is_after_escape(text.as_bytes(), start) || !joins(before(text, start))) && !joins(after(text, end))
}

/// Colours, parts of UUIDs, and pieces of base64.
fn is_something_else(bytes: &[u8], start: usize, end: usize) -> bool {
    let previous = start.checked_sub(1).map(|i| bytes[i]);
    let next = bytes.get(end).copied();
    previous == Some(b'#')
        || ((previous == Some(b'-') || next == Some(b'-')) && is_part_of_uuid(bytes, start, end))
        || (previous == Some(b'-') && end - start != DIGEST && follows_integrity_prefix(&bytes[..start]))
        || ((is_base64_sign(previous) || is_base64_sign(next)) && is_part_of_base64(bytes, start, end))
}

const fn is_base64_sign(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'+' | b'/' | b'='))
}

/// Widens `start..end` over bytes that `belongs` accepts.
fn widen(bytes: &[u8], start: usize, end: usize, belongs: impl Fn(u8) -> bool) -> &[u8] {
    let left = bytes[..start].iter().rev().take(REACH).take_while(|b| belongs(**b)).count();
    let right = bytes[end..].iter().take(REACH).take_while(|b| belongs(**b)).count();
    &bytes[start - left..end + right]
}

fn is_part_of_uuid(bytes: &[u8], start: usize, end: usize) -> bool {
    let token = widen(bytes, start, end, |b| b.is_ascii_hexdigit() || b == b'-');
    let lengths: Vec<usize> = token.split(|b| *b == b'-').map(<[u8]>::len).collect();
    lengths.windows(5).any(|w| w == [8, 4, 4, 4, 12])
}

/// `sha512-` and its like, as lock files have them.
fn follows_integrity_prefix(before: &[u8]) -> bool {
    [&b"sha1-"[..], b"sha256-", b"sha384-", b"sha512-"].iter().any(|prefix| before.ends_with(prefix))
}

fn is_part_of_base64(bytes: &[u8], start: usize, end: usize) -> bool {
    let token = widen(bytes, start, end, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    let padded = token.ends_with(b"=");
    let body = token.split(|b| *b == b'=').find(|part| part.len() >= end - start).unwrap_or(token);
    // Short tokens are ordinary text, such as a path or `rev=abc1234`.
    body.len() >= 24 && (padded || body.contains(&b'+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        let mut mentions = Vec::new();
        scan(text, &mut mentions);
        mentions.len()
    }

    #[test]
    fn hashes_in_their_habitats() {
        for text in [
            "abc1234",
            "(abc1234)",
            "ABC1234",
            "index abc1234..def",
            "https://x/commit/abc1234",
            "rev=abc1234",
            "提交abc1234了",
            "+Subproject commit abc1234",
            r#""log\nabc1234 fix""#,
            "abc1234-dirty",
            "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef01234567",
        ] {
            assert_eq!(found(text), 1, "{text:?}");
        }
    }

    #[test]
    fn hex_that_is_no_hash() {
        for text in [
            "abc123",
            "deadbeef",
            "1234567",
            "defaced",
            "aBc1234",
            "xabc1234",
            "abc1234g",
            "éabc1234",
            "#a1b2c3d4",
            "0x1234abcd",
            "550e8400-e29b-41d4-a716-446655440000",
            "001a:2b3c:4d5e:6f70",
            "00:1a:2b:3c:4d:5e",
            "0123456789abcdef0123456789abcdef012345678",
            "sha512-1234abc+Q2hlY2tzdW0gb2YgdGhlIGZpbGU=",
            "Q2hlY2tzdW0gb2Yg/1234abcd/dGhlIGZpbGUgaXM==",
        ] {
            assert_eq!(found(text), 0, "{text:?}");
        }
    }
}
