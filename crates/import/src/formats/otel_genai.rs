//! Spans of model calls after the OpenTelemetry conventions: OTLP JSON, and stores that wrap spans in
//! observations. Every span repeats the history before it, so that the last one of a conversation is the session.
//!
//! * [`spans`]: spans out of their containers; [`dialogue`]: what a span says.

mod dialogue;
mod spans;

use std::collections::BTreeMap;

use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::{History, Input};
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Sink, values};

use dialogue::Told;
use spans::collect;

/// OpenTelemetry GenAI spans.
#[derive(Debug)]
pub(super) struct OtelGenAi;

impl Reader for OtelGenAi {
    fn id(&self) -> &'static str {
        "otel-genai"
    }

    fn title(&self) -> &'static str {
        "OpenTelemetry GenAI spans"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = match sample.records().next()? {
            Line::Object(fields) => fields,
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of)?,
        };
        let is_otlp = first.has("resourceSpans") || first.has("resource_spans");
        let is_store = first.has("observations") && (first.has("trace") || first.has("id"));
        (is_otlp || is_store).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let mut found: BTreeMap<String, Vec<Told>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut sink = Sink::new(input, self.id(), each);
        values(input, self.id(), &mut sink, &mut |line, numbering, sink| {
            for span in collect(&line, numbering) {
                let told = dialogue::told(span, &file);
                if told.turns.is_empty() {
                    sink.loose.absorb(told.losses);
                    sink.loose.kind(format!("span:{}", told.span.operation()), told.span.record());
                    continue;
                }
                let key = told.span.conversation();
                if !found.contains_key(&key) {
                    order.push(key.clone());
                }
                found.entry(key).or_default().push(told);
            }
            Ok(())
        })?;
        // Spans of one conversation may be spread over the lines of a file.
        for key in order {
            let told = found.remove(&key).unwrap_or_default();
            sink.put(session(&key, told, input.history()))?;
        }
        sink.finish()
    }
}

/// The session of a conversation: what its last span says.
fn session(conversation: &str, mut told: Vec<Told>, history: History) -> Draft {
    told.sort_by(|a, b| a.span.ended().cmp(&b.span.ended()));
    let mut draft = Draft { own_id: Some(conversation.to_owned()), ..Draft::default() };
    // What an exporter cut off says less than the span before it, which is whole.
    let cut = told.iter().filter(|it| it.is_cut).count();
    if cut > 0 {
        draft.notes.push(format!("{cut} spans have messages that the exporter cut off"));
        if cut < told.len() {
            told.retain(|it| !it.is_cut);
        }
    }
    // An agent's span repeats what its calls said, often in short: it counts where it says more.
    let calls = told.iter().filter(|it| it.span.is_call()).map(|it| it.turns.len()).max();
    if let Some(longest) = calls {
        told.retain(|it| it.span.is_call() || it.turns.len() > longest);
    }
    let shorter: Vec<usize> = told
        .windows(2)
        .filter(|pair| pair[1].turns.len() < pair[0].turns.len())
        .map(|pair| pair[1].span.record())
        .collect();
    if let Some(first) = shorter.first() {
        draft.notes.push(format!(
            "the history got shorter {} times, first in span {first}: compacted, or several agents in one trace",
            shorter.len()
        ));
    }
    let last = match (history, shorter.first()) {
        // What was told in full before the first time that the history got shorter.
        (History::Original, Some(first)) => told.iter().position(|it| it.span.record() == *first).unwrap_or(told.len()),
        _ => told.len(),
    };
    if let Some(last) = told.into_iter().take(last).next_back() {
        draft.turns = last.turns;
        draft.losses = last.losses;
    }
    draft
}
