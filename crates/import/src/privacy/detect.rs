//! Finding private things in one text: one pass looks for all anchors (keywords of rules, names of secrets, `@`,
//! home folders, endings of private hosts), and around each hit its own pattern decides.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::assigned::{self, Named};
use super::boundary::{ends_word, floor, starts_word};
use super::personal;
use super::rules::{Begins, Rule};
use super::value::entropy;

/// How far a secret reaches from its keyword at most.
const REACH: usize = 16 * 1024;

/// What an anchor leads to.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    /// The match of a rule, right here.
    Here(usize),
    /// The matches of a rule, anywhere in the text.
    Anywhere(usize),
    /// A value behind a name.
    Assigned(Named),
    /// An e-mail address around it.
    Email,
    /// A user name behind it.
    Home,
    /// A user name behind it, in a path written as one name.
    Slug,
    /// A host name before it.
    Host,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit<'r> {
    pub(super) range: Range<usize>,
    pub(super) what: What<'r>,
}

/// What a found thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What<'r> {
    /// A secret with a rule of its own: kind and id of the rule.
    Rule { kind: &'r str, id: &'r str },
    /// A secret known by what stands before it.
    Assigned,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A user's name in a path.
    HomePath,
    /// The name of a private host.
    Host,
}

/// All that is looked for.
#[derive(Debug)]
pub(super) struct Detector {
    rules: Vec<Rule>,
    anchors: Vec<Anchor>,
    search: AhoCorasick,
    /// Rules without keywords.
    always: Vec<usize>,
}

impl Detector {
    /// # Errors
    /// Where the keywords are too many to be searched for.
    pub(super) fn new(rules: Vec<Rule>) -> Result<Self, String> {
        let mut words: Vec<(String, Anchor)> = Vec::new();
        let mut always = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let anchor = match rule.begins {
                Begins::Keyword => Anchor::Here(index),
                Begins::Anywhere => Anchor::Anywhere(index),
            };
            if rule.keywords.is_empty() {
                always.push(index);
            }
            words.extend(rule.keywords.iter().map(|word| (word.to_lowercase(), anchor)));
        }
        for (named, names) in assigned::NAMES {
            words.extend(names.iter().map(|name| ((*name).to_owned(), Anchor::Assigned(*named))));
        }
        for (anchor, fixed) in [
            (Anchor::Email, &["@"][..]),
            (Anchor::Home, &["/home/", "/users/", "\\users\\", "/documents and settings/", "/export/home/"]),
            (Anchor::Slug, &["-users-", "-home-"]),
            (
                Anchor::Host,
                &[
                    ".internal",
                    ".local",
                    ".corp",
                    ".lan",
                    ".intranet",
                    ".intra",
                    ".private",
                    ".localdomain",
                    ".home.arpa",
                ],
            ),
        ] {
            words.extend(fixed.iter().map(|word| ((*word).to_owned(), anchor)));
        }
        let search = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(aho_corasick::AhoCorasickKind::DFA))
            .build(words.iter().map(|(word, _)| word))
            .map_err(|error| error.to_string())?;
        Ok(Self { rules, anchors: words.into_iter().map(|(_, anchor)| anchor).collect(), search, always })
    }

    /// What is private in `text`, in order and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<Hit<'_>> {
        let (mut secrets, mut assigned, mut personal) = (Vec::new(), Vec::new(), Vec::new());
        let mut anywhere = self.always.clone();
        for found in self.search.find_overlapping_iter(text) {
            let (start, end) = (found.start(), found.end());
            let mut person =
                |range: Option<Range<usize>>, what| personal.extend(range.map(|range| Hit { range, what }));
            match self.anchors[found.pattern().as_usize()] {
                Anchor::Here(rule) => secrets.extend(self.here(rule, text, start)),
                Anchor::Anywhere(rule) if !anywhere.contains(&rule) => anywhere.push(rule),
                Anchor::Anywhere(_) => {}
                Anchor::Assigned(named) => assigned
                    .extend(assigned::find(text, start..end, named).map(|range| Hit { range, what: What::Assigned })),
                Anchor::Email => person(personal::email(text, start), What::Email),
                Anchor::Home => person(personal::home(text, start, end), What::HomePath),
                Anchor::Slug => person(personal::home_slug(text, start, end), What::HomePath),
                Anchor::Host => person(personal::host(text, start, end), What::Host),
            }
        }
        for rule in anywhere {
            self.anywhere(rule, text, &mut secrets);
        }
        personal::phones(text, |range| personal.push(Hit { range, what: What::Phone }));
        // What has a shape of its own is that, whatever stands before it.
        let mut hits = Vec::new();
        for group in [secrets, assigned, personal] {
            add(&mut hits, group);
        }
        hits
    }

    /// The match of a rule that begins at byte `start`.
    fn here(&self, index: usize, text: &str, start: usize) -> Option<Hit<'_>> {
        if !starts_word(text, start) && text.as_bytes()[start].is_ascii_alphanumeric() {
            return None;
        }
        let rule = &self.rules[index];
        let groups = rule.regex.captures(&text[start..floor(text, start + REACH)])?;
        self.hit(rule, text, start, &groups)
    }

    /// All matches of a rule.
    fn anywhere<'r>(&'r self, index: usize, text: &str, hits: &mut Vec<Hit<'r>>) {
        let rule = &self.rules[index];
        for groups in rule.regex.captures_iter(text) {
            hits.extend(self.hit(rule, text, 0, &groups).filter(|hit| starts_word(text, hit.range.start)));
        }
    }

    /// The secret in a match of `text` behind byte `offset`.
    fn hit<'r>(&'r self, rule: &'r Rule, text: &str, offset: usize, groups: &regex::Captures<'_>) -> Option<Hit<'r>> {
        let value = match rule.group {
            0 => groups.iter().skip(1).flatten().next().or_else(|| groups.get(0)),
            group => groups.get(group),
        }?;
        let found = value.as_str().trim_end_matches([' ', '\n', '\r', '\t', '"', '\'', ',']);
        let range = offset + value.start()..offset + value.start() + found.len();
        let placeholder = ["example", "xxxx", "....", "placeholder", "your-", "your_"];
        let lower = found.to_ascii_lowercase();
        let is_secret = ends_word(text, range.end)
            && entropy(found) >= rule.entropy
            && !placeholder.iter().any(|word| lower.contains(word))
            && !rule.allowed.iter().any(|allowed| allowed.is_match(found));
        is_secret.then_some(Hit { range, what: What::Rule { kind: &rule.kind, id: &rule.id } })
    }
}

/// Adds what overlaps nothing that is there: of several the first, of those the longest.
fn add<'r>(hits: &mut Vec<Hit<'r>>, mut group: Vec<Hit<'r>>) {
    group.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
    for hit in group {
        let at = hits.partition_point(|before| before.range.start < hit.range.start);
        let clear = (at == 0 || hits[at - 1].range.end <= hit.range.start)
            && hits.get(at).is_none_or(|after| hit.range.end <= after.range.start);
        if clear {
            hits.insert(at, hit);
        }
    }
}
