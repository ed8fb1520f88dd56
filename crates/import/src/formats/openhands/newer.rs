//! Events of the SDK, each with a `kind`.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{calls, id, reasoning, role, thinking_blocks};
use crate::content::{append, arguments, compact, parts, push_block, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::losses::Losses;

use super::event::Reading;

/// Fields of an observation that hold its text, where it has no `content`.
const TEXTS: [&str; 4] = ["output", "message", "text", "error"];

impl Reading {
    /// Takes over an event with a `kind`.
    pub(super) fn newer(&mut self, fields: &Fields<'_>, record: usize) {
        let kind = fields.text("kind").unwrap_or_default();
        match kind.as_ref() {
            "SystemPromptEvent" => self.system_prompt(fields, record),
            "MessageEvent" => self.spoken(fields, record),
            "ActionEvent" => self.acted(fields, record),
            "ObservationEvent" => self.observed(fields, record),
            "AgentErrorEvent" => self.failed(fields, "error", record),
            "UserRejectObservation" => self.failed(fields, "rejection_reason", record),
            "Condensation" => self.condensation(fields.text("summary").as_deref(), fields, record),
            other => self.draft.losses.kind(format!("record:{other}"), record),
        }
    }

    /// The prompt, and what of it differs from run to run.
    fn system_prompt(&mut self, fields: &Fields<'_>, record: usize) {
        let mut turn = self.turn(Role::System, "", fields, record);
        for key in ["system_prompt", "dynamic_context"] {
            append(&mut turn.parts, content(fields.raw(key), record, &mut self.draft.losses));
        }
        self.push(turn);
    }

    fn spoken(&mut self, fields: &Fields<'_>, record: usize) {
        let Some(message) = fields.object("llm_message") else {
            self.draft.losses.skip(record, "a message event without llm_message");
            return;
        };
        let losses = &mut self.draft.losses;
        let role = role(&message, record, losses);
        let said = content(message.raw("content"), record, losses);
        for _ in fields.items("extended_content").unwrap_or_default() {
            losses.kind("part:extended_content", record);
        }
        let source = fields.text("source").unwrap_or_default();
        let mut turn = Turn { parts: said, ..self.turn(role, "", fields, record) };
        match turn.role {
            // The harness speaks in the user role too.
            Role::User if !matches!(source.as_ref(), "user" | "") => turn.synthetic = Some(source.into_owned()),
            Role::Tool => turn.call_id = id(&message, "tool_call_id"),
            Role::Assistant => {
                turn.reasoning = thought(&message);
                turn.calls = calls(&message, record, &mut self.draft.losses);
            }
            _ => {}
        }
        self.push(turn);
    }

    fn acted(&mut self, fields: &Fields<'_>, record: usize) {
        let own = id(fields, "id");
        let said = content(fields.raw("thought"), record, &mut self.draft.losses);
        let turn = self.turn(Role::Assistant, "", fields, record);
        let turn = Turn { parts: said, reasoning: thought(fields), ..turn };
        let asked = fields.object("tool_call");
        let given = id(fields, "tool_call_id").or_else(|| asked.as_ref().and_then(|asked| id(asked, "id")));
        let function = asked.as_ref().and_then(|asked| asked.object("function"));
        let from = |key: &str| {
            let flat = asked.as_ref().and_then(|asked| asked.raw(key));
            flat.or_else(|| function.as_ref().and_then(|function| function.raw(key)))
        };
        let name = from("name").and_then(text_of).or_else(|| fields.text("tool_name"));
        let arguments = arguments(from("arguments").or_else(|| fields.raw("action")));
        let call = Call { id: self.call_id(own.as_deref(), given), name: tool_name(name), arguments };
        self.call(id(fields, "llm_response_id"), turn, call);
    }

    fn observed(&mut self, fields: &Fields<'_>, record: usize) {
        let own = id(fields, "id");
        let observation = fields.object("observation");
        let mut turn = self.turn(Role::Tool, "", fields, record);
        turn.parts = match &observation {
            Some(observation) => observation_parts(observation, record, &mut self.draft.losses),
            None => content(fields.raw("observation"), record, &mut self.draft.losses),
        };
        turn.is_error = observation.as_ref().is_some_and(is_error);
        turn.call_id = self.answered(fields, id(fields, "tool_call_id"), own.as_deref());
        self.push(turn);
    }

    /// A call that was not run.
    fn failed(&mut self, fields: &Fields<'_>, key: &str, record: usize) {
        let own = id(fields, "id");
        let text = fields.text(key).unwrap_or_default();
        let call_id = self.answered(fields, id(fields, "tool_call_id"), own.as_deref());
        let turn = self.turn(Role::Tool, text, fields, record);
        self.push(Turn { call_id, is_error: true, ..turn });
    }
}

fn thought(fields: &Fields<'_>) -> Option<String> {
    reasoning(fields).or_else(|| thinking_blocks(fields))
}

/// Text, a list of parts, or one part; an image part holds a list of addresses.
fn content(raw: Option<&RawValue>, record: usize, losses: &mut Losses) -> Vec<Part> {
    let Some(raw) = raw else { return Vec::new() };
    if let Some(only) = Fields::of(raw) {
        let mut said = Vec::new();
        push(&mut said, &only, record, losses);
        return said;
    }
    let Some(items) = items_of(raw) else { return parts(Some(raw), record, losses) };
    let mut said = Vec::new();
    for item in items {
        match Fields::of(item) {
            Some(part) => push(&mut said, &part, record, losses),
            None => push_text(&mut said, text_of(item).unwrap_or_else(|| compact(item).into())),
        }
    }
    said
}

fn push(said: &mut Vec<Part>, part: &Fields<'_>, record: usize, losses: &mut Losses) {
    match part.items("image_urls") {
        Some(addresses) => {
            said.extend(addresses.into_iter().map(|address| Part::Image(text_of(address).map(Cow::into_owned))));
        }
        None => push_block(said, part, record, losses),
    }
}

fn observation_parts(observation: &Fields<'_>, record: usize, losses: &mut Losses) -> Vec<Part> {
    if observation.has("content") {
        return content(observation.raw("content"), record, losses);
    }
    let text = TEXTS.iter().find_map(|key| observation.text(key));
    text.map(|text| vec![Part::Text(text.into_owned())]).unwrap_or_default()
}

/// Whether a tool says that it failed. What a command's exit code says counts only where the tool says nothing.
fn is_error(observation: &Fields<'_>) -> bool {
    if observation.has("is_error") {
        return observation.is_true("is_error");
    }
    let code = observation.label("exit_code").and_then(|code| code.parse::<i64>().ok());
    observation.is_true("error") || code.is_some_and(|code| code > 0)
}
