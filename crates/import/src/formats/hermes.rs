//! Hermes Agent: a SQLite store of sessions, and its exports as JSON.
//!
//! * [`row`]: what one message says, from a row or from an export; [`summary`]: where a compaction's summary
//!   stands in the words of a turn; [`history`]: the session before it was compacted; [`database`]: the store.

mod database;
mod history;
mod row;
mod summary;

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::chat::{At, id};
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::{History, Input};
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::{Layout, Sample};
use crate::sqlite::is_database;
use crate::values::{Numbering, Sink, each_object, messages, with_document};

use row::Entries;

/// Hermes stores and exports.
#[derive(Debug)]
pub(super) struct Hermes;

impl Reader for Hermes {
    fn id(&self) -> &'static str {
        "hermes"
    }

    fn title(&self) -> &'static str {
        "Hermes Agent store or export"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        if is_database(&sample.head) {
            let prompts = ["system_prompt", "system_prompt_hash"];
            let own = prompts.iter().any(|column| sample.has_table("sessions", &[column]));
            let sure = own && sample.has_table("messages", &["tool_call_id", "session_id"]);
            return sure.then_some(Confidence::Sure);
        }
        let records = sample.records().filter_map(|line| match line {
            Line::Object(fields) => Some(fields),
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of),
        });
        records.filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let sample = input.sample()?;
        let mut sink = Sink::new(input, self.id(), each);
        if is_database(&sample.head) {
            database::read(input, &file, &mut sink)?;
            return sink.finish();
        }
        let mut exports = Exports { file: &file, history: input.history(), running: None };
        match sample.layout {
            Layout::Lines => {
                let mut records = input.records()?;
                while let Some(record) = records.next()? {
                    if let Some((number, line)) = sink.loose.accept(record) {
                        exports.value(&line, Numbering::Line(number), &mut sink)?;
                    }
                }
            }
            Layout::Document | Layout::Folder => {
                let bytes = input.document()?;
                with_document(input, self.id(), &bytes, &mut sink, &mut |line, numbering, sink| {
                    exports.value(&line, numbering, sink)
                })?;
            }
        }
        exports.end(&mut sink)?;
        sink.finish()
    }
}

/// How much a record looks like an export: a session with its messages, or one message of the store.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if fields.items("messages").is_some() {
        let head = ["source", "started_at", "end_reason", "parent_session_id", "message_count"];
        let known = head.iter().filter(|key| fields.has(key)).count();
        return (known >= 2 && !fields.has("working_dir")).then_some(Confidence::Sure);
    }
    let message = ["session_id", "role", "content", "timestamp"].iter().all(|key| fields.has(key));
    (message && !fields.has("type") && !fields.has("uuid")).then_some(Confidence::Sure)
}

/// The exports in a file: sessions, or messages that make up sessions.
struct Exports<'f> {
    file: &'f str,
    history: History,
    /// The session that single messages make up, until another begins.
    running: Option<(String, Entries)>,
}

impl Exports<'_> {
    fn value(&mut self, line: &Line<'_>, numbering: Numbering, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let mut index = 0;
        each_object(line, numbering, sink, &mut |fields, sink| {
            let at = numbering.at(self.file, index);
            index += 1;
            match fields.raw("messages") {
                Some(list) => self.session(fields, list, numbering, sink),
                None => self.message(fields, at, sink),
            }
        })
    }

    fn session(
        &mut self,
        fields: &Fields<'_>,
        list: &RawValue,
        numbering: Numbering,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), ImportError> {
        self.end(sink)?;
        let mut entries = Entries::default();
        for (index, message) in messages(Some(list), numbering, &mut entries.losses) {
            entries.message(&message, numbering.at(self.file, index));
        }
        let mut draft = entries.finish(self.history);
        head(fields, &mut draft);
        sink.put(draft)
    }

    fn message(&mut self, fields: &Fields<'_>, at: At<'_>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        if !fields.has("role") {
            sink.loose.kind("record:", at.record);
            return Ok(());
        }
        let own = id(fields, "session_id").unwrap_or_default();
        if self.running.as_ref().is_some_and(|(running, _)| *running != own) {
            self.end(sink)?;
        }
        let (_, entries) = self.running.get_or_insert_with(|| (own, Entries::default()));
        entries.message(fields, at);
        Ok(())
    }

    /// Ends the session that single messages made up.
    fn end(&mut self, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        let Some((own, entries)) = self.running.take() else { return Ok(()) };
        let mut draft = entries.finish(self.history);
        draft.own_id = Some(own).filter(|own| !own.is_empty());
        sink.put(draft)
    }
}

/// What the head of a session says.
fn head(fields: &Fields<'_>, draft: &mut Draft) {
    draft.own_id = id(fields, "id").or_else(|| id(fields, "session_id"));
    draft.title = fields.text("title").filter(|title| !title.is_empty()).map(Cow::into_owned);
    if let Some(parent) = id(fields, "parent_session_id") {
        draft.notes.push(format!("belongs to session {parent}, as its continuation, branch or sub-agent"));
    }
    if ["system_prompt", "system_prompt_hash"].iter().any(|key| fields.raw(key).is_some()) {
        draft.notes.push("the system prompt is kept beside the messages and not taken over".to_owned());
    }
}
