//! Gemini CLI chats: one document, or lines in which a message is written again whenever it grows. The
//! results of calls stand inside the calls.
//!
//! * [`chat`]: from messages to turns; [`folded`]: lines to the messages as they were last written.

mod chat;
mod folded;

use laundromat_session::Turn;

use crate::chat::{At, id};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::{Layout, Sample};
use crate::values::{Numbering, Sink, each_object, messages, with_document};

use folded::Folded;

/// Gemini CLI chats.
#[derive(Debug)]
pub(super) struct GeminiCli;

impl Reader for GeminiCli {
    fn id(&self) -> &'static str {
        "gemini-cli"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI chat"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        sample.objects().filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let mut sink = Sink::new(input, self.id(), each);
        match input.sample()?.layout {
            Layout::Lines => lines(input, &file, &mut sink)?,
            Layout::Document | Layout::Folder => {
                let bytes = input.document()?;
                with_document(input, self.id(), &bytes, &mut sink, &mut |line, numbering, sink| {
                    each_object(&line, numbering, sink, &mut |fields, sink| document(fields, &file, numbering, sink))
                })?;
            }
        }
        sink.finish()
    }
}

/// How much one record looks like a chat.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if fields.has("uuid") {
        return None;
    }
    if fields.has("sessionId") && fields.has("projectHash") {
        return Some(Confidence::Sure);
    }
    if fields.object("$set").is_some() || fields.label("$rewindTo").is_some() {
        return Some(Confidence::Sure);
    }
    let kind = fields.text("type")?;
    let message = fields.has("id") && fields.has("content") && fields.has("timestamp");
    match kind.as_ref() {
        "gemini" if message => Some(Confidence::Sure),
        "user" | "info" if message && !fields.has("message") => Some(Confidence::Likely),
        _ => None,
    }
}

/// The head of a chat.
fn head(fields: &Fields<'_>, draft: &mut Draft) {
    if let Some(own) = id(fields, "sessionId") {
        draft.own_id = Some(own);
    }
    if let Some(summary) = fields.text("summary") {
        draft.title = Some(summary.into_owned());
    }
    if let Some(kind) = fields.text("kind").filter(|kind| !matches!(kind.as_ref(), "main" | "chat")) {
        let note = format!("a chat of kind {kind}: its first user turn was written by the agent that started it");
        if !draft.notes.contains(&note) {
            draft.notes.push(note);
        }
    }
}

fn document(fields: &Fields<'_>, file: &str, numbering: Numbering, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut draft = Draft::default();
    head(fields, &mut draft);
    let mut folded = Folded::new(History::Live);
    for (index, message) in messages(fields.raw("messages"), numbering, &mut draft.losses) {
        folded.message(&message, numbering.record(index), &mut draft.losses);
    }
    draft.turns = turns(&folded, file, &mut draft.losses);
    sink.put_unmarked(draft)
}

fn lines(input: &Input, file: &str, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut draft = Draft::default();
    let mut folded = Folded::new(input.history());
    let mut records = input.records()?;
    while let Some(record) = records.next()? {
        let Some((number, line)) = draft.losses.accept(record) else { continue };
        let Line::Object(fields) = line else {
            draft.losses.skip(number, "JSON, but no object");
            continue;
        };
        if let Some(set) = fields.object("$set") {
            head(&set, &mut draft);
            if let Some(list) = set.items("messages") {
                folded.replace(&list, number);
            }
        } else if let Some(target) = fields.label("$rewindTo") {
            folded.rewind(&target, number, &mut draft.losses);
        } else if fields.has("type") {
            folded.message(&fields, number, &mut draft.losses);
        } else if fields.has("sessionId") {
            head(&fields, &mut draft);
            // A document that was put on one line, and lines behind it.
            if let Some(list) = fields.items("messages") {
                folded.replace(&list, number);
            }
        } else {
            draft.losses.kind("record:", number);
        }
    }
    draft.turns = turns(&folded, file, &mut draft.losses);
    sink.put_unmarked(draft)
}

/// The turns of the messages as they were last written.
fn turns(folded: &Folded, file: &str, losses: &mut Losses) -> Vec<Turn> {
    let mut turns = chat::Turns::default();
    for (record, raw) in folded.messages() {
        match Fields::of(raw) {
            Some(message) => turns.message(&message, At { file, record }, losses),
            None => losses.skip(record, "a message that is no object"),
        }
    }
    turns.finish()
}
