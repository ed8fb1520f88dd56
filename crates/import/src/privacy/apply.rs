//! Making a session private: every text of it, JSON as JSON, and what is known to be a secret everywhere.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use laundromat_session::{Fault, Part, Session};
use serde::Serialize;
use serde_json::value::RawValue;

use super::assigned::{NAMES, Named};
use super::detect::{Detector, Hit, What};
use super::pseudonym::Salt;
use super::rules;
use crate::naming::session_id;

/// How many times JSON may stand in a string of JSON.
const DEPTH: u32 = 3;
/// How long a secret is at least that is looked for where nothing marks it.
const KNOWN: usize = 12;

/// What is replaced, and by what.
#[derive(Debug)]
pub struct Privacy {
    detector: Detector,
    salt: Salt,
}

/// How many things of each kind were replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Redactions(pub BTreeMap<String, usize>);

impl Redactions {
    /// All of them.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Adds those of another session.
    pub fn absorb(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(kind.clone()).or_default() += count;
        }
    }
}

/// One session on the way.
#[derive(Debug, Default)]
struct Run {
    redactions: Redactions,
    /// Secrets that only what stood before them gave away, with what stands for them.
    known: BTreeMap<String, String>,
}

impl Privacy {
    /// With the rules that come along and those of `extra`, the text of a file of rules.
    ///
    /// # Errors
    /// All faults of `extra`.
    pub fn new(extra: Option<&str>, salt: Salt) -> Result<Self, Vec<Fault>> {
        let mut all = rules::embedded()?;
        if let Some(text) = extra {
            all.extend(rules::parse(text)?);
        }
        let detector = Detector::new(all).map_err(|problem| {
            vec![Fault::new(laundromat_session::Place::default(), problem, "have fewer or shorter keywords")]
        })?;
        Ok(Self { detector, salt })
    }

    /// The session without what is private in it.
    pub fn redact(&self, mut session: Session) -> (Session, Redactions) {
        let mut run = Run::default();
        each_text(&mut session, &mut |text, form| {
            let replaced = match form {
                Form::Text => self.text(text, None, DEPTH, &mut run),
                Form::Json => self.json(text, DEPTH, &mut run).or_else(|| self.text(text, None, 0, &mut run)),
            };
            if let Some(replaced) = replaced {
                *text = replaced;
            }
        });
        run.spread(&mut session);
        session.id = session_id(Some(&session.id), "session");
        (session, run.redactions)
    }

    /// A text without what is private in it, and how many things of each kind were.
    pub fn redact_text(&self, text: &str) -> (String, Redactions) {
        let mut run = Run::default();
        let replaced = self.text(text, None, DEPTH, &mut run).unwrap_or_else(|| text.to_owned());
        (replaced, run.redactions)
    }

    /// `text` with pseudonyms; `None` where nothing is private. `key` is the name it is the value of.
    fn text(&self, text: &str, key: Option<&str>, depth: u32, run: &mut Run) -> Option<String> {
        if depth > 0 && text.starts_with(['{', '[', '"']) && is_json(text) {
            return self.json(text, depth, run);
        }
        let (searched, offset) = match key.filter(|key| names_a_secret(key)) {
            Some(key) => (Cow::Owned(format!("{key}=\"{text}\"")), key.len() + 2),
            None => (Cow::Borrowed(text), 0),
        };
        let hits = self.detector.find(&searched);
        let inside = |hit: &&Hit<'_>| hit.range.start >= offset && hit.range.end <= offset + text.len();
        let mut replaced = String::new();
        let mut done = 0;
        for hit in hits.iter().filter(inside) {
            let (start, end) = (hit.range.start - offset, hit.range.end - offset);
            replaced.push_str(&text[done..start]);
            replaced.push_str(&self.replace(hit.what, &text[start..end], run));
            done = end;
        }
        if done == 0 {
            return None;
        }
        replaced.push_str(&text[done..]);
        Some(replaced)
    }

