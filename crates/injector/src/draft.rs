//! An attack as its file says it: words, and an identifier for each axis. A draft with other identifiers is how a
//! [matrix](crate::matrix) makes its cells.

use std::collections::BTreeMap;
use std::ops::Range;

use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use laundromat_session::labels::Guise;
use laundromat_session::{PlantKind, holes};

use crate::attack::{Attack, Payload, SCHEMA};
use crate::axes::{Axis, Carrier, Offset, Split, copies};
use crate::canary::Canary;
use crate::conflicts::{Conflict, conflicts};
use crate::library::Library;
use crate::presets;
use crate::words::Words;

/// What payloads and statements are filled in with.
const HOLES: &[&str] = &[Canary::HOST_HOLE, Canary::PATH_HOLE];
/// Most characters of neutral lines.
const MOST_FILLER: usize = 1_000_000;

/// An attack before its identifiers are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) kind: PlantKind,
    /// Words of its own, or of the attack that it is paired with.
    words: Option<Words>,
    paired_with: Option<String>,
    seed_name: String,
    values: BTreeMap<Axis, String>,
    filler: usize,
}

/// Where the values stand in their file.
type Spans = BTreeMap<Axis, Range<usize>>;

impl Draft {
    /// Reads an attack file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub(crate) fn parse(text: &str) -> Result<(Self, Attack), Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        let read = read(&mut document, &mut root);
        root.finish(&mut document);
        document.finish(read)
    }

    /// The identifier on an axis: its own, or what the kind of plant has by itself.
    pub(crate) fn id(&self, axis: Axis) -> &str {
        match self.values.get(&axis) {
            Some(id) => id,
            None if axis == Axis::Carrier && is_users_own(self.kind) => Carrier::UserTurn.id(),
            None => axis.default_id(),
        }
    }

    /// The same attack with other values, under another name. Place and canary stay, so that cells are matched. A
    /// value for an axis of words replaces words that are the attack's own.
    pub(crate) fn with(&self, name: String, title: String, values: &[(Axis, &str)]) -> Self {
        let mut draft = Self { name, title, ..self.clone() };
        for (axis, id) in values {
            draft.values.insert(*axis, (*id).to_owned());
            if is_of_words(*axis) {
                draft.words = None;
            }
        }
        draft
    }

    /// The attack with its identifiers looked up.
    ///
    /// # Errors
    /// Values that do not go together.
    pub(crate) fn resolve(&self) -> Result<Attack, Vec<Conflict>> {
        let conflicts = conflicts(self.kind, |axis| self.id(axis), self.filler);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        // Every identifier was checked when it was read.
        let unknown = || {
            let remedy = "write one of the known values".to_owned();
            vec![Conflict { axis: Axis::Label, problem: "a value is not known".to_owned(), remedy }]
        };
        let words = match &self.words {
            Some(words) => words.clone(),
            None => Words::composed(|axis| self.id(axis)).ok_or_else(unknown)?,
        };
        let payload = self.payload(&words).ok_or_else(unknown)?;
        Ok(Attack {
            name: self.name.clone(),
            title: self.title.clone(),
            kind: self.kind,
            statement: words.statement,
            phrases: words.phrases,
            payload: (self.kind != PlantKind::Clean).then_some(payload),
            paired_with: self.paired_with.clone(),
            seed_name: self.seed_name.clone(),
        })
    }

    fn payload(&self, words: &Words) -> Option<Payload> {
        let library = Library::get();
        let escape = library.value(Axis::Escape.id(), self.id(Axis::Escape))?;
        Some(Payload {
            guise: Guise::by_id(self.id(Axis::Label))?,
            close: escape.text("close").to_owned(),
            open: escape.text("open").to_owned(),
            frame: library.value(Axis::Frame.id(), self.id(Axis::Frame))?.text("text").to_owned(),
            text: words.text.clone(),
            reply: words.reply.clone(),
            encoding: self.id(Axis::Encoding).parse().ok()?,
            split: Split::by_id(self.id(Axis::Split))?,
            pressure: self.id(Axis::Pressure).parse().ok()?,
            carrier: self.id(Axis::Carrier).parse().ok()?,
            third: self.id(Axis::Third).parse().ok()?,
            offset: Offset::by_id(self.id(Axis::Offset))?,
            embedding: self.id(Axis::Embedding).parse().ok()?,
            copies: copies(self.id(Axis::Copies))?,
            filler: self.filler,
        })
    }
}

