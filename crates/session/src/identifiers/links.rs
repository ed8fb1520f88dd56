//! Addresses, and Markdown links, whose text and target name the same thing once.

use std::ops::Range;

use super::{Form, Mention};

/// The longest link text that is looked at.
const MAX_LINK_TEXT: usize = 512;

/// The spans of addresses with a scheme. `file:` is none of them: it is a path.
pub(super) fn urls(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut urls: Vec<Range<usize>> = Vec::new();
    for (at, sign) in text.match_indices("://") {
        let scheme = bytes[..at].iter().rev().take(32).take_while(|b| b.is_ascii_alphanumeric() || **b == b'+').count();
        let start = at - scheme;
        if scheme == 0 || text[start..at].eq_ignore_ascii_case("file") || urls.last().is_some_and(|u| start < u.end) {
            continue;
        }
        let rest = &text[at + sign.len()..];
        let length = rest.find(|c: char| c.is_whitespace() || "\"'`<>()[]{}|\\".contains(c)).unwrap_or(rest.len());
        urls.push(start..at + sign.len() + length);
    }
    urls
}

/// A link's text and target.
struct Link {
    text: Range<usize>,
    target: Range<usize>,
}

fn links(text: &str) -> Vec<Link> {
    let bytes = text.as_bytes();
    let mut links = Vec::new();
    let mut last_end = 0;
    for (at, sign) in text.match_indices("](") {
        // Looking back only to the last link keeps the whole search linear.
        let from = last_end.max(at.saturating_sub(MAX_LINK_TEXT));
        let target = at + sign.len();
        last_end = target;
        let Some(open) = bytes[from..at].iter().rposition(|b| *b == b'[') else { continue };
        let ends = |b: &u8| matches!(b, b')' | b'(' | b'[' | b']' | b'\n' | b' ');
        let length = bytes[target..].iter().position(ends).unwrap_or(0);
        links.push(Link { text: from + open + 1..at, target: target..target + length });
    }
    links
}

/// Drops the mention in a link's text when its target names the same thing, with at least as much detail.
pub(super) fn merge_link_texts(text: &str, mentions: &mut Vec<Mention>) {
    let links = links(text);
    if links.is_empty() {
        return;
    }
    mentions.sort_by_key(|m| m.span.start);
    let mut kept = vec![true; mentions.len()];
    for link in &links {
        let within = |span: &Range<usize>| {
            let first = mentions.partition_point(|m| m.span.start < span.start);
            let length = mentions[first..].iter().take_while(|m| m.span.end <= span.end).count();
            first..first + length
        };
        let mut targets: Vec<usize> = within(&link.target).collect();
        for named in within(&link.text) {
            let same = targets.iter().position(|t| is_same(&mentions[named].form, &mentions[*t].form));
            if let Some(found) = same {
                targets.swap_remove(found);
                kept[named] = false;
            }
        }
    }
    let mut kept = kept.into_iter();
    mentions.retain(|_| kept.next().unwrap_or(true));
}

fn is_same(text: &Form, target: &Form) -> bool {
    match (text, target) {
        (Form::PrIssue { number: a, repo: left }, Form::PrIssue { number: b, repo: right }) => {
            a == b && (left.is_none() || left == right)
        }
        (Form::Path(a), Form::Path(b)) => a == b,
        (Form::Sha(short), Form::Sha(long)) => long.starts_with(short.as_str()),
        _ => false,
    }
}
