//! SWE-agent trajectories. `history` is what the model saw: observations stand in the user role in
//! versions that call no tools, so that only the first message that is no demonstration is a person's.

use laundromat_session::{Role, Turn};

use crate::chat::{At, calls, command_call, id, reasoning, role, thinking_blocks};
use crate::content::parts;
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::Input;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, each_object, each_value, messages};

/// SWE-agent trajectories.
#[derive(Debug)]
pub(super) struct SweAgent;

impl Reader for SweAgent {
    fn id(&self) -> &'static str {
        "swe-agent-traj"
    }

    fn title(&self) -> &'static str {
        "SWE-agent trajectory"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let Line::Object(fields) = sample.records().next()? else { return None };
        (has_history(&fields) || has_trajectory(&fields)).then_some(Confidence::Sure)
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

fn first_of<'a>(fields: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
    items_of(fields.raw(key)?)?.into_iter().find_map(Fields::of)
}

fn has_history(fields: &Fields<'_>) -> bool {
    first_of(fields, "history").is_some_and(|first| {
        let own = ["agent", "message_type", "is_demo"].iter().any(|key| first.has(key));
        first.has("role") && (own || fields.has("trajectory"))
    })
}

fn has_trajectory(fields: &Fields<'_>) -> bool {
    first_of(fields, "trajectory").is_some_and(|first| {
        first.has("action") && first.has("observation") && (first.has("response") || first.has("thought"))
    })
}

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let mut reading = Reading::default();
    let history = messages(fields.raw("history"), numbering, &mut reading.draft.losses);
    let agent = main_agent(&history);
    for (index, message) in &history {
        let at = numbering.at(file, *index);
        if message.text("agent").is_some_and(|name| Some(name.as_ref()) != agent.as_deref()) {
            reading.draft.losses.sidechain.add(at.record);
        } else {
            reading.message(message, at);
        }
    }
    if reading.draft.turns.is_empty() {
        reading.draft.notes.push("holds no history: read from the trajectory, without what was sent first".to_owned());
        for (index, step) in messages(fields.raw("trajectory"), numbering, &mut reading.draft.losses) {
            reading.step(&step, numbering.at(file, index));
        }
    }
    reading.draft
}

/// The agent whose history it is, where several are mixed: the one named as SWE-agent names it, else the first.
fn main_agent(history: &[(usize, Fields<'_>)]) -> Option<String> {
    let names = || history.iter().filter_map(|(_, message)| message.text("agent"));
    ["main", "primary"]
        .iter()
        .find(|main| names().any(|name| name == **main))
        .map(|main| (*main).to_owned())
        .or_else(|| names().next().map(|name| name.into_owned()))
}

/// A session while it is read.
#[derive(Debug, Default)]
struct Reading {
    draft: Draft,
    /// The task was seen: what comes in the user role now is an observation.
    task_seen: bool,
}

impl Reading {
    /// One message of the history, or of a request.
    fn message(&mut self, message: &Fields<'_>, at: At<'_>) {
        let losses = &mut self.draft.losses;
        let role = role(message, at.record, losses);
        let said = parts(message.raw("content"), at.record, losses);
        let demo =
            message.is_true("is_demo") || message.text("message_type").is_some_and(|kind| kind == "demonstration");
        let mut turn = at.turn(role, said);
        turn.synthetic = demo.then(|| "demo".to_owned());
        match turn.role {
            Role::User if demo => {}
            Role::User if !self.task_seen => self.task_seen = true,
            Role::User => turn.role = Role::Tool,
            Role::Tool => turn.call_id = self.answered(message, at),
            Role::Assistant => self.said(message, at, &mut turn),
            _ => {}
        }
        self.draft.turns.push(turn);
    }

    /// What an assistant message holds beside its text.
    fn said(&mut self, message: &Fields<'_>, at: At<'_>, turn: &mut Turn) {
        turn.reasoning = thinking_blocks(message).or_else(|| reasoning(message));
        turn.calls = calls(message, at.record, &mut self.draft.losses);
        // The text of a message without content.
        if turn.parts.is_empty()
            && let Some(thought) = message.text("thought")
        {
            turn.parts = at.says(Role::Assistant, thought).parts;
        }
        if turn.calls.is_empty()
            && let Some(action) = message.text("action").filter(|action| !action.trim().is_empty())
        {
            turn.calls.push(command_call(&action));
        }
    }

    /// The call that a result names; the newer field is a list.
    fn answered(&mut self, message: &Fields<'_>, at: At<'_>) -> Option<String> {
        let ids: Vec<_> = message.items("tool_call_ids").unwrap_or_default().into_iter().filter_map(text_of).collect();
        for _ in ids.iter().skip(1) {
            self.draft.losses.kind("result:for several calls", at.record);
        }
        ids.into_iter()
            .next()
            .map(|id| id.into_owned())
            .filter(|id| !id.is_empty())
            .or_else(|| id(message, "tool_call_id"))
    }

    /// One step of the trajectory: a reply and what came of it. The first has the request it answers.
    fn step(&mut self, step: &Fields<'_>, at: At<'_>) {
        if self.draft.turns.is_empty() {
            let request = step.raw("query").or_else(|| step.raw("messages"));
            for (_, message) in messages(request, Numbering::Line(at.record), &mut self.draft.losses) {
                self.message(&message, at);
            }
        }
        let text = step.text("response").or_else(|| step.text("thought")).unwrap_or_default();
        let mut reply = at.says(Role::Assistant, text);
        self.said(step, at, &mut reply);
        let answers = reply.calls.first().map(|call| call.id.clone()).filter(|id| !id.is_empty());
        self.draft.turns.push(reply);
        if let Some(observation) = step.raw("observation") {
            let said = parts(Some(observation), at.record, &mut self.draft.losses);
            self.draft.turns.push(Turn { call_id: answers, ..at.turn(Role::Tool, said) });
        }
    }
}
