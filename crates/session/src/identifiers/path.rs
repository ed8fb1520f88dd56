//! File paths: which tokens are paths, and the one spelling they are compared in.
//!
//! Without a file system a path can only be guessed. The rules below want an extension, a file name known without one, or
//! a directory known by name; `and/or`, `TCP/IP`, dates and fractions have none of these.

use std::ops::Range;

use super::text::{before, is_escape_letter, is_unspaced_script};
use super::vocabulary::{DIRECTORIES, EXTENSIONS, NAMES, NOT_FILES, ROOTS, TOP_LEVEL, VENDORED};
use super::{Form, Mention};

/// The longest quoted path with spaces.
const MAX_QUOTED: usize = 200;

/// Whether a name ends like a file, without its dot.
pub(super) fn is_known_extension(extension: &str) -> bool {
    if extension.bytes().any(|b| b.is_ascii_uppercase()) {
        let lower = extension.to_ascii_lowercase();
        return EXTENSIONS.contains(&lower.as_str());
    }
    EXTENSIONS.contains(&extension)
}

/// Whether a canonical path lies in code that is not the project's own.
pub(super) fn is_vendored(canonical: &str) -> bool {
    canonical.split('/').any(|segment| VENDORED.contains(&segment))
}

/// Finds paths outside the `taken` spans, which are addresses.
pub(super) fn scan(text: &str, taken: &[Range<usize>], mentions: &mut Vec<Mention>) {
    Scanner { text, taken, mentions, in_diff_header: is_diff_header(text) }.run();
}

struct Scanner<'a> {
    text: &'a str,
    taken: &'a [Range<usize>],
    mentions: &'a mut Vec<Mention>,
    in_diff_header: bool,
}

/// What the token so far has between its segments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separators {
    NoSlash,
    Slashes,
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || !byte.is_ascii()
}

