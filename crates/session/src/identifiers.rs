//! The names a session works with: pull requests and issues, file paths, commit hashes.
//!
//! A summary that loses them loses the thread, so their recall is the fidelity measure of the published study. What is
//! here is pure text in, names out: [`Identifiers::scan`] counts them, [`found_in`] asks which of a transcript's names a
//! summary still holds, [`Identifiers::unknown_to`] which names a summary made up. The caller leaves planted text out,
//! and everything that is not the summarizer's own words.
//!
//! Matching is strict: a path is its whole canonical path, a number its digits as written, a hash any prefix of at least
//! seven digits that no other hash of the transcript shares. All scanning is linear in the text.

mod links;
mod path;
mod pr_issue;
mod sha;
mod text;
mod vocabulary;

use std::collections::BTreeMap;
use std::ops::Range;

/// What an identifier names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IdentifierKind {
    /// A pull request, merge request or issue.
    PrIssue,
    /// A file or directory.
    Path,
    /// A commit hash or digest.
    Sha,
}

impl IdentifierKind {
    /// The kinds of the published definition.
    pub const PUBLISHED: &'static [Self] = &[Self::PrIssue, Self::Path, Self::Sha];

    /// The stable identifier used in files and tables.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::PrIssue => "pr-issue",
            Self::Path => "path",
            Self::Sha => "sha",
        }
    }
}

/// Whether a path is of the project itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provenance {
    /// The project's own, or not a path.
    Own,
    /// Under a directory of other people's code, such as `node_modules`.
    Vendored,
}

/// One identifier in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identifier {
    /// What it names.
    pub kind: IdentifierKind,
    /// The digits of a number as written, the whole path, the longest form of a hash in lower case.
    pub canonical: String,
    /// `owner/repo` of a number, in lower case, where the text tells it.
    pub repo: Option<String>,
    /// Whether a path is of the project itself.
    pub provenance: Provenance,
    /// The length from which a prefix of a hash names no other one; 0 for other kinds.
    shortest_prefix: usize,
}

/// A form of an identifier as found in a text.
#[derive(Debug)]
enum Form {
    PrIssue { number: String, repo: Option<String> },
    Path(String),
    Sha(String),
}

/// A form and where it stands.
#[derive(Debug)]
struct Mention {
    span: Range<usize>,
    form: Form,
}

/// An identifier with the number of its mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    identifier: Identifier,
    count: usize,
}

/// All identifiers of some texts, with counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers {
    /// By kind, canonical form and repository.
    entries: Vec<Entry>,
    /// Mentions by digits and repository, as found.
    numbers: BTreeMap<String, BTreeMap<Option<String>, usize>>,
    /// Mentions by canonical path.
    paths: BTreeMap<String, usize>,
    /// Mentions by hash, abbreviated or not.
    hashes: BTreeMap<String, usize>,
}

