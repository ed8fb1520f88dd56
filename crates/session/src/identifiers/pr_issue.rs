//! Pull requests and issues by number.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::text::{after, before, digits, is_word, tail};
use super::{Form, Mention};

/// Longer numbers are not issue numbers of any forge.
const MAX_DIGITS: usize = 9;

/// How far back an owner and repository, or a link's beginning, are looked for.
const REACH: usize = 256;

/// Numbers announced by a word. Boundaries are checked by hand, as the text may hold escaped newlines.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i-u)(?:(?:prs?|mrs?|issues?|pull\s+requests?|merge\s+requests?)\s+|gh-)([0-9]{1,10})")
});

/// Numbers in the address of a pull request or issue.
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?-u)/(?:pull|pulls|issues|merge_requests)/([0-9]{1,10})"));

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

/// Documents whose anchors may be numbers. Repositories are named like programs (`next.js`), seldom like these.
const ANCHORED_EXTENSIONS: [&str; 9] = ["md", "mdx", "html", "htm", "rst", "adoc", "txt", "pdf", "xml"];

/// Words before a colon that make `#123456` a colour.
const COLOUR_WORDS: [&str; 7] = ["color", "colour", "background", "fill", "stroke", "border", "shadow"];

/// Finds numbers; returns the addresses among them, which are no file paths.
pub(super) fn scan(text: &str, urls: &[Range<usize>], mentions: &mut Vec<Mention>) -> Vec<Range<usize>> {
    let mut addresses = Vec::new();
    for m in ADDRESS.captures_iter(text) {
        let (Some(whole), Some(number)) = (m.get(0), m.get(1)) else { continue };
        if !ends_well(text, number.end(), number.len()) || after(text, number.end()) == Some('-') {
            continue;
        }
        let head = address_head(text, whole.start());
        let start = whole.start() - head.len();
        mentions.push(mention(start..number.end(), number.as_str(), repo_of_address(head)));
        addresses.push(start..number.end());
    }
    let inside_url = |at: usize| {
        let next = urls.partition_point(|u| u.end <= at);
        urls.get(next).is_some_and(|u| u.start <= at)
    };
    for (at, sign) in text.match_indices(['#', '!']) {
        let number = digits(text, at + 1);
        if number.is_empty() || !ends_well(text, at + 1 + number.len(), number.len()) || inside_url(at) {
            continue;
        }
        let Some(start) = start_of_reference(text, at, sign) else { continue };
        if start.repo.is_none() && sign == "#" && is_colour(text, at, number.len()) {
            continue;
        }
        mentions.push(mention(start.at..at + 1 + number.len(), number, start.repo));
    }
    for m in NAMED.captures_iter(text) {
        let (Some(whole), Some(number)) = (m.get(0), m.get(1)) else { continue };
        let begins = before(text, whole.start()).is_none_or(|c| !is_word(c) && !matches!(c, '/' | '#' | '-'));
        if begins && ends_well(text, number.end(), number.len()) && !inside_url(whole.start()) {
            mentions.push(mention(whole.range(), number.as_str(), None));
        }
    }
    addresses
}

fn mention(span: Range<usize>, number: &str, repo: Option<String>) -> Mention {
    // The digits stay as written: #007 is not #7.
    Mention { span, form: Form::PrIssue { number: number.to_owned(), repo } }
}

/// A number ends where no word, decimal or file extension goes on.
fn ends_well(text: &str, end: usize, length: usize) -> bool {
    let mut rest = text[end..].chars();
    length <= MAX_DIGITS
        && match rest.next() {
            Some('.') => rest.next().is_none_or(|c| !c.is_ascii_alphanumeric()),
            Some(c) => !is_word(c),
            None => true,
        }
}

/// Where a reference begins, with the repository that may stand before its sign.
struct Reference {
    at: usize,
    repo: Option<String>,
}

fn start_of_reference(text: &str, at: usize, sign: &str) -> Option<Reference> {
    let bare = Some(Reference { at, repo: None });
    match before(text, at) {
        None => bare,
        Some('/' | '&' | '#' | '!' | '\\') => None,
        Some(c) if is_word(c) || matches!(c, '.' | '-') => repository_before(text, at),
        // An exclamation mark is a reference only where a word could begin.
        Some(c) if sign == "!" && !c.is_whitespace() && !matches!(c, '(' | '[' | ',') => None,
        Some(_) => bare,
    }
}