impl Scanner<'_> {
    fn run(&mut self) {
        let text = self.text;
        let mut start = 0;
        let mut at = 0;
        let mut separators = Separators::NoSlash;
        loop {
            // Most bytes are letters in the middle of a token, where nothing is decided.
            at += text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let Some(c) = text[at..].chars().next() else { break };
            let next = at + c.len_utf8();
            if c == '\\' && self.is_escape(start, at, separators) {
                self.token(start, at);
                at = next + 1;
                start = at;
                self.in_diff_header = is_diff_header(&text[at..]);
                separators = Separators::NoSlash;
                continue;
            }
            if c == '/' {
                separators = Separators::Slashes;
            }
            if !is_delimiter(c) && !self.leaves_word(start, at, c) {
                at = next;
                continue;
            }
            self.token(start, at);
            at = next;
            start = at;
            separators = Separators::NoSlash;
            match c {
                '\n' => self.in_diff_header = is_diff_header(&text[at..]),
                '"' | '\'' | '`' => {
                    if let Some(end) = self.quoted(at, c) {
                        at = end;
                        start = end;
                    }
                }
                _ => {}
            }
        }
        self.token(start, text.len());
    }

    /// Whether a backslash starts an escaped line break, as in recorded call arguments, and not a Windows segment.
    fn is_escape(&self, start: usize, at: usize, separators: Separators) -> bool {
        let bytes = self.text.as_bytes();
        if !bytes.get(at + 1).is_some_and(|b| is_escape_letter(*b)) {
            return false;
        }
        let token = &self.text[start..at];
        let follows = &bytes[at + 1..];
        if separators == Separators::Slashes
            || token.bytes().all(|b| b == b'\\')
            // One escape after the other, or a line of a listing or diff: no segment is called that.
            || matches!(follows.get(1), Some(b'\\' | b'-' | b'+'))
            || is_diff_header(&self.text[at + 2..])
        {
            return true;
        }
        let is_drive = token.as_bytes().get(1) == Some(&b':') && token.as_bytes()[0].is_ascii_alphabetic();
        if is_drive {
            return false;
        }
        // `src\new\a.rs` and `src\new.rs` go on; so may the next line of a text, but seldom with a separator or extension.
        let ends_file = |name: &str| {
            name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && is_known_extension(extension))
        };
        let length = follows.iter().take_while(|b| is_name_byte(**b)).count();
        let goes_on =
            follows.get(length) == Some(&b'\\') || ends_file(self.text[at + 1..at + 1 + length].trim_end_matches('.'));
        let token = token.trim_end_matches('\\');
        let name = token.rsplit('\\').next().unwrap_or(token);
        !goes_on || token.ends_with([':', '.']) || ends_file(name)
    }

    /// An ideograph belongs to a segment that began with one; anywhere else it ends the token.
    fn leaves_word(&self, start: usize, at: usize, c: char) -> bool {
        if c.is_ascii() || !is_unspaced_script(c) {
            return false;
        }
        let previous = self.text[start..at].chars().next_back();
        !previous.is_some_and(|p| p == '/' || p == '\\' || is_unspaced_script(p))
    }

    fn token(&mut self, start: usize, end: usize) {
        let token = &self.text[start..end];
        // Every path has one of these, and most tokens have none.
        if token.len() < 3 || !token.bytes().any(|b| matches!(b, b'/' | b'\\' | b'.')) {
            return;
        }
        let next = self.taken.partition_point(|t| t.end <= start);
        if self.taken.get(next).is_some_and(|t| t.start < end) || self.is_remainder(start, end) {
            return;
        }
        let Some(token) = without_emphasis(token) else { return };
        if let Some(file) = token.strip_prefix("file://") {
            let windows = file.as_bytes().get(2) == Some(&b':');
            self.pieces(if windows { &file[1..] } else { file }, start..end);
        } else if !token.contains("://") {
            self.pieces(token, start..end);
        }
    }

    /// What is left beside a placeholder or a redaction is no path: `/home/[REDACTED]/x.rs`.
    fn is_remainder(&self, start: usize, end: usize) -> bool {
        let token = &self.text[start..end];
        let follows = before(self.text, start).is_some_and(|c| matches!(c, ']' | '>' | ')'));
        let leads = self.text[end..].chars().next().is_some_and(|c| matches!(c, '[' | '<' | '('));
        (token.starts_with(['/', '\\']) && follows) || (token.ends_with(['/', '\\']) && leads)
            // A call: `response.json()`.
            || (!token.contains(['/', '\\']) && self.text[end..].starts_with('('))
    }

    /// `a.rs:10:3`, `HEAD:a.rs`, `C:\a.rs`: the parts between colons, a drive letter staying with its path.
    fn pieces(&mut self, token: &str, span: Range<usize>) {
        // A remote or mail address, and what follows its colon.
        if token.find('@').is_some_and(|i| i > 0 && !token[..i].contains(['/', '\\', ':'])) {
            return;
        }
        let bytes = token.as_bytes();
        let is_drive =
            bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\');
        let drive = if is_drive { &token[..2] } else { "" };
        for piece in token[drive.len()..].split(':') {
            let is_first = std::ptr::eq(piece.as_ptr(), token[drive.len()..].as_ptr());
            let drive = if is_first { drive } else { "" };
            if let Some(path) = canonical(drive, piece, self.in_diff_header) {
                self.mentions.push(Mention { span: span.clone(), form: Form::Path(path) });
            }
        }
    }

    /// A path with spaces, which only quotes can hold together; returns where its quotes end.
    fn quoted(&mut self, at: usize, quote: char) -> Option<usize> {
        let opens = self.text[..at - 1].chars().next_back();
        if opens.is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | '[' | '{' | '=' | ':' | ',' | '\\')) {
            return None;
        }
        let window = &self.text.as_bytes()[at..self.text.len().min(at + MAX_QUOTED)];
        let length = window.iter().position(|b| *b == quote as u8 || *b == b'\n')?;
        if window[length] != quote as u8 {
            return None;
        }
        let content = self.text[at..at + length].trim_end_matches('\\');
        if !content.contains(' ') {
            return None;
        }
        let drive = match content.as_bytes() {
            [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => &content[..2],
            _ => "",
        };
        if !is_spaced_path(content, drive) {
            return None;
        }
        let path = canonical(drive, &content[drive.len()..], self.in_diff_header)?;
        let end = at + length;
        self.mentions.push(Mention { span: at..end, form: Form::Path(path) });
        Some(end)
    }
}

/// Header lines of a diff name both sides as `a/...` and `b/...`.
fn is_diff_header(line: &str) -> bool {
    ["diff --git ", "--- a/", "--- \"a/", "+++ b/", "+++ \"b/", "Binary files "].iter().any(|h| line.starts_with(h))
}

/// Characters that no path holds outside quotes. `*`, `?`, braces and the ellipsis stay in the token, to spoil it.
fn is_delimiter(c: char) -> bool {
    match c {
        '.' | '/' | '\\' | '_' | '-' | ':' | '@' | '+' | '~' | '#' | '%' | '$' | '*' | '?' | '{' | '}' | '…' => false,
        c if c.is_ascii() => !c.is_ascii_alphanumeric(),
        c => {
            c.is_whitespace()
                || matches!(c, '\u{a1}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}'
                    | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}')
        }
    }
}

/// Takes Markdown's `**bold**` off; a star on one side only is a glob.
fn without_emphasis(token: &str) -> Option<&str> {
    let token = token.trim_end_matches(['.', ':', '?']);
    let inner = token.trim_start_matches('*');
    let stars = token.len() - inner.len();
    let inner = inner.strip_suffix(&"**********"[..stars.min(10)]).unwrap_or(inner);
    (!inner.contains('*')).then_some(inner)
}

