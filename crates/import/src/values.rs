//! Files whose sessions are whole JSON values: one document, or one value a line. What a format makes of
//! a value is its own; reading, damage and counting are the same for all.

use serde_json::value::RawValue;

use crate::chat::At;
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::mend::{close, mend, trim};
use crate::outlet::{Draft, Outlet};
use crate::reader::Each;
use crate::records::{Line, line_of};
use crate::sample::Layout;

/// How the turns of one session say where they were read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbering {
    /// Each by the number of its own message.
    Messages,
    /// All by the number of the line they share.
    Line(usize),
}

impl Numbering {
    /// Record number of the message at `index`.
    pub(crate) fn record(self, index: usize) -> usize {
        match self {
            Self::Messages => index + 1,
            Self::Line(number) => number,
        }
    }

    /// The place of the message at `index` in `file`.
    pub(crate) fn at(self, file: &str, index: usize) -> At<'_> {
        At { file, record: self.record(index) }
    }
}

/// Where the sessions of a file go. What is counted between two of them is told beside the later one, and
/// what comes last beside the last.
pub(crate) struct Sink<'a, 'b> {
    history: History,
    outlet: Outlet<'a, 'b>,
    held: Option<Draft>,
    /// What was counted outside of any session.
    pub(crate) loose: Losses,
}

impl<'a, 'b> Sink<'a, 'b> {
    /// The sink for `input`, read as `format`.
    pub(crate) fn new(input: &'a Input, format: &'static str, each: &'a mut Each<'b>) -> Self {
        Self {
            history: input.history(),
            outlet: Outlet::new(input, format, each),
            held: None,
            loose: Losses::default(),
        }
    }

    /// Takes a session of a format that marks no compactions.
    ///
    /// # Errors
    /// What the receiver says.
    pub(crate) fn put_unmarked(&mut self, mut draft: Draft) -> Result<(), ImportError> {
        if self.history == History::Original {
            draft
                .notes
                .push("the format does not tell whether the session was compacted: read as it stands".to_owned());
        }
        self.put(draft)
    }

    /// Takes a session; of one without turns only the losses are kept.
    ///
    /// # Errors
    /// What the receiver says.
    pub(crate) fn put(&mut self, mut draft: Draft) -> Result<(), ImportError> {
        if draft.turns.is_empty() {
            self.loose.absorb(draft.losses);
            return Ok(());
        }
        let mut losses = std::mem::take(&mut self.loose);
        losses.absorb(draft.losses);
        draft.losses = losses;
        match self.held.replace(draft) {
            Some(before) => self.outlet.put(before),
            None => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Where no session had a turn, and what the receiver says.
    pub(crate) fn finish(mut self) -> Result<(), ImportError> {
        let mut last = self.held.take().unwrap_or_default();
        last.losses.absorb(self.loose);
        self.outlet.put(last)?;
        self.outlet.finish()
    }
}

/// What makes sessions of a value and puts them into the sink; a value that is none it counts there.
pub(crate) type Take<'t> = dyn FnMut(Line<'_>, Numbering, &mut Sink<'_, '_>) -> Result<(), ImportError> + 't;

/// Reads `input` value by value: a document as a whole, lines one by one.
///
/// # Errors
/// Where the input cannot be read, and what the receiver of the sessions says.
pub(crate) fn each_value(
    input: &Input,
    format: &'static str,
    each: &mut Each<'_>,
    take: &mut Take<'_>,
) -> Result<(), ImportError> {
    let mut sink = Sink::new(input, format, each);
    values(input, format, &mut sink, take)?;
    sink.finish()
}

/// Gives the values of `input` to `take`, and leaves the sink open.
///
/// # Errors
/// As [`each_value`].
pub(crate) fn values(
    input: &Input,
    format: &'static str,
    sink: &mut Sink<'_, '_>,
    take: &mut Take<'_>,
) -> Result<(), ImportError> {
    match input.sample()?.layout {
        Layout::Lines => {
            let mut records = input.records()?;
            while let Some(record) = records.next()? {
                if let Some((number, line)) = sink.loose.accept(record) {
                    take(line, Numbering::Line(number), sink)?;
                }
            }
        }
        Layout::Document | Layout::Folder => {
            let bytes = input.document()?;
            with_document(input, format, &bytes, sink, take)?;
        }
    }
    Ok(())
}

/// Opens a document, in a repaired copy where it has to be. One that breaks off is read as far as it goes.
///
/// # Errors
/// Where it is no JSON, and what `take` says.
pub(crate) fn with_document(
    input: &Input,
    format: &'static str,
    bytes: &[u8],
    sink: &mut Sink<'_, '_>,
    take: &mut Take<'_>,
) -> Result<(), ImportError> {
    let mut mended = String::new();
    let (line, replacements) = line_of(bytes, &mut mended);
    sink.loose.repair(1, replacements);
    let problem = match line {
        Ok(line) => return take(line, Numbering::Messages, sink),
        Err(problem) => problem,
    };
    let rest = close(&mend(trim(bytes)).text);
    match rest.as_deref().map(Line::parse) {
        Some(Ok(line)) => {
            sink.loose.skip(1, format!("the document breaks off, read as far as it goes: {problem}"));
            take(line, Numbering::Messages, sink)
        }
        _ => Err(ImportError::NotThisFormat {
            path: input.path().to_owned(),
            format,
            place: "document".to_owned(),
            problem,
        }),
    }
}

/// Gives the objects of a value to `take`: the value itself, or the items of a list with their index.
///
/// # Errors
/// What `take` says.
pub(crate) fn each_object(
    line: &Line<'_>,
    numbering: Numbering,
    sink: &mut Sink<'_, '_>,
    take: &mut dyn FnMut(&Fields<'_>, &mut Sink<'_, '_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    match line {
        Line::Object(fields) => take(fields, sink),
        Line::List(raw) => {
            for (index, item) in items_of(raw).unwrap_or_default().into_iter().enumerate() {
                match Fields::of(item) {
                    Some(fields) => take(&fields, sink)?,
                    None => sink.loose.skip(numbering.record(index), "no object"),
                }
            }
            Ok(())
        }
    }
}

/// The objects of a list of messages with their place; what is no object is counted.
pub(crate) fn messages<'r>(
    raw: Option<&'r RawValue>,
    numbering: Numbering,
    losses: &mut Losses,
) -> Vec<(usize, Fields<'r>)> {
    let items = raw.and_then(items_of).unwrap_or_default();
    let mut messages = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match Fields::of(item) {
            Some(fields) => messages.push((index, fields)),
            None => losses.skip(numbering.record(index), "a message that is no object"),
        }
    }
    messages
}
