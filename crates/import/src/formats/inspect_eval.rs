//! Inspect logs: a zip archive with a file a sample, or one JSON document; each sample is a session.
//!
//! * [`packed`]: the `.eval` archive; [`sample`]: a sample; [`attachments`]: texts that stand elsewhere;
//!   [`events`]: messages where only the events have them.

mod attachments;
mod events;
mod packed;
mod sample;

use std::borrow::Cow;

use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, Sink, each_object, each_value, messages};

/// What begins a zip archive.
const ZIP: &[u8] = b"PK\x03\x04";

/// Inspect logs.
#[derive(Debug)]
pub(super) struct InspectEval;

impl Reader for InspectEval {
    fn id(&self) -> &'static str {
        "inspect-eval"
    }

    fn title(&self) -> &'static str {
        "Inspect log"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        if sample.head.starts_with(ZIP) {
            return packed::detect(&sample.head);
        }
        let Line::Object(fields) = sample.records().next()? else { return None };
        if fields.object("eval").is_some() && (fields.has("plan") || fields.has("samples") || fields.has("status")) {
            return Some(Confidence::Sure);
        }
        is_sample(&fields).then_some(Confidence::Likely)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        if input.starts_with(ZIP)? {
            let mut sink = Sink::new(input, self.id(), each);
            packed::read(input, self.id(), &mut sink)?;
            return sink.finish();
        }
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| document(fields, numbering, input, sink))
        })
    }
}

/// Whether an object is one sample, taken out of its log.
fn is_sample(fields: &Fields<'_>) -> bool {
    fields.has("epoch") && fields.has("messages") && (fields.has("target") || fields.has("input"))
}

/// What a log says of all its samples.
#[derive(Debug, Default)]
struct Log {
    stem: String,
    task: Option<String>,
    notes: Vec<String>,
    history: History,
}

impl Log {
    /// The log in `input`, by its header.
    fn new(input: &Input, header: Option<&Fields<'_>>) -> Self {
        let task =
            header.and_then(|header| header.object("eval")).and_then(|eval| eval.text("task").map(Cow::into_owned));
        let status = header.and_then(|header| header.text("status"));
        let unfinished = status.filter(|status| status != "success");
        let notes = unfinished.map(|status| format!("from a log whose status is {status}")).into_iter().collect();
        Self { stem: input.stem().into_owned(), task, notes, history: input.history() }
    }

    /// The session of a sample, in the file `file`; `name` is what the sample is called where it has no id.
    fn session(&self, fields: &Fields<'_>, name: &str, file: &str, numbering: Numbering) -> Draft {
        let mut draft = sample::session(fields, file, numbering, self.history);
        let id = fields.label("id").map(Cow::into_owned).unwrap_or_else(|| name.to_owned());
        let epoch = fields.label("epoch").unwrap_or(Cow::Borrowed("1"));
        let name = format!("-{id}_epoch_{epoch}");
        // The end of an id that is too long would be cut off.
        let room = 100_usize.saturating_sub(name.chars().count());
        draft.own_id = Some(self.stem.chars().take(room).chain(name.chars()).collect());
        let task = self.task.as_ref().map(|task| format!("{task}, ")).unwrap_or_default();
        draft.title = Some(format!("{task}sample {id}, epoch {epoch}"));
        draft.notes.extend(self.notes.iter().cloned());
        draft
    }
}

/// A log as one document, or a sample on its own.
fn document(
    fields: &Fields<'_>,
    numbering: Numbering,
    input: &Input,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let file = input.name();
    if is_sample(fields) {
        return sink.put(Log::new(input, None).session(fields, "sample", &file, numbering));
    }
    let log = Log::new(input, Some(fields));
    for (index, sample) in messages(fields.raw("samples"), numbering, &mut sink.loose) {
        sink.put(log.session(&sample, &(index + 1).to_string(), &file, numbering))?;
    }
    Ok(())
}
