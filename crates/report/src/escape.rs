//! Hostile text made harmless: one function for each place it is shown in.
//!
//! Names, planted text, model output and details may try to be a formula in a spreadsheet, markup in
//! Markdown or SVG, or to reorder what a reader sees. Every view passes text through here; numbers are
//! written as numbers and need none of it. Another target is another function on top of [`visible`].

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters a spreadsheet may take for the start of a formula, with their full-width twins.
const FORMULA: &[char] = &['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
/// Characters that mean something in Markdown, in tables or in the HTML inside it.
const MARKDOWN: &[char] = &['\\', '|', '`', '<', '>', '[', ']', '*', '_', '~', '#', '!', '&'];

/// Shows what does not print, or reorders what does, as `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, line and paragraph separators, bidi controls, zero-width characters and tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Text for a CSV cell: what a spreadsheet may run as a formula starts with `'`. Quoting is the writer's work.
pub fn csv(text: &str) -> String {
    let shown = visible(text);
    if text.trim_start_matches(' ').starts_with(FORMULA) { format!("'{shown}") } else { shown.into_owned() }
}

/// Text for running Markdown or a cell of a Markdown table.
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            // The backslash is doubled: Markdown would eat a single one before the brace.
            let _ = write!(escaped, "\\{}", c.escape_unicode());
            continue;
        }
        if MARKDOWN.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text for an XML or SVG element or attribute.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // Allowed in Rust strings, not in XML.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{csv, markdown, visible, xml};

    #[test]
    fn what_does_not_print_is_shown() {
        assert_eq!(visible("plain ↑ é"), "plain ↑ é");
        assert_eq!(visible("a\u{202e}b\r\n\u{1b}[31m\u{200b}"), "a\\u{202e}b\\u{d}\\u{a}\\u{1b}[31m\\u{200b}");
    }

    #[test]
    fn a_formula_is_text_in_a_spreadsheet() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "  =HYPERLINK(\"x\")", "＝1"] {
            assert_eq!(csv(text), format!("'{text}"));
        }
        assert_eq!(csv("\t=1"), "'\\u{9}=1");
        assert_eq!(csv("\rx"), "'\\u{d}x");
        assert_eq!(csv("hermes-0.19"), "hermes-0.19");
        assert_eq!(csv("a\nb"), "a\\u{a}b");
    }

    #[test]
    fn markup_is_text_in_markdown() {
        assert_eq!(markdown("a|b`c<img>[x](y)*_\\"), "a\\|b\\`c\\<img\\>\\[x\\](y)\\*\\_\\\\");
        assert_eq!(markdown("x\n\n# y\u{202e}"), "x\\\\u{a}\\\\u{a}\\# y\\\\u{202e}");
        assert_eq!(markdown("&lt;b"), "\\&lt;b");
    }

    #[test]
    fn markup_is_text_in_xml() {
        assert_eq!(xml("<a b='c'>\"&\u{0}\u{ffff}"), "&lt;a b=&apos;c&apos;&gt;&quot;&amp;\\u{0}\u{fffd}");
    }
}