fn is_spaced_path(content: &str, drive: &str) -> bool {
    let anchored = !drive.is_empty() || ["/", "./", "../", "~/"].iter().any(|a| content.starts_with(a));
    let Some(separator) = content.find(['/', '\\']) else { return false };
    let words: Vec<&str> = content.split(' ').collect();
    let ends_file = |word: &&str| {
        let word = word.trim_end_matches([',', ':', ';', '.']);
        word.rsplit_once('.').is_some_and(|(_, extension)| is_known_extension(extension))
    };
    (anchored || !content[..separator].contains(' '))
        && !content[drive.len()..]
            .contains(['<', '>', '|', '"', '*', '?', ';', '=', '&', '$', '(', ')', '{', '}', ':', ','])
        && words.iter().all(|w| !w.is_empty() && !w.starts_with('-'))
        && words.split_last().is_some_and(|(last, others)| ends_file(last) && !others.iter().any(ends_file))
}

/// The one spelling of a path, if `piece` is one.
fn canonical(drive: &str, piece: &str, in_diff_header: bool) -> Option<String> {
    // A fragment names a place in the file.
    let piece = piece.split('#').next().unwrap_or(piece);
    let piece = piece.trim_start_matches(['+', '-']).trim_end_matches(['.', ':', '?', '\\']);
    if piece.len() < 2 || piece.contains("...") || piece.contains(['*', '?', '{', '}', '…']) {
        return None;
    }
    if drive.is_empty() && has_escaped_sign(piece) {
        return None;
    }
    let piece = if in_diff_header {
        piece.strip_prefix("a/").or_else(|| piece.strip_prefix("b/")).unwrap_or(piece)
    } else {
        piece
    };
    let absolute = piece.starts_with(['/', '\\']);
    let anchored =
        absolute || !drive.is_empty() || ["./", "../", "~/", ".\\", "..\\"].iter().any(|a| piece.starts_with(a));
    let mut segments: Vec<&str> = Vec::new();
    for segment in piece.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if absolute => {}
            segment => segments.push(segment),
        }
    }
    // An address of mail or of a remote; a scope of packages begins with the sign, and so does a mention of a file.
    let first = segments.first_mut()?;
    match first.find('@') {
        Some(0) if DIRECTORIES.contains(&&first[1..]) => *first = &first[1..],
        Some(0) | None => {}
        Some(_) => return None,
    }
    // Outside Windows a backslash alone is seldom a separator, so it takes more than three words in a row.
    let last = segments.last()?;
    let is_odd = !anchored && piece.contains('\\') && !piece.contains('/');
    if !is_plausible(&segments, anchored) || (is_odd && !last.contains('.') && !DIRECTORIES.contains(&segments[0])) {
        return None;
    }
    let mut path = String::with_capacity(drive.len() + piece.len());
    path.push_str(drive);
    for (i, segment) in segments.iter().enumerate() {
        if i > 0 || absolute || !drive.is_empty() {
            path.push('/');
        }
        path.push_str(segment);
    }
    Some(path)
}

/// `\.` and `\/` belong to patterns, not to Windows.
fn has_escaped_sign(piece: &str) -> bool {
    piece.as_bytes().windows(2).any(|w| w[0] == b'\\' && matches!(w[1], b'.' | b'/' | b'+' | b'$' | b'-'))
        && !piece.starts_with(".\\")
        && !piece.starts_with("..\\")
}

fn is_plausible(segments: &[&str], anchored: bool) -> bool {
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return false };
    let has_letter = |s: &str| s.chars().any(char::is_alphabetic);
    let split = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    if segments.len() == 1 {
        return split.is_some_and(|(stem, extension)| is_bare_file(last, stem, extension, anchored));
    }
    if is_host(first) && !anchored {
        return false;
    }
    if split.is_some_and(|(_, extension)| is_extension(extension)) || NAMES.contains(last) {
        return true;
    }
    if !segments.iter().all(|s| has_letter(s)) {
        return false;
    }
    let joined = |s: &&str| has_letter(s) && s.contains(['_', '-', '.']);
    match segments.len() {
        2 => ROOTS.contains(first) || (anchored && DIRECTORIES.contains(first)),
        _ => segments.iter().any(|s| DIRECTORIES.contains(s)) || segments.iter().any(joined),
    }
}

