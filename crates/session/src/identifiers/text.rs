//! What stands between identifiers: text without terminal noise, and where a word begins and ends.

use std::borrow::Cow;

/// Drops ANSI escapes, carriage returns and zero-width characters, which split identifiers without being seen.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    // Lead bytes of the zero-width characters below; most texts have none of these and are taken as they are.
    if !text.bytes().any(|b| matches!(b, 0x1b | b'\r' | 0xc2 | 0xe2 | 0xef)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            // A progress bar overwrites its line: what follows is other text.
            '\r' => out.push('\n'),
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            // Parameters, then one final byte.
            while let Some(c) = chars.next_if(|c| c.is_ascii() && !c.is_ascii_control()) {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        Some(']') => {
            // A title or link, up to BEL or ESC \. An unfinished one ends with its line.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        _ => {}
    }
}

/// Scripts written without spaces, where a neighbour is no part of an identifier.
pub(super) const fn is_unspaced_script(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character continues a word.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() && !is_unspaced_script(c) }
}

/// The character before a position. The n of an escaped newline, as recorded call arguments have it, is none.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    if is_after_escape(text.as_bytes(), at) { None } else { text[..at].chars().next_back() }
}

/// The character at a position.
pub(super) fn after(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

/// Whether `\n`, `\r` or `\t`, spelled with a backslash, ends at a position.
pub(super) fn is_after_escape(bytes: &[u8], at: usize) -> bool {
    at >= 2 && bytes[at - 2] == b'\\' && is_escape_letter(bytes[at - 1])
}

pub(super) const fn is_escape_letter(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't')
}

/// The part of `text` up to `at`, at most about `reach` bytes of it.
pub(super) fn tail(text: &str, at: usize, reach: usize) -> &str {
    let mut start = at.saturating_sub(reach);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..at]
}

/// The run of ASCII digits at a position.
pub(super) fn digits(text: &str, at: usize) -> &str {
    let length = text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    &text[at..at + length]
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn noise_is_dropped_and_text_is_kept() {
        for (raw, clear) in [
            ("plain #1", "plain #1"),
            ("\u{1b}[31msrc/a.rs\u{1b}[0m:1\r\n", "src/a.rs:1\n"),
            ("50%\r100%", "50%\n100%"),
            ("#12\u{200b}34 \u{feff}x", "#1234 x"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ end", "link end"),
            ("cut \u{1b}", "cut "),
            ("é “quoted” …", "é “quoted” …"),
        ] {
            assert_eq!(clean(raw), clear, "{raw:?}");
        }
    }
}
