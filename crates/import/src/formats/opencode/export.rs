//! The export: one object with the session and its messages, or such an object a line.

use serde_json::value::RawValue;

use super::message::Messages;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::records::Line;
use crate::sample::Layout;
use crate::values::{Numbering, Sink, each_object, messages, with_document};

/// Puts the sessions of the export `input`.
pub(super) fn read(
    input: &Input,
    format: &'static str,
    layout: Layout,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let file = input.name();
    let place = Place { file: &file, history: input.history() };
    if layout == Layout::Lines {
        // A message a line is one session.
        let mut running = Messages::new(place.history);
        let mut records = input.records()?;
        while let Some(record) = records.next()? {
            let Some((number, line)) = sink.loose.accept(record) else { continue };
            match line {
                Line::Object(fields) if fields.has("parts") => {
                    place.message(&fields, 0, Numbering::Line(number), &mut running);
                }
                line => place.value(&line, Numbering::Line(number), sink)?,
            }
        }
        return sink.put(running.finish());
    }
    let bytes = input.document()?;
    with_document(input, format, &bytes, sink, &mut |line, numbering, sink| place.value(&line, numbering, sink))
}

/// Where an export stands, and in which state it is wanted.
struct Place<'f> {
    file: &'f str,
    history: History,
}

impl Place<'_> {
    fn value(&self, line: &Line<'_>, numbering: Numbering, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        // A bare list of messages is one session.
        if let Line::List(raw) = line
            && crate::fields::items_of(raw).is_some_and(|items| items.iter().any(|item| is_message(item)))
        {
            return sink.put(self.session(None, Some(raw), numbering));
        }
        each_object(line, numbering, sink, &mut |fields, sink| {
            sink.put(self.session(fields.object("info").as_ref(), fields.raw("messages"), numbering))
        })
    }

    fn session(
        &self,
        info: Option<&Fields<'_>>,
        list: Option<&RawValue>,
        numbering: Numbering,
    ) -> crate::outlet::Draft {
        let mut reading = Messages::new(self.history);
        if let Some(info) = info {
            reading.head(info);
        }
        let mut all = messages(list, numbering, &mut reading.draft.losses);
        let id = |message: &Fields<'_>| message.object("info").and_then(|info| info.text("id").map(String::from));
        in_order(&mut all, |(_, message)| id(message));
        for (index, message) in all {
            self.message(&message, index, numbering, &mut reading);
        }
        reading.finish()
    }

    fn message(&self, message: &Fields<'_>, index: usize, numbering: Numbering, reading: &mut Messages) {
        let record = numbering.record(index);
        let Some(info) = message.object("info") else {
            reading.draft.losses.skip(record, "a message without info");
            return;
        };
        let raw = message.items("parts").unwrap_or_default();
        let count = raw.len();
        let parts = sorted(raw.into_iter().filter_map(Fields::of).collect());
        for _ in parts.len()..count {
            reading.draft.losses.skip(record, "a part that is no object");
        }
        reading.message(&info, &parts, numbering.at(self.file, index));
    }
}

fn is_message(raw: &RawValue) -> bool {
    Fields::of(raw).is_some_and(|message| message.has("info") && message.has("parts"))
}

/// Parts in order of their ids.
pub(super) fn sorted(mut parts: Vec<Fields<'_>>) -> Vec<Fields<'_>> {
    in_order(&mut parts, |part| part.text("id").map(String::from));
    parts
}

/// Puts records in order of their ids, which ascend with time. One without stays behind the one before it.
fn in_order<T>(records: &mut Vec<T>, id: impl Fn(&T) -> Option<String>) {
    let mut before = String::new();
    let mut keyed: Vec<(String, T)> = Vec::with_capacity(records.len());
    for record in records.drain(..) {
        before = id(&record).unwrap_or(before);
        keyed.push((before.clone(), record));
    }
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    records.extend(keyed.into_iter().map(|(_, record)| record));
}
