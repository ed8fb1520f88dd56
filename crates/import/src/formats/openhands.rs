//! OpenHands: a stream of events. Older ones are actions and the observations they cause, newer ones (of
//! the SDK) have a `kind`; both come as a list, as lines, as a folder with one file an event, or as the
//! `history` of an evaluation record.
//!
//! * [`event`]: what any event is; [`older`] and [`newer`]: the two kinds of events; [`folder`]: one file an event.
//!
//! Condensed events stay in the stream, so that the original session is the stream without the
//! condensations.

mod event;
mod folder;
mod newer;
mod older;

use serde_json::value::RawValue;

use crate::chat::id;
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::Input;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::{Layout, Sample};
use crate::values::{Numbering, Sink, with_document};

use event::Reading;

/// OpenHands events.
#[derive(Debug)]
pub(super) struct OpenHands;

impl Reader for OpenHands {
    fn id(&self) -> &'static str {
        "openhands"
    }

    fn title(&self) -> &'static str {
        "OpenHands events"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        if sample.layout == Layout::Folder {
            return folder::detect(&sample.entries);
        }
        sample.records().filter_map(|line| confidence(&line)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let mut sink = Sink::new(input, self.id(), each);
        match input.sample()?.layout {
            Layout::Folder => {
                let mut reading = Reading::new(input.name(), input.history());
                folder::read(input, &mut reading)?;
                sink.put(reading.finish())?;
            }
            Layout::Lines => lines(input, &mut sink)?,
            Layout::Document => {
                let bytes = input.document()?;
                with_document(input, self.id(), &bytes, &mut sink, &mut |line, numbering, sink| {
                    value(&line, numbering, input, sink)
                })?;
            }
        }
        sink.finish()
    }
}

/// How much one value looks like OpenHands.
fn confidence(line: &Line<'_>) -> Option<Confidence> {
    match line {
        Line::Object(fields) => of_object(fields),
        Line::List(raw) => {
            let first = first_item(raw)?;
            Fields::of(first).map_or_else(|| of_events(raw), |fields| of_object(&fields))
        }
    }
}

/// An event, or what holds a list of them.
fn of_object(fields: &Fields<'_>) -> Option<Confidence> {
    history(fields).map_or_else(|| event::confidence(fields), of_events)
}

/// How much the first event of a list looks like one; some lists hold pairs of events.
fn of_events(raw: &RawValue) -> Option<Confidence> {
    let first = first_item(raw)?;
    let event = Fields::of(first).or_else(|| items_of(first)?.into_iter().find_map(Fields::of))?;
    event::confidence(&event)
}

fn first_item(raw: &RawValue) -> Option<&RawValue> {
    items_of(raw)?.into_iter().find(|item| item.get().starts_with(['{', '[']))
}

/// The list of events that an object holds.
fn history<'a>(fields: &Fields<'a>) -> Option<&'a RawValue> {
    ["history", "trajectory", "events"].iter().find_map(|key| fields.raw(key)).filter(|raw| raw.get().starts_with('['))
}

/// Lines: events of one session, or records with a session each.
fn lines(input: &Input, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut running = Reading::new(input.name(), input.history());
    let mut records = input.records()?;
    while let Some(record) = records.next()? {
        let Some((number, line)) = sink.loose.accept(record) else { continue };
        match &line {
            Line::Object(fields) if history(fields).is_none() => running.event(fields, number),
            _ => value(&line, Numbering::Line(number), input, sink)?,
        }
    }
    sink.put(running.finish())
}

/// A value with one session, or with several records.
fn value(line: &Line<'_>, numbering: Numbering, input: &Input, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    match line {
        Line::Object(fields) => match history(fields) {
            Some(events) => sink.put(record(fields, events, numbering, input)),
            None => {
                let mut reading = Reading::new(input.name(), input.history());
                reading.event(fields, numbering.record(0));
                sink.put(reading.finish())
            }
        },
        Line::List(raw) => {
            let mut reading = Reading::new(input.name(), input.history());
            for (index, item) in items_of(raw).unwrap_or_default().into_iter().enumerate() {
                match Fields::of(item) {
                    Some(fields) if fields.has("history") && history(&fields).is_some() => {
                        value(&Line::Object(fields), numbering, input, sink)?;
                    }
                    _ => reading.item(item, numbering.record(index)),
                }
            }
            sink.put(reading.finish())
        }
    }
}

/// An evaluation record, or another object around the events.
fn record(fields: &Fields<'_>, events: &RawValue, numbering: Numbering, input: &Input) -> Draft {
    let mut reading = Reading::new(input.name(), input.history());
    for (index, item) in items_of(events).unwrap_or_default().into_iter().enumerate() {
        reading.item(item, numbering.record(index));
    }
    let mut draft = reading.finish();
    draft.own_id = ["instance_id", "conversation_id"].iter().find_map(|key| id(fields, key));
    let issue = fields.object("issue").and_then(|issue| issue.text("title").map(|title| title.into_owned()));
    draft.title = issue.or_else(|| draft.own_id.clone());
    draft
}