impl Identifiers {
    /// Finds and counts the identifiers of all `texts` together.
    pub fn scan<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for text in texts {
            found.add(text);
        }
        found.resolve();
        found
    }

    fn add(&mut self, text: &str) {
        let text = text::clean(text);
        let mut mentions = Vec::new();
        let mut taken = links::urls(&text);
        let addresses = pr_issue::scan(&text, &taken, &mut mentions);
        taken.extend(addresses);
        // Addresses overlap the links they are in; what matters is what any of them covers.
        taken.sort_by_key(|t| (t.start, t.end));
        taken.dedup_by(|later, earlier| {
            let overlaps = later.start <= earlier.end;
            if overlaps {
                earlier.end = earlier.end.max(later.end);
            }
            overlaps
        });
        path::scan(&text, &taken, &mut mentions);
        sha::scan(&text, &mut mentions);
        links::merge_link_texts(&text, &mut mentions);
        for mention in mentions {
            match mention.form {
                Form::PrIssue { number, repo } => {
                    *self.numbers.entry(number).or_default().entry(repo).or_default() += 1;
                }
                Form::Path(path) => *self.paths.entry(path).or_default() += 1,
                Form::Sha(hash) => *self.hashes.entry(hash).or_default() += 1,
            }
        }
    }

    /// Puts the forms of one identifier together.
    fn resolve(&mut self) {
        let mut entries = Vec::new();
        for (number, repos) in &self.numbers {
            let bare = repos.get(&None).copied().unwrap_or(0);
            let named = repos.keys().flatten().count();
            for (repo, count) in repos {
                let count = match (repo, named) {
                    // The one repository that is named is the one that is meant.
                    (Some(_), 1) => count + bare,
                    (None, 1) => continue,
                    _ => *count,
                };
                entries.push(entry(IdentifierKind::PrIssue, number, repo.clone(), count, 0));
            }
        }
        for (path, count) in &self.paths {
            entries.push(entry(IdentifierKind::Path, path, None, *count, 0));
        }
        entries.extend(clusters(&self.hashes));
        entries.sort_by(|a, b| a.identifier.cmp(&b.identifier));
        self.entries = entries;
    }

    /// The identifiers mentioned at least `count` times, in a fixed order.
    #[must_use]
    pub fn named_at_least(&self, count: usize) -> Vec<&Identifier> {
        self.entries.iter().filter(|e| e.count >= count).map(|e| &e.identifier).collect()
    }

    /// Every identifier with the number of its mentions, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&Identifier, usize)> {
        self.entries.iter().map(|e| (&e.identifier, e.count))
    }

    /// How many different identifiers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether `identifier`, of another text, is named here.
    #[must_use]
    pub fn names(&self, identifier: &Identifier) -> bool {
        match identifier.kind {
            IdentifierKind::PrIssue => self.names_number(identifier),
            IdentifierKind::Path => self.paths.contains_key(&identifier.canonical),
            IdentifierKind::Sha => {
                let hash = identifier.canonical.as_str();
                (identifier.shortest_prefix..=hash.len()).any(|n| self.hashes.contains_key(&hash[..n]))
            }
        }
    }

    /// The same digits, in repositories that do not contradict each other.
    fn names_number(&self, identifier: &Identifier) -> bool {
        self.numbers.get(&identifier.canonical).is_some_and(|repos| {
            identifier.repo.is_none() || repos.contains_key(&None) || repos.contains_key(&identifier.repo)
        })
    }

    /// The identifiers of this text, a summary, that `transcript` does not name at all: they are made up.
    ///
    /// The end of a path (`a.rs` for `src/a.rs`) and a prefix of a hash are not made up, though a strict match asks for
    /// more; a hash with digits that the transcript never had is.
    #[must_use]
    pub fn unknown_to(&self, transcript: &Self) -> Vec<&Identifier> {
        self.entries.iter().map(|e| &e.identifier).filter(|i| !transcript.has_seen(i)).collect()
    }

    fn has_seen(&self, identifier: &Identifier) -> bool {
        match identifier.kind {
            IdentifierKind::PrIssue => self.names_number(identifier),
            IdentifierKind::Path => {
                let path = identifier.canonical.as_str();
                self.paths.contains_key(path)
                    || self.paths.keys().any(|known| known.strip_suffix(path).is_some_and(|head| head.ends_with('/')))
            }
            IdentifierKind::Sha => {
                let hash = &identifier.canonical;
                self.hashes.range(hash.clone()..).next().is_some_and(|(known, _)| known.starts_with(hash.as_str()))
            }
        }
    }
}

/// Those of a transcript's identifiers that a summary names, in the order given.
#[must_use]
pub fn found_in<'a>(identifiers: &[&'a Identifier], summary: &Identifiers) -> Vec<&'a Identifier> {
    identifiers.iter().copied().filter(|i| summary.names(i)).collect()
}

fn entry(kind: IdentifierKind, canonical: &str, repo: Option<String>, count: usize, shortest_prefix: usize) -> Entry {
    let vendored = kind == IdentifierKind::Path && path::is_vendored(canonical);
    let provenance = if vendored { Provenance::Vendored } else { Provenance::Own };
    let identifier = Identifier { kind, canonical: canonical.to_owned(), repo, provenance, shortest_prefix };
    Entry { identifier, count }
}

