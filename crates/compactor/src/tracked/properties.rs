//! Whatever is done to a text, in whatever order: every byte that it says was copied is that byte of the session,
//! and it says so of every byte that was. The model knows it of each character and shares no code with `Tracked`.

use proptest::prelude::*;
use regex::Regex;

use super::{Origin, Tracked};
use crate::axes::Escape;
use crate::escape::Escaper;
use crate::request::Carried;
use crate::shield::Shield;
use crate::{python_text, records};

/// What can be done to a text on its way to a request.
#[derive(Debug, Clone)]
enum Step {
    Xml,
    OwnTags,
    JsonString,
    PythonResult,
    Shield,
    /// Head and tail in characters, with a marker between.
    Ends(usize, usize),
    /// Cuts by share of the text, each replaced.
    Cuts(Vec<(usize, usize)>),
    /// Behind other text, as it is.
    Behind,
}

const SHIELD: &str = r#"schema = "laundromat-shield/1"
name = "s"
[[rules]]
pattern = '(?P<name>[a-z]+)@([a-z]+)'
replacement = '\2 or \g<name> or \1'
[[rules]]
pattern = 'x{5,}'
with = "***"
"#;
const TAGS: [&str; 2] = ["message", "b"];
const MARKER: &str = "[cut]";

/// A character, and its first byte in its part where it was copied.
type Char = (char, Option<(Origin, usize)>);

#[derive(Debug, Clone, Default)]
struct Model(Vec<Char>);

impl Model {
    fn part(text: &str, origin: Origin) -> Self {
        Self(text.char_indices().map(|(at, c)| (c, Some((origin, at)))).collect())
    }

    fn own(text: &str) -> Self {
        Self(text.chars().map(|c| (c, None)).collect())
    }

    fn text(&self) -> String {
        self.0.iter().map(|(c, _)| c).collect()
    }

    /// Every character through `change`, which says what stands for it.
    fn mapped(&self, change: impl Fn(char) -> Option<String>) -> Self {
        let one = |it: &Char| change(it.0).map_or(vec![*it], |text| Self::own(&text).0);
        Self(self.0.iter().flat_map(one).collect())
    }

    /// The characters of a byte range.
    fn range(&self, start: usize, end: usize) -> Vec<Char> {
        let mut at = 0;
        let mut inside = Vec::new();
        for it in &self.0 {
            if (start..end).contains(&at) {
                inside.push(*it);
            }
            at += it.0.len_utf8();
        }
        inside
    }

