//! opencode: the same records as an export, as a folder of files, in a database, or as a stream of events.
//!
//! * [`message`]: a message and its parts to turns, the same for all layouts.
//! * [`export`], [`folder`], [`database`], [`events`]: where the records stand.

mod database;
mod events;
mod export;
mod folder;
mod message;

use serde_json::value::RawValue;

use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::Input;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::{Layout, Sample};
use crate::sqlite::is_database;
use crate::values::Sink;

/// opencode sessions.
#[derive(Debug)]
pub(super) struct OpenCode;

impl Reader for OpenCode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "opencode session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        if is_database(&sample.head) {
            let own = sample.has_table("part", &["message_id", "data"]) && sample.has_table("message", &["data"]);
            return own.then_some(Confidence::Sure);
        }
        if sample.layout == Layout::Folder {
            let has = |name: &str| sample.entries.iter().any(|entry| entry == name);
            return (has("message") && has("part")).then_some(Confidence::Sure);
        }
        let records = sample.records().filter_map(|line| match line {
            Line::Object(fields) => Some(fields),
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of),
        });
        records.filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let sample = input.sample()?;
        let mut sink = Sink::new(input, self.id(), each);
        if is_database(&sample.head) {
            database::read(input, &mut sink)?;
        } else if sample.layout == Layout::Folder {
            folder::read(input, &mut sink)?;
        } else if sample.objects().any(|fields| events::event_of(&fields).is_some()) {
            events::read(input, &mut sink)?;
        } else {
            export::read(input, self.id(), sample.layout, &mut sink)?;
        }
        sink.finish()
    }
}

/// How much one record looks like opencode.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if events::event_of(fields).is_some() {
        return Some(Confidence::Sure);
    }
    if fields.object("info").is_some() && fields.items("parts").is_some() {
        return Some(Confidence::Likely);
    }
    let messages = fields.items("messages")?;
    let own = |raw: &&RawValue| Fields::of(raw).is_some_and(|one| one.has("info") && one.has("parts"));
    messages.iter().any(own).then_some(Confidence::Sure)
}
