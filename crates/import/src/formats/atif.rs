//! ATIF, Harbor's trajectory format: steps that hold their calls and the observations of them.
//!
//! A system step whose observation points to other trajectories is where the context was summarised. The
//! steps before it stay in the file, so that the original session is the file without that step and the
//! hand-over text behind it.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, named_call, time};
use crate::content::{append, parts};
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::{History, Input};
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, Sink, each_object, each_value, messages};

/// ATIF trajectories.
#[derive(Debug)]
pub(super) struct Atif;

impl Reader for Atif {
    fn id(&self) -> &'static str {
        "atif"
    }

    fn title(&self) -> &'static str {
        "ATIF trajectory"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = match sample.records().next()? {
            Line::Object(fields) => fields,
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of)?,
        };
        let schema = first.text("schema_version")?;
        schema.get(..4).is_some_and(|name| name.eq_ignore_ascii_case("atif")).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let history = input.history();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| {
                trajectory(fields, &Place { file: &file, numbering, history, depth: 0 }, sink)
            })
        })
    }
}

/// Where a trajectory stands, and in which state it is wanted.
struct Place<'f> {
    file: &'f str,
    numbering: Numbering,
    history: History,
    /// How many trajectories it is embedded in.
    depth: usize,
}

/// How deep trajectories are embedded at most; what lies deeper is counted.
const DEEPEST: usize = 8;

/// Puts a trajectory, and those of its sub-agents that are embedded in it.
fn trajectory(fields: &Fields<'_>, place: &Place<'_>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut reading = Reading::new(fields, place.history);
    for (index, step) in messages(fields.raw("steps"), place.numbering, &mut reading.draft.losses) {
        reading.step(&step, place.numbering.at(place.file, index));
    }
    sink.put(reading.finish())?;
    for (_, embedded) in messages(fields.raw("subagent_trajectories"), place.numbering, &mut sink.loose) {
        if place.depth == DEEPEST {
            sink.loose.kind("record:trajectory embedded too deeply", 1);
        } else {
            trajectory(&embedded, &Place { depth: place.depth + 1, ..*place }, sink)?;
        }
    }
    Ok(())
}

/// A trajectory while it is read.
struct Reading {
    draft: Draft,
    history: History,
    /// The step before was a summarisation: a user step now is its hand-over text.
    handing_over: bool,
    summarised: usize,
    copied: usize,
}

impl Reading {
    fn new(fields: &Fields<'_>, history: History) -> Self {
        let mut draft =
            Draft { own_id: id(fields, "trajectory_id").or_else(|| id(fields, "session_id")), ..Draft::default() };
        draft.title = fields.object("agent").and_then(|agent| agent.text("name").map(Cow::into_owned));
        if let Some(next) = fields.label("continued_trajectory_ref") {
            draft.notes.push(format!("goes on in another file: {next}"));
        }
        Self { draft, history, handing_over: false, summarised: 0, copied: 0 }
    }

    fn step(&mut self, step: &Fields<'_>, at: At<'_>) {
        self.copied += usize::from(step.is_true("is_copied_context"));
        let handed_over = std::mem::take(&mut self.handing_over);
        let said = parts(step.raw("message"), at.record, &mut self.draft.losses);
        let source = step.text("source").unwrap_or_default();
        let results = step.object("observation").and_then(|observation| observation.items("results"));
        let role = match source.as_ref() {
            "user" if handed_over && self.history == History::Original => return,
            "user" => Role::User,
            "agent" => Role::Assistant,
            "system" if results.is_some() => {
                self.event(&results.unwrap_or_default(), said, step, at);
                return;
            }
            "system" => Role::System,
            other => {
                self.draft.losses.kind(format!("source:{other}"), at.record);
                Role::Other(other.to_owned())
            }
        };
        let mut turn = Turn { ts: time(step, "timestamp"), ..at.turn(role, said) };
        turn.reasoning = step.text("reasoning_content").filter(|text| !text.is_empty()).map(Cow::into_owned);
        let calls = self.calls(step, at);
        if turn.role == Role::Assistant {
            turn.calls = calls;
        } else {
            for _ in calls {
                self.draft.losses.kind(format!("call:by {source}"), at.record);
            }
        }
        let ts = turn.ts.clone();
        self.draft.turns.push(turn);
        for result in results.unwrap_or_default() {
            match Fields::of(result) {
                Some(result) => self.result(&result, ts.clone(), at),
                None => self.draft.losses.skip(at.record, "a result that is no object"),
            }
        }
    }

    /// A system step with an observation: something the harness did.
    fn event(&mut self, results: &[&RawValue], said: Vec<Part>, step: &Fields<'_>, at: At<'_>) {
        let refers = |result: &Fields<'_>| result.has("subagent_trajectory_ref");
        let summarised = results.iter().filter_map(|result| Fields::of(result)).any(|result| refers(&result));
        let kind = if summarised { "compaction" } else { "event" };
        self.handing_over = summarised;
        self.summarised += usize::from(summarised);
        if summarised && self.history == History::Original {
            return;
        }
        let ts = time(step, "timestamp");
        let mut turn = Turn { ts, ..at.turn(Role::Marker(kind.to_owned()), said) };
        for result in results.iter().filter_map(|result| Fields::of(result)) {
            append(&mut turn.parts, parts(result.raw("content"), at.record, &mut self.draft.losses));
        }
        self.draft.turns.push(turn);
    }

    fn calls(&mut self, step: &Fields<'_>, at: At<'_>) -> Vec<Call> {
        let mut calls = Vec::new();
        for item in step.items("tool_calls").unwrap_or_default() {
            let Some(item) = Fields::of(item) else {
                self.draft.losses.skip(at.record, "a call that is no object");
                continue;
            };
            let id = item.label("tool_call_id").unwrap_or_default().into_owned();
            calls.push(named_call(id, item.text("function_name"), item.raw("arguments")));
        }
        calls
    }

    /// One result. It carries the id of its call only where the file has it there: a terminal shows what it
    /// shows, whichever keystrokes led to it.
    fn result(&mut self, result: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let mut said = parts(result.raw("content"), at.record, &mut self.draft.losses);
        if result.has("subagent_trajectory_ref") {
            let kind = "subagent_trajectory_ref";
            self.draft.losses.kind(format!("part:{kind}"), at.record);
            said.push(Part::Other(kind.to_owned()));
        }
        let call_id = id(result, "source_call_id");
        self.draft.turns.push(Turn { call_id, ts, ..at.turn(Role::Tool, said) });
    }

    fn finish(mut self) -> Draft {
        let notes = &mut self.draft.notes;
        if self.summarised > 0 && self.history == History::Live {
            notes.push(format!(
                "summarised {} time(s): the user turn behind each marker is a hand-over text, not a person's",
                self.summarised
            ));
        }
        if self.copied > 0 {
            notes.push(format!("{} step(s) are copied from an earlier file", self.copied));
        }
        self.draft
    }
}