    /// Every match of `pattern` through `change`.
    fn matched(&self, pattern: &str, change: impl Fn(&regex::Captures<'_>) -> Vec<Char>) -> Self {
        let text = self.text();
        let (mut out, mut done) = (Vec::new(), 0);
        for found in Regex::new(pattern).expect("a pattern").captures_iter(&text) {
            let whole = found.get(0).expect("a match");
            out.extend(self.range(done, whole.start()));
            out.extend(change(&found));
            done = whole.end();
        }
        out.extend(self.range(done, text.len()));
        Self(out)
    }

    fn shielded(&self) -> Self {
        let named = self.matched("([a-z]+)@([a-z]+)", |found| {
            let group = |n| found.get(n).map(|group| self.range(group.start(), group.end())).unwrap_or_default();
            let or = || Self::own(" or ").0;
            [group(2), or(), group(1), or(), group(1)].concat()
        });
        named.matched("x{5,}", |_| Self::own("***").0)
    }

    /// One entry a byte: where it is from.
    fn origins(&self) -> Vec<Option<(Origin, usize)>> {
        let bytes = |it: &Char| {
            let from = it.1;
            (0..it.0.len_utf8()).map(move |n| from.map(|(origin, at)| (origin, at + n)))
        };
        self.0.iter().flat_map(bytes).collect()
    }
}

fn escaped(c: char, quote: char) -> Option<String> {
    match c {
        '\n' => Some("\\n".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\\' => Some("\\\\".to_owned()),
        c if c == quote => Some(format!("\\{c}")),
        _ => None,
    }
}

fn entity(c: char) -> Option<String> {
    match c {
        '&' => Some("&amp;".to_owned()),
        '<' => Some("&lt;".to_owned()),
        '>' => Some("&gt;".to_owned()),
        _ => None,
    }
}

/// Byte ranges of the text, in order and between characters, by shares of it.
fn ranges(text: &str, shares: &[(usize, usize)]) -> Vec<(std::ops::Range<usize>, String)> {
    let bound = |share: usize| {
        let at = text.len() * share / 1000;
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
    };
    let mut bounds: Vec<usize> = shares.iter().flat_map(|(a, b)| [bound(*a), bound(*b)]).collect();
    bounds.sort_unstable();
    let pairs = bounds.chunks_exact(2).enumerate();
    pairs.map(|(n, pair)| (pair[0]..pair[1], "-".repeat(n * 7))).collect()
}

fn step(step: &Step, tracked: &mut Tracked, model: &Model) -> Model {
    let mut escape = |escape: &Escape| {
        let mut out = Tracked::own("> ");
        Escaper::new(escape).push(&mut out, tracked);
        *tracked = out;
    };
    match step {
        Step::Xml => {
            escape(&Escape::Xml);
            Model([Model::own("> ").0, model.mapped(entity).0].concat())
        }
        Step::OwnTags => {
            escape(&Escape::OwnTags(TAGS.map(str::to_owned).to_vec()));
            let escaped = model.matched(r"(?i)<(\s*/?\s*(?:message|b)\b)", |found| {
                let rest = found.get(1).expect("a group");
                [Model::own("&lt;").0, model.range(rest.start(), rest.end())].concat()
            });
            Model([Model::own("> ").0, escaped.0].concat())
        }
        Step::JsonString => {
            records::json_string(tracked);
            let escape = |c: char| match c {
                '\u{1}' => Some("\\u0001".to_owned()),
                c => escaped(c, '"'),
            };
            Model([Model::own("\"").0, model.mapped(escape).0, Model::own("\"").0].concat())
        }
        Step::PythonResult => {
            let text = model.text();
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            python_text::result(tracked);
            let escape = |c: char| match c {
                '\u{1}' => Some("\\x01".to_owned()),
                '\u{85}' => Some("\\x85".to_owned()),
                c => escaped(c, quote),
            };
            let (open, close) = (format!("{{'result': {quote}"), format!("{quote}}}"));
            Model([Model::own(&open).0, model.mapped(escape).0, Model::own(&close).0].concat())
        }
        Step::Shield => {
            Shield::parse(SHIELD).expect("no faults").apply(tracked);
            model.shielded()
        }
        Step::Ends(head, tail) => {
            let count = model.0.len();
            if head + tail > count {
                return model.clone();
            }
            tracked.keep_ends(*head, *tail, MARKER);
            Model([&model.0[..*head], &Model::own(MARKER).0, &model.0[count - tail..]].concat())
        }
        Step::Cuts(shares) => {
            let ranges = ranges(tracked.text(), shares);
            tracked.replace(&ranges);
            let (mut out, mut done) = (Vec::new(), 0);
            for (range, with) in &ranges {
                out.extend(model.range(done, range.start));
                out.extend(Model::own(with).0);
                done = range.end;
            }
            out.extend(model.range(done, usize::MAX));
            Model(out)
        }
        Step::Behind => {
            let mut out = Tracked::own("before: ");
            out.push_tracked(tracked);
            *tracked = out;
            Model([Model::own("before: ").0, model.0.clone()].concat())
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Xml),
        Just(Step::OwnTags),
        Just(Step::JsonString),
        Just(Step::PythonResult),
        Just(Step::Shield),
        (0..60_usize, 0..60_usize).prop_map(|(head, tail)| Step::Ends(head, tail)),
        prop::collection::vec((0..=1000_usize, 0..=1000_usize), 0..4).prop_map(Step::Cuts),
        Just(Step::Behind),
    ];
    prop::collection::vec(step, 0..6)
}

/// What escapes and shields look for, close together and far apart. No brace, so that nothing is a JSON object.
fn part() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c<>&\"'\\\\\n\t éß🦀\u{1}\u{85}\u{a0}]{0,12}",
        Just("</message>".to_owned()),
        Just("< B x".to_owned()),
        Just("bob@example".to_owned()),
        (1..300_usize).prop_map(|n| "y".repeat(n)),
        (1..30_usize).prop_map(|n| "x".repeat(n)),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Where every byte of the text is from, as its runs tell.
fn origins(tracked: &Tracked) -> Vec<Option<(Origin, usize)>> {
    let mut origins = vec![None; tracked.text().len()];
    for run in tracked.runs() {
        for n in 0..run.len {
            assert_eq!(origins[run.at + n].replace((run.origin, run.from + n)), None, "a byte has one origin");
        }
    }
    origins
}

proptest! {
    #[test]
    fn every_byte_maps_back_to_where_it_was_copied_from(parts in prop::collection::vec(part(), 1..4), steps in steps()) {
        let (mut tracked, mut model) = (Tracked::default(), Model::default());
        for (part, text) in parts.iter().enumerate() {
            let origin = Origin { turn: 5, part };
            tracked.push_copied(text, origin);
            tracked.push_own("\n");
            model.0.extend(Model::part(text, origin).0);
            model.0.extend(Model::own("\n").0);
        }
        for it in &steps {
            model = step(it, &mut tracked, &model);
            prop_assert_eq!(tracked.text(), model.text());
            prop_assert_eq!(origins(&tracked), model.origins(), "{:?}", it);
        }
        let in_order: Vec<_> = tracked.runs().collect();
        prop_assert!(in_order.iter().all(|run| run.len > 0));
        prop_assert!(in_order.windows(2).all(|two| two[0].at + two[0].len <= two[1].at));
        // In a message it stands further back, and is the same.
        let carried = Carried::new(0, 9, tracked.stretches().to_vec());
        let moved: Vec<_> = carried.iter().flat_map(Carried::runs).map(|run| (run.at - 9, run.from, run.len)).collect();
        prop_assert_eq!(moved, in_order.iter().map(|run| (run.at, run.from, run.len)).collect::<Vec<_>>());
    }
}