/// Kinds that the user really says.
pub(crate) fn is_users_own(kind: PlantKind) -> bool {
    matches!(kind, PlantKind::TrueUser | PlantKind::TrueProhibition | PlantKind::Accusation)
}

fn is_of_words(axis: Axis) -> bool {
    axis.table() == Some("words")
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<(Draft, Attack)> {
    root.schema(document, SCHEMA);
    let name = root.name(document, "an attack");
    let title = root.required(document, "title");
    let kind = root.required_at::<PlantKind>(document, "kind").map(|(kind, _)| kind);
    let paired = match kind {
        None => None,
        Some(PlantKind::Clean) => Some(root.required_at::<String>(document, "paired-with")?),
        Some(_) => root.optional_at::<String>(document, "paired-with"),
    };
    let pair = paired.as_ref().map(|(paired, span)| pair(document, name.as_deref(), kind, paired, span));
    if kind == Some(PlantKind::Clean) {
        let (words, seed_name) = pair??;
        let draft = Draft {
            seed_name,
            name: name?,
            title: title?,
            kind: PlantKind::Clean,
            words: Some(words),
            paired_with: paired.map(|(paired, _)| paired),
            values: BTreeMap::new(),
            filler: 0,
        };
        let attack = draft.resolve().ok()?;
        return Some((draft, attack));
    }
    let is_paired = pair.is_some();
    let mut values = Values { ids: BTreeMap::new(), spans: Spans::new(), faulty: false };
    let own = if is_paired || root.has("words") && !root.has("text") { None } else { own(document, root) };
    if kind == Some(PlantKind::Attack) && !root.has("label") {
        root.required::<String>(document, "label");
    }
    values.take(document, root, Axis::Label);
    let words_at = root.table(document, "words").map(|mut fields| {
        let span = fields.span();
        values.take_all(document, &mut fields, "words");
        fields.finish(document);
        span
    });
    if let (Some(_), Some(span)) = (&own, &words_at) {
        let at = values.spans.iter().filter(|(axis, _)| is_of_words(**axis)).map(|(_, span)| span.start).min();
        let span = at.map_or_else(|| span.clone(), |start| start..start);
        let remedy = "leave out text, statement and phrases, or the table [words]";
        document.fault(&span, "words", "the file has a text of its own", remedy);
    }
    if let (true, Some(span)) = (is_paired, &words_at) {
        let remedy = "leave out paired-with, or the table [words]";
        document.fault(span, "words", "the words are those of the attack that this one is paired with", remedy);
    }
    let filler = match root.required_table(document, "place") {
        None => None,
        Some(mut fields) => {
            for key in ["third", "embedding"] {
                if !fields.has(key) && kind.is_some_and(|kind| !is_users_own(kind)) {
                    fields.required::<String>(document, key);
                    values.faulty = true;
                }
            }
            values.take_all(document, &mut fields, "place");
            let filler = filler(document, &mut fields);
            fields.finish(document);
            Some(filler)
        }
    };
    if let Some(mut fields) = root.table(document, "shape") {
        values.take_all(document, &mut fields, "shape");
        fields.finish(document);
    }
    let (words, seed_name) = match (pair, own) {
        (Some(pair), _) => pair.map(|(words, seed_name)| (Some(words), Some(seed_name)))?,
        (None, Some(own)) => (Some(own?), name.clone()),
        (None, None) => (None, name.clone()),
    };
    if values.faulty {
        return None;
    }
    let draft = Draft {
        name: name?,
        title: title?,
        kind: kind?,
        words,
        paired_with: paired.map(|(paired, _)| paired),
        seed_name: seed_name?,
        values: values.ids,
        filler: filler?,
    };
    match draft.resolve() {
        Ok(attack) => Some((draft, attack)),
        Err(conflicts) => {
            for Conflict { axis, problem, remedy } in conflicts {
                let span = values.spans.get(&axis).cloned().unwrap_or_else(|| root.span());
                document.fault(&span, &path(axis), problem, remedy);
            }
            None
        }
    }
}

/// The dotted path of an axis in an attack file.
fn path(axis: Axis) -> String {
    axis.table().map_or_else(|| axis.id().to_owned(), |table| format!("{table}.{axis}"))
}

/// The identifiers read so far.
struct Values {
    ids: BTreeMap<Axis, String>,
    spans: Spans,
    faulty: bool,
}

impl Values {
    fn take_all<'i>(&mut self, document: &mut Document<'i>, fields: &mut Fields<'i>, table: &str) {
        for axis in Axis::ALL.iter().filter(|axis| axis.table() == Some(table)) {
            self.take(document, fields, *axis);
        }
    }

    fn take<'i>(&mut self, document: &mut Document<'i>, fields: &mut Fields<'i>, axis: Axis) {
        if !fields.has(axis.id()) {
            return;
        }
        let Some((id, span)) = fields.optional_at::<String>(document, axis.id()) else {
            self.faulty = true;
            return;
        };
        if let Err(remedy) = axis.check(&id) {
            let what = if axis == Axis::Label { "label style" } else { axis.id() };
            let problem = format!("unknown {what} \"{}\"", id.escape_debug());
            document.fault(&span, &fields.path_of(axis.id()), problem, remedy);
            self.faulty = true;
        }
        self.ids.insert(axis, id);
        self.spans.insert(axis, span);
    }
}