fn is_bare_file(name: &str, stem: &str, extension: &str, anchored: bool) -> bool {
    is_known_extension(extension)
        && stem.chars().any(char::is_alphabetic)
        // `x.c` and `t.m` are fields more often than files.
        && (anchored || extension.len() > 1 || stem.chars().count() > 1)
        && !stem.ends_with('.')
        && !NOT_FILES.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Any short word may be an extension after a separator, but a single letter only if known.
fn is_extension(extension: &str) -> bool {
    is_known_extension(extension)
        || ((2..=8).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
            && extension.as_bytes()[0].is_ascii_alphabetic())
}

fn is_host(segment: &str) -> bool {
    segment.rsplit_once('.').is_some_and(|(name, top)| !name.is_empty() && TOP_LEVEL.contains(&top))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut mentions = Vec::new();
        scan(text, &[], &mut mentions);
        mentions
            .into_iter()
            .filter_map(|m| match m.form {
                Form::Path(path) => Some(path),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn one_spelling() {
        for (text, expect) in [
            ("./src/a.rs", "src/a.rs"),
            ("src//b/../a.rs.", "src/a.rs"),
            ("`src/a.rs`:", "src/a.rs"),
            ("**src/a.rs**", "src/a.rs"),
            ("src/a.rs:10:3", "src/a.rs"),
            ("src/a.rs#L10-L20", "src/a.rs"),
            ("src/a.rs?", "src/a.rs"),
            (r"src\a.rs", "src/a.rs"),
            (r"src\\a.rs", "src/a.rs"),
            (r"C:\src\new\a.rs:3", "C:/src/new/a.rs"),
            ("file:///home/u/a.rs", "/home/u/a.rs"),
            ("file:///C:/u/a.rs", "C:/u/a.rs"),
            ("../x/a.rs", "../x/a.rs"),
            ("/usr/local/bin", "/usr/local/bin"),
            ("~/notes.md", "~/notes.md"),
            ("HEAD:src/a.rs", "src/a.rs"),
            ("--file=src/a.rs", "src/a.rs"),
            ("main.rs", "main.rs"),
            ("docker/Dockerfile", "docker/Dockerfile"),
            ("crates/session/src/", "crates/session/src"),
            ("docs/über.md", "docs/über.md"),
            ("docs/说明.md", "docs/说明.md"),
            ("请看src/a.rs文件", "src/a.rs"),
            ("@src/a.rs", "src/a.rs"),
            ("node_modules/@types/node/index.d.ts", "node_modules/@types/node/index.d.ts"),
            ("\"docs/my file.md\"", "docs/my file.md"),
            (r#""C:\Program Files\Foo Bar\x.txt""#, "C:/Program Files/Foo Bar/x.txt"),
            (r#"{"cmd":"cat src/a.rs\ncd"}"#, "src/a.rs"),
            (r#"{\"path\":\"src/a.rs\"}"#, "src/a.rs"),
            (r#""edit:\nsrc/a.rs""#, "src/a.rs"),
            (r#""edit\nsrc/a.rs""#, "src/a.rs"),
            (r"src\new.rs", "src/new.rs"),
            (r"src/a.rs\\r\\n-rw", "src/a.rs"),
            (r"ls\n--- a/src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(found(text), [expect], "{text:?}");
        }
    }

    #[test]
    fn no_paths() {
        for text in [
            "and/or",
            "I/O",
            "1/2",
            "TCP/IP",
            "2026/11/13",
            "w/o",
            "read/write",
            "text/plain",
            "src/*.rs",
            "src/**/a.rs",
            "src/{a,b}.rs",
            "crates/session/*",
            "src/lon…/a.rs",
            ".../a.rs",
            "https://x.org/a/b.rs",
            "github.com/o/r",
            "git@github.com:o/r.git",
            "me@host.rs",
            "Node.js",
            "e.g. i.e.",
            "3.14",
            "response.json()",
            "/home/[REDACTED]/x.rs",
            "<root>/x.rs",
            r"\d+\.\w+",
            "s/foo/bar/g",
            "origin/main",
            "x.c",
            "don't",
            "v1.2/3.4",
            "/compact",
            "</div>",
            "a/b",
        ] {
            assert!(found(text).is_empty(), "{text:?}: {:?}", found(text));
        }
    }

    #[test]
    fn spaces_need_quotes_and_a_single_file() {
        assert_eq!(found("\"see src/a.rs and src/b.rs\""), ["src/a.rs", "src/b.rs"]);
        assert_eq!(found("docs/my file.md"), ["file.md"]);
        assert_eq!(found("'src/a.rs and b/c.rs'"), ["src/a.rs", "b/c.rs"]);
    }

    #[test]
    fn the_sides_of_a_diff() {
        let diff = "diff --git a/src/x.c b/src/x.c\n--- a/src/x.c\n+++ b/src/x.c\n@@ -1 +1 @@\n-see a/y.c\n";
        assert_eq!(found(diff), ["src/x.c", "src/x.c", "src/x.c", "src/x.c", "a/y.c"]);
    }
}