/// Counts an abbreviated hash for the one longer hash that it begins. An abbreviation of several names none of them.
fn clusters(hashes: &BTreeMap<String, usize>) -> Vec<Entry> {
    let sorted: Vec<(&str, usize)> = hashes.iter().map(|(hash, count)| (hash.as_str(), *count)).collect();
    let extends = |i: usize, hash: &str| sorted.get(i).is_some_and(|(longer, _)| longer.starts_with(hash));
    // In sorted order the extensions of a hash follow it, so one without any is a longest form.
    let longest: Vec<usize> = (0..sorted.len()).filter(|i| !extends(i + 1, sorted[*i].0)).collect();
    let mut counts: Vec<usize> = longest.iter().map(|i| sorted[*i].1).collect();
    let mut ahead = 0;
    for (i, (hash, count)) in sorted.iter().enumerate() {
        while longest[ahead] < i {
            ahead += 1;
        }
        if longest[ahead] == i {
            continue;
        }
        let is_ambiguous = longest.get(ahead + 1).is_some_and(|next| sorted[*next].0.starts_with(hash));
        if !is_ambiguous {
            counts[ahead] += count;
        }
    }
    let shared = |a: Option<usize>, b: usize| {
        a.map_or(0, |a| sorted[a].0.bytes().zip(sorted[b].0.bytes()).take_while(|(x, y)| x == y).count())
    };
    longest
        .iter()
        .enumerate()
        .map(|(k, &i)| {
            let before = shared(k.checked_sub(1).map(|k| longest[k]), i);
            let after = shared(longest.get(k + 1).copied(), i);
            let shortest = sha::SHORTEST.max(before.max(after) + 1);
            entry(IdentifierKind::Sha, sorted[i].0, None, counts[k], shortest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Vec<String> {
        Identifiers::scan([text])
            .iter()
            .map(|(i, n)| {
                let repo = i.repo.as_ref().map_or(String::new(), |r| format!("{r}#"));
                format!("{repo}{} x{n}", i.canonical)
            })
            .collect()
    }

    const FULL: &str = "abc1234def5678900000111122223333444455ff";
    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// The numbered edge cases of the recall notes that are about what a text holds.
    #[test]
    fn edge_cases_of_scanning() {
        let rows: &[(u8, &str, &[&str])] = &[
            (2, "#123, (#123) #123.", &["123 x3"]),
            (3, "abc#123", &[]),
            (5, "https://github.com/o/r/pull/5/files#diff-1", &["o/r#5 x1"]),
            (6, "#fff and color: #123456", &[]),
            (7, "&#123;", &[]),
            (8, "# 1 Heading", &[]),
            (10, "#007", &["007 x1"]),
            (11, "./src/a.rs then src/a.rs", &["src/a.rs x2"]),
            (12, "src/a.rs:10 and src/a.rs:99:3", &["src/a.rs x2"]),
            (14, r"src\a.rs and src/a.rs", &["src/a.rs x2"]),
            (15, "--- a/src/x.c\n+++ b/src/x.c\n", &["src/x.c x2"]),
            (15, "the file a/src/x.c", &["a/src/x.c x1"]),
            (16, "\"docs/my file.md\"", &["docs/my file.md x1"]),
            (16, "docs/my file.md", &["file.md x1"]),
            (17, "and/or, I/O, 1/2, TCP/IP, 2026/11/13", &[]),
            (18, "node_modules/x/index.js", &["node_modules/x/index.js x1"]),
            (19, "https://example.org/src/a.rs", &[]),
            (21, "src/*.rs", &[]),
            (24, "deadbeef 1234567 defaced", &[]),
            (25, "550e8400-e29b-41d4-a716-446655440000", &[]),
            (27, "sha512-1234abc+Q2hlY2tzdW0gb2YgdGhlIGZpbGU=", &[]),
            (28, "#a1b2c3d4 00:1a:2b:3c:4d:5e 2001:0db8:85a3:0000", &[]),
            (30, "#12\u{200b}3 src/\u{feff}a.rs", &["123 x1", "src/a.rs x1"]),
            (31, "[#5](https://github.com/o/r/pull/5) [src/a.rs](src/a.rs)", &["o/r#5 x1", "src/a.rs x1"]),
            (33, "[REDACTED] /home/[REDACTED]/a.rs #[REDACTED]", &[]),
            (37, "#5 and #5", &["5 x2"]),
            (38, r#"{"path":"src/a.rs","body":"x\n#5"}"#, &["5 x1", "src/a.rs x1"]),
            (39, "do not touch src/a.rs", &["src/a.rs x1"]),
            (40, "docs/über.md 请看src/a.rs文件 见#5号", &["5 x1", "docs/über.md x1", "src/a.rs x1"]),
            (42, "\u{1b}[31msrc/a.rs\u{1b}[0m\r\n#5\r\n", &["5 x1", "src/a.rs x1"]),
        ];
        for (case, text, expect) in rows {
            assert_eq!(canonical(text), *expect, "case {case}: {text:?}");
        }
    }

    /// The numbered edge cases that are about a transcript against a summary: found or not.
    #[test]
    fn edge_cases_of_matching() {
        let long_a = "abc12345000000000000000000000000000000aa";
        let long_b = "abc12346000000000000000000000000000000aa";
        let two = format!("{long_a} {long_b}");
        let seven = format!("see abc1234 and {FULL}");
        let digest = format!("sha256:{DIGEST}");
        let rows: &[(u8, &str, &str, usize)] = &[
            (1, "#146750", "#14675", 0),
            (1, "#14675", "#146750", 0),
            (4, "o/r#5 o/r#5", "#5", 1),
            (4, "o/r#5 o/r#5", "other/r#5", 0),
            (4, "o/r#5 o/r#5", "#5, not other/r#5", 1),
            (4, "#5", "O/R#5", 1),
            (9, "PR 5", "PR 50", 0),
            (10, "#007", "#7", 0),
            (13, "a/b.py", "a/b.pyc", 0),
            (13, "a/b.py", "x/a/b.py", 0),
            (14, "src/a.rs", r"src\a.rs", 1),
            (20, "crates/session/src/a.rs", "crates/…/a.rs", 0),
            (20, "crates/session/src/a.rs", "crates/session/.../a.rs", 0),
            (22, &seven, "abc1234d", 1),
            (23, &two, "abc1234", 0),
            (23, &two, "abc12345", 1),
            (26, &digest, DIGEST, 1),
            (29, FULL, "ABC1234", 1),
            (39, "src/a.rs", "did not touch src/a.rs", 1),
            (44, "#123", "#1234", 0),
        ];
        for (case, transcript, summary, expect) in rows {
            let transcript = Identifiers::scan([*transcript]);
            let found = found_in(&transcript.named_at_least(1), &Identifiers::scan([*summary])).len();
            assert_eq!(found, *expect, "case {case}: {summary:?}");
        }
    }

    #[test]
    fn abbreviations_count_for_their_hash() {
        // Case 22.
        let found = Identifiers::scan(["abc1234", FULL]);
        assert_eq!(found.iter().map(|(i, n)| (i.canonical.as_str(), n)).collect::<Vec<_>>(), [(FULL, 2)]);
        // Case 23: an abbreviation of two hashes is neither.
        let two = Identifiers::scan(["abc1234 abc1234 abc12345 abc12346"]);
        assert_eq!(
            two.iter().map(|(i, n)| (i.canonical.as_str(), n)).collect::<Vec<_>>(),
            [("abc12345", 1), ("abc12346", 1)]
        );
    }

    #[test]
    fn the_count_decides_what_is_owed() {
        // Case 36.
        let found = Identifiers::scan(["#5 #6", "#6"]);
        assert_eq!(found.named_at_least(2).len(), 1);
        assert_eq!(found.named_at_least(1).len(), 2);
        assert_eq!(found.named_at_least(3).len(), 0);
        assert!(Identifiers::scan([]).is_empty());
    }

    #[test]
    fn a_single_repository_is_meant_by_bare_numbers() {
        assert_eq!(canonical("#5 o/r#5"), ["o/r#5 x2"]);
        assert_eq!(canonical("#5 o/r#5 p/q#5"), ["5 x1", "o/r#5 x1", "p/q#5 x1"]);
    }

    #[test]
    fn what_a_summary_made_up() {
        let transcript = Identifiers::scan(["src/a.rs o/r#5 #6", FULL, "once/seen.py abc12ff abc12ffe1 abc12ffe2"]);
        for (summary, expect) in [
            ("a.rs, #5, #6, abc1234, once/seen.py, abc12ff", &[][..]),
            ("other/a.rs", &["other/a.rs"]),
            ("x/y#5 #7", &["5", "7"]),
            ("abc12340", &["abc12340"]),
        ] {
            let summary = Identifiers::scan([summary]);
            let unknown: Vec<&str> = summary.unknown_to(&transcript).iter().map(|i| i.canonical.as_str()).collect();
            assert_eq!(unknown, expect);
        }
    }

    #[test]
    fn vendored_paths_are_kept_and_flagged() {
        // Case 18.
        let found = Identifiers::scan(["node_modules/x/index.js src/a.rs"]);
        let flags: Vec<Provenance> = found.iter().map(|(i, _)| i.provenance).collect();
        assert_eq!(flags, [Provenance::Vendored, Provenance::Own]);
    }

    #[test]
    fn hostile_texts_come_to_an_end() {
        // Case 41: texts that make careless scanners quadratic.
        let hostile = [
            "[".repeat(200_000),
            "](".repeat(100_000),
            "/".repeat(200_000),
            "a/".repeat(100_000),
            "\"a ".repeat(70_000),
            "#1".repeat(100_000),
            "x://".repeat(50_000),
            "[#1](#1)".repeat(25_000),
            "abc1234-".repeat(25_000),
            "pull request ".repeat(15_000),
            "\\n".repeat(100_000),
            "a\\n".repeat(70_000),
            "a:".repeat(100_000),
            "o/r".repeat(70_000) + "#1",
            "0a".repeat(100_000) + "=",
            "abc1234/".repeat(25_000),
        ];
        // Any of them takes minutes where a scanner is quadratic; how long they take is a benchmark's matter.
        for text in &hostile {
            let _ = Identifiers::scan([text.as_str()]);
        }
    }
}
