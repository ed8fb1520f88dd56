//! AgentDojo run logs: Chat-like messages with calls of their own spelling, often without ids, and the
//! planted texts of the attack.

use laundromat_session::{Part, Role, Turn};

use crate::chat::{At, calls, id, reasoning, role};
use crate::content::{compact, push_block, push_reasoning, push_text};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::Input;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, each_object, each_value, messages};

/// What names a run, in the order of its path.
const NAMES: [&str; 5] = ["pipeline_name", "suite_name", "user_task_id", "attack_type", "injection_task_id"];

/// AgentDojo runs.
#[derive(Debug)]
pub(super) struct AgentDojo;

impl Reader for AgentDojo {
    fn id(&self) -> &'static str {
        "agentdojo"
    }

    fn title(&self) -> &'static str {
        "AgentDojo run"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let is_run = |fields: &Fields<'_>| fields.has("suite_name") && fields.has("pipeline_name");
        let first = match sample.records().next()? {
            Line::Object(fields) => fields,
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of)?,
        };
        is_run(&first).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| {
                sink.put_unmarked(session(fields, &file, numbering))
            })
        })
    }
}

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let mut draft = Draft::default();
    let names: Vec<String> = NAMES.iter().filter_map(|key| id(fields, key)).collect();
    if !names.is_empty() {
        draft.own_id = Some(names.join("-"));
        draft.title = Some(names.join("/"));
    }
    let planted = fields.object("injections").map_or(0, |injections| injections.count());
    if planted > 0 {
        draft.notes.push(format!("holds planted text in its tool results: {planted} under injections"));
    }
    for (index, message) in messages(fields.raw("messages"), numbering, &mut draft.losses) {
        let turn = turn(&message, numbering.at(file, index), &mut draft.losses);
        draft.turns.push(turn);
    }
    draft
}

fn turn(message: &Fields<'_>, at: At<'_>, losses: &mut Losses) -> Turn {
    let mut thought = reasoning(message);
    let said = content(message, at.record, &mut thought, losses);
    let role = role(message, at.record, losses);
    let mut turn = Turn { reasoning: thought, ..at.turn(role, said) };
    let calls = calls(message, at.record, losses);
    match turn.role {
        Role::Assistant => turn.calls = calls,
        Role::Tool => {
            turn.call_id =
                id(message, "tool_call_id").or_else(|| message.object("tool_call").and_then(|call| id(&call, "id")));
            // The text of a failure may stand nowhere else.
            if let Some(error) = message.text("error").filter(|error| !error.is_empty()) {
                turn.is_error = true;
                if turn.text().is_empty() {
                    turn.parts = vec![Part::Text(error.into_owned())];
                }
            }
        }
        _ => {
            for _ in calls {
                losses.kind(format!("call:by {}", turn.role.as_str()), at.record);
            }
        }
    }
    turn
}

/// Text, or blocks whose text stands under `content`; the two spellings mix in one file.
fn content(message: &Fields<'_>, record: usize, thought: &mut Option<String>, losses: &mut Losses) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some(raw) = message.raw("content") else { return parts };
    let Some(items) = items_of(raw) else {
        push_text(&mut parts, text_of(raw).unwrap_or_else(|| compact(raw).into()));
        return parts;
    };
    for item in items {
        let Some(block) = Fields::of(item) else {
            push_text(&mut parts, text_of(item).unwrap_or_else(|| compact(item).into()));
            continue;
        };
        match (block.text("type").as_deref(), block.text("content")) {
            (Some("text"), Some(text)) => push_text(&mut parts, text),
            (Some("thinking"), Some(text)) => push_reasoning(thought, text),
            (Some("redacted_thinking"), _) => push_reasoning(thought, "[redacted]".into()),
            _ => push_block(&mut parts, &block, record, losses),
        }
    }
    parts
}
