//! tau-bench and tau2: results of a benchmark in which a model plays the user. Call ids come again in one
//! session; in tau2 the user may call tools too.
//!
//! No turn of the simulated user is marked synthetic: to the agent it is its user.

use laundromat_session::{Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, calls, id, reasoning, role, time};
use crate::content::parts;
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::Input;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, each_object, each_value, messages};

/// tau-bench and tau2 results.
#[derive(Debug)]
pub(super) struct TauBench;

impl Reader for TauBench {
    fn id(&self) -> &'static str {
        "tau-bench"
    }

    fn title(&self) -> &'static str {
        "tau-bench results"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        match sample.records().next()? {
            Line::Object(fields) if simulations(&fields).is_some() => Some(Confidence::Sure),
            Line::Object(fields) => is_run(&fields).then_some(Confidence::Sure),
            Line::List(raw) => is_run(&items_of(raw)?.into_iter().find_map(Fields::of)?).then_some(Confidence::Sure),
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| match simulations(fields) {
                Some(runs) => {
                    for (_, run) in messages(Some(runs), numbering, &mut sink.loose) {
                        sink.put_unmarked(session(&run, &file, numbering))?;
                    }
                    Ok(())
                }
                None => sink.put_unmarked(session(fields, &file, numbering)),
            })
        })
    }
}

/// The runs of a tau2 results file.
fn simulations<'a>(fields: &Fields<'a>) -> Option<&'a RawValue> {
    let runs = fields.raw("simulations")?;
    let first = items_of(runs)?.into_iter().find_map(Fields::of)?;
    (first.has("messages") || first.has("task_id")).then_some(runs)
}

/// Whether an object is one run, of either version.
fn is_run(fields: &Fields<'_>) -> bool {
    let is_list = |key: &str| fields.raw(key).is_some_and(|raw| raw.get().starts_with('['));
    let old = is_list("traj") && (fields.has("task_id") || fields.has("reward"));
    let new = is_list("messages")
        && fields.has("task_id")
        && ["reward_info", "termination_reason", "agent_cost"].iter().any(|key| fields.has(key));
    old || new
}

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let mut draft = Draft { own_id: id(fields, "id"), ..Draft::default() };
    let trial = fields.label("trial").map(|trial| format!(", trial {trial}")).unwrap_or_default();
    draft.title = fields.label("task_id").map(|task| format!("task {task}{trial}"));
    let list = fields.raw("traj").or_else(|| fields.raw("messages"));
    for (index, message) in messages(list, numbering, &mut draft.losses) {
        let at = numbering.at(file, index);
        match message.raw("tool_messages") {
            // Several results in one message.
            Some(results) => {
                for (_, result) in messages(Some(results), Numbering::Line(at.record), &mut draft.losses) {
                    turns(&result, at, &mut draft);
                }
            }
            None => turns(&message, at, &mut draft),
        }
    }
    draft
}

/// Adds the turns of one message.
fn turns(message: &Fields<'_>, at: At<'_>, draft: &mut Draft) {
    let Draft { turns, losses, .. } = draft;
    let role = role(message, at.record, losses);
    let ts = time(message, "timestamp");
    let said = parts(message.raw("content"), at.record, losses);
    let calls = calls(message, at.record, losses);
    let mut turn = Turn { ts: ts.clone(), reasoning: reasoning(message), ..at.turn(role.clone(), said) };
    match role {
        Role::Assistant => turn.calls = calls,
        Role::Tool => {
            turn.call_id = id(message, "tool_call_id").or_else(|| id(message, "id"));
            turn.is_error = message.is_true("error");
        }
        // Only the agent's side of a session has calls; the user's stand beside what the user said.
        _ if !calls.is_empty() => {
            note_calls(losses, at, calls.len());
            turns.push(turn);
            turn = Turn { ts, calls, synthetic: Some("user_tools".to_owned()), ..at.turn(Role::Assistant, Vec::new()) };
        }
        _ => {}
    }
    turns.push(turn);
}

fn note_calls(losses: &mut Losses, at: At<'_>, count: usize) {
    for _ in 0..count {
        losses.kind("call:by user", at.record);
    }
}