/// `owner/repo` right before a position, with nothing before it that would make it a path or an address.
fn repository_before(text: &str, at: usize) -> Option<Reference> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let head = tail(text, at, REACH);
    let name_start = head.rfind(|c: char| !part(c))?;
    let (rest, name) = (&head[..name_start], &head[name_start + 1..]);
    if !head[name_start..].starts_with('/') || name.is_empty() || looks_like_file(name) {
        return None;
    }
    let owner_start =
        rest.rfind(|c: char| !part(c)).map_or(0, |i| i + rest[i..].chars().next().map_or(1, char::len_utf8));
    let mut owner = &rest[owner_start..];
    let start = at - (head.len() - owner_start);
    let mut at = start;
    if text[..start].ends_with('\\') && owner.starts_with(['n', 'r', 't']) {
        owner = &owner[1..];
        at += 1;
    }
    let follows = text[..start].chars().next_back();
    if owner.is_empty() || owner.contains('.') || matches!(follows, Some('/' | ':' | '@' | '#')) {
        return None;
    }
    Some(Reference { at, repo: Some(format!("{owner}/{name}").to_lowercase()) })
}

/// `docs/guide.md#12` is an anchor in a file.
fn looks_like_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && ANCHORED_EXTENSIONS.contains(&extension))
}

/// The part of an address before `/pull/5`, back to where its token begins.
fn address_head(text: &str, at: usize) -> &str {
    let head = tail(text, at, REACH);
    let start = head.rfind(|c: char| c.is_whitespace() || "\"'`<>()[]{}|,;=\\".contains(c));
    start.map_or(head, |i| &head[i + head[i..].chars().next().map_or(1, char::len_utf8)..])
}

/// The last two segments before the kind of reference, when there is an owner and a repository.
fn repo_of_address(head: &str) -> Option<String> {
    let path = head.split_once("://").map_or(head, |(_, rest)| rest);
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty() && *s != "-").collect();
    let segments = match segments.as_slice() {
        [host, rest @ ..] if head.contains("://") || host.contains('.') => rest,
        all => all,
    };
    match segments {
        [.., owner, name] if *owner != "repos" => Some(format!("{owner}/{name}").to_lowercase()),
        _ => None,
    }
}

/// Whether a sign and digits are the value of a style property.
fn is_colour(text: &str, at: usize, length: usize) -> bool {
    if !matches!(length, 3 | 4 | 6 | 8) {
        return false;
    }
    let line = tail(text, at, 64);
    let declaration = line.rsplit(['\n', ';', '{', '}']).next().unwrap_or(line);
    let Some(sign) = declaration.rfind([':', '=']) else { return false };
    let property = declaration[..sign].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\'));
    let word = property.rsplit(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_')).next().unwrap_or(property);
    let word = word.to_lowercase();
    COLOUR_WORDS.iter().any(|w| word.contains(w))
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
                Form::PrIssue { number, repo } => Some(repo.map_or(number.clone(), |r| format!("{r}#{number}"))),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn every_way_to_write_a_number() {
        for (text, expect) in [
            ("#12", "12"),
            ("Fixes: #12.", "12"),
            ("GH-12", "12"),
            ("PR 12", "12"),
            ("pr #12", "12"),
            ("pull request 12", "12"),
            ("Pull\nRequest #12", "12"),
            ("issue 12", "12"),
            ("merged !12", "12"),
            ("Octo/Repo.js#12", "octo/repo.js#12"),
            ("group/project!12", "group/project#12"),
            ("https://github.com/o/r/pull/12/files#diff-1", "o/r#12"),
            ("https://api.github.com/repos/o/r/issues/12", "o/r#12"),
            ("https://git.example/a/b/c/-/merge_requests/12", "b/c#12"),
            ("github.com/o/r/pull/12", "o/r#12"),
            ("refs/pull/12/head", "12"),
            (r#"{"body":"first\n#12"}"#, "12"),
            (r#"{"body":"x\nPR 12\n"}"#, "12"),
            (r#"{"body":"x\no/r#12"}"#, "o/r#12"),
        ] {
            assert_eq!(found(text), [expect], "{text:?}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number() {
        for text in [
            "abc#12",
            "&#12;",
            "##12",
            "/#12",
            "# 12",
            "#12ab",
            "#1.5",
            "docs/guide.md#12",
            "a/b/c#12",
            "x != 12",
            "done!12",
            "spr 12",
            "issues/12.md",
            "see issues/5-fix/x",
            "color: #123456",
            "\"background\": \"#123\"",
            "<a style='border: 1px solid #123456'>",
            "#1234567890",
            "tissue 12",
        ] {
            assert!(found(text).is_empty(), "{text:?}: {:?}", found(text));
        }
    }
}