    fn replace(&self, what: What<'_>, value: &str, run: &mut Run) -> String {
        let pseudonym = self.salt.pseudonym(what, value);
        let kind = match what {
            What::Rule { kind, .. } => kind,
            What::Assigned => "secret",
            What::Email => "email",
            What::Phone => "phone",
            What::HomePath => "home-path",
            What::Host => "host",
        };
        *run.redactions.0.entry(kind.to_owned()).or_default() += 1;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_.~-".contains(&byte);
        if what == What::Assigned && value.len() >= KNOWN && value.bytes().all(plain) {
            run.known.insert(value.to_owned(), pseudonym.clone());
        }
        pseudonym
    }

    /// JSON `text` with pseudonyms in its strings, everything else byte for byte as it was. `None` where
    /// nothing is private, or the text is no JSON.
    fn json(&self, text: &str, depth: u32, run: &mut Run) -> Option<String> {
        if !is_json(text) {
            return None;
        }
        let bytes = text.as_bytes();
        let mut replaced = String::new();
        let (mut done, mut at) = (0, 0);
        let mut key: Option<String> = None;
        while let Some(start) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
            let end = string_end(bytes, start);
            at = end;
            let literal = &text[start..end];
            let is_key = text[end..].trim_start().starts_with(':');
            let Ok(value) = serde_json::from_str::<Cow<'_, str>>(literal) else { continue };
            if let Some(new) = self.text(&value, key.as_deref().filter(|_| !is_key), depth - 1, run) {
                replaced.push_str(&text[done..start]);
                // Text is always JSON.
                replaced.push_str(&serde_json::to_string(&new).unwrap_or_default());
                done = end;
            }
            if is_key {
                key = Some(value.into_owned());
            }
        }
        if done == 0 {
            return None;
        }
        replaced.push_str(&text[done..]);
        Some(replaced)
    }
}

impl Run {
    /// Replaces secrets that were marked in one place where they stand unmarked in others.
    fn spread(&mut self, session: &mut Session) {
        if self.known.is_empty() {
            return;
        }
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(self.known.keys());
        let Ok(search) = builder else { return };
        let pseudonyms: Vec<&String> = self.known.values().collect();
        let mut count = 0;
        each_text(session, &mut |text, _| {
            if search.is_match(text.as_str()) {
                count += search.find_iter(text.as_str()).count();
                *text = search.replace_all(text, &pseudonyms);
            }
        });
        if count > 0 {
            *self.redactions.0.entry("secret".to_owned()).or_default() += count;
        }
    }
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// Meant to be JSON, and kept so.
    Json,
}

/// Every text of a session that may hold something private.
fn each_text(session: &mut Session, each: &mut dyn FnMut(&mut String, Form)) {
    each(&mut session.id, Form::Text);
    session.title.iter_mut().for_each(|title| each(title, Form::Text));
    for turn in &mut session.turns {
        for part in &mut turn.parts {
            match part {
                Part::Text(text) => each(text, Form::Text),
                // An embedded image holds no text.
                Part::Image(Some(address)) if !address.starts_with("data:") => each(address, Form::Text),
                Part::Image(_) | Part::Other(_) => {}
            }
        }
        for call in &mut turn.calls {
            each(&mut call.id, Form::Text);
            each(&mut call.name, Form::Text);
            each(&mut call.arguments, Form::Json);
        }
        turn.call_id.iter_mut().for_each(|id| each(id, Form::Text));
        turn.reasoning.iter_mut().for_each(|text| each(text, Form::Text));
        turn.source.iter_mut().for_each(|source| each(&mut source.file, Form::Text));
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Where the JSON string that starts at `start` ends.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found;
        match bytes[at] {
            b'"' => return at + 1,
            _ => at += 2,
        }
    }
    bytes.len()
}

/// Whether what `key` is set to may be a secret for that reason.
fn names_a_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let mut names = NAMES.iter().filter(|(named, _)| *named != Named::Address);
    names.any(|(_, names)| names.iter().any(|name| key.contains(name)))
}
