//! goose sessions: JSON lines behind a head, a document with a `conversation`, or a SQLite database with
//! many sessions.
//!
//! * [`message`]: what one message says, the same in all three; [`database`]: the newer store.

mod database;
mod message;

use std::borrow::Cow;

use crate::chat::{At, id};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::{Layout, Sample};
use crate::sqlite::is_database;
use crate::values::{Numbering, Sink, each_object, messages, with_document};

use message::Messages;

/// goose sessions.
#[derive(Debug)]
pub(super) struct Goose;

impl Reader for Goose {
    fn id(&self) -> &'static str {
        "goose"
    }

    fn title(&self) -> &'static str {
        "goose session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        if is_database(&sample.head) {
            return sample.has_table("messages", &["session_id", "role", "content_json"]).then_some(Confidence::Sure);
        }
        sample.objects().filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let history = input.history();
        let sample = input.sample()?;
        let mut sink = Sink::new(input, self.id(), each);
        if is_database(&sample.head) {
            database::read(input, &file, &mut sink)?;
            return sink.finish();
        }
        match sample.layout {
            Layout::Lines => lines(input, &file, &mut sink)?,
            Layout::Document | Layout::Folder => {
                let bytes = input.document()?;
                with_document(input, self.id(), &bytes, &mut sink, &mut |line, numbering, sink| {
                    each_object(&line, numbering, sink, &mut |fields, sink| {
                        document(fields, &file, numbering, history, sink)
                    })
                })?;
            }
        }
        sink.finish()
    }
}

/// How much one record looks like goose.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if fields.has("working_dir") {
        let head = ["message_count", "conversation", "schedule_id", "accumulated_total_tokens"];
        let sure = head.iter().any(|key| fields.has(key));
        return Some(if sure { Confidence::Sure } else { Confidence::Likely });
    }
    let own =
        |kind: &str| matches!(kind, "toolRequest" | "toolResponse" | "frontendToolRequest" | "systemNotification");
    let blocks = fields.items("content").unwrap_or_default();
    let mut kinds = blocks.into_iter().filter_map(Fields::of).filter_map(|block| block.text("type"));
    if fields.has("role") && kinds.any(|kind| own(&kind)) {
        return Some(Confidence::Sure);
    }
    (fields.has("role") && fields.has("created") && fields.items("content").is_some()).then_some(Confidence::Likely)
}

/// What the head of a session says.
fn head(fields: &Fields<'_>, draft: &mut Draft) {
    draft.own_id = id(fields, "id");
    let title = ["name", "description"].iter().find_map(|key| fields.text(key).filter(|title| !title.is_empty()));
    draft.title = title.map(Cow::into_owned);
}

fn document(
    fields: &Fields<'_>,
    file: &str,
    numbering: Numbering,
    history: History,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let mut reading = Messages::new(history);
    head(fields, &mut reading.draft);
    let list = fields.raw("conversation").or_else(|| fields.raw("messages"));
    // The conversation may stand one level deeper, with its own name.
    let inner = list.and_then(Fields::of).and_then(|inner| inner.raw("messages"));
    for (index, message) in messages(inner.or(list), numbering, &mut reading.draft.losses) {
        reading.message(&message, numbering.at(file, index));
    }
    sink.put(reading.finish())
}

fn lines(input: &Input, file: &str, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut reading = Messages::new(input.history());
    let mut records = input.records()?;
    while let Some(record) = records.next()? {
        let Some((number, line)) = reading.draft.losses.accept(record) else { continue };
        match line {
            Line::Object(fields) if fields.has("role") => reading.message(&fields, At { file, record: number }),
            Line::Object(fields) if fields.has("working_dir") || fields.has("message_count") => {
                head(&fields, &mut reading.draft);
            }
            Line::Object(_) => reading.draft.losses.kind("record:", number),
            Line::List(_) => reading.draft.losses.skip(number, "JSON, but no object"),
        }
    }
    sink.put(reading.finish())
}