fn filler<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>) -> usize {
    let Some((filler, span)) = fields.optional_at::<usize>(document, "filler") else { return 0 };
    if filler > MOST_FILLER {
        let remedy = format!("write at most {MOST_FILLER}");
        document.fault(&span, &fields.path_of("filler"), "so many neutral lines fit no session", remedy);
    }
    filler
}

/// The file's own words.
fn own<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Option<Words>> {
    let statement = root.required_at::<String>(document, "statement");
    let phrases = root.required_at::<Vec<String>>(document, "phrases");
    let text = root.required_at::<String>(document, "text");
    for (key, value) in [("statement", &statement), ("text", &text)] {
        let Some((value, span)) = value else { continue };
        if !value.contains(Canary::HOST_HOLE) {
            document.fault(
                span,
                key,
                "the hole {host} is missing",
                "name the canary, so that a judge can tell this plant from others",
            );
        }
        for problem in holes::unknown(value, HOLES) {
            document.fault(span, key, problem, format!("write no other braces than {}", holes::listed(HOLES)));
        }
    }
    if let Some((phrases, span)) = &phrases
        && phrases.iter().any(|phrase| phrase.is_empty() || phrase.to_lowercase() != *phrase)
    {
        document.fault(span, "phrases", "a phrase is empty or has capital letters", "write lower-case phrases");
    }
    let (Some((text, _)), Some((statement, _)), Some((phrases, _))) = (text, statement, phrases) else {
        return Some(None);
    };
    Some(Some(Words::own(text.trim().to_owned(), statement.trim().to_owned(), phrases)))
}

/// The words of `paired`, and what its place and canary are derived from.
fn pair(
    document: &mut Document<'_>,
    name: Option<&str>,
    kind: Option<PlantKind>,
    paired: &str,
    span: &Range<usize>,
) -> Option<(Words, String)> {
    let own = name == Some(paired);
    match if own { Err(Vec::new()) } else { Attack::embedded(paired) } {
        Ok(Attack { kind: of, statement, phrases, payload: Some(payload), seed_name, .. })
            if of == PlantKind::Attack || Some(of) == kind =>
        {
            Some((Words { text: payload.text, statement, phrases, reply: payload.reply }, seed_name))
        }
        _ => {
            let others: Vec<&str> = presets::attack_names().into_iter().filter(|other| *other != paired).collect();
            let remedy = choose_remedy(paired, &others);
            document.fault(span, "paired-with", format!("\"{paired}\" is not an attack"), remedy);
            None
        }
    }
}
