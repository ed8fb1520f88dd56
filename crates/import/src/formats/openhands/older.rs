//! Events of the older application: actions, and the observations they cause.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{id, reasoning, thinking_blocks};
use crate::content::{compact, tool_name};
use crate::fields::{Fields, text_of};

use super::event::Reading;

/// Actions of the harness.
const HARNESS_ACTIONS: [&str; 7] =
    ["change_agent_state", "condensation_request", "loop_recovery", "null", "recall", "send_pr", "start"];
/// Observations of the harness.
const HARNESS_OBSERVATIONS: [&str; 4] = ["agent_state_changed", "loop_recovery", "null", "recall"];
/// Fields of an action that are no arguments of a call.
const NO_ARGUMENTS: [&str; 16] = [
    "action",
    "action_risk",
    "args",
    "confirmation_state",
    "id",
    "is_confirmed",
    "keep_prompt",
    "kernel_init_code",
    "llm_metrics",
    "message",
    "security_risk",
    "source",
    "thought",
    "timestamp",
    "tool_call_metadata",
    "wait_for_response",
];

impl Reading {
    /// Takes over an action.
    pub(super) fn action(&mut self, fields: &Fields<'_>, own: Option<&str>, record: usize) {
        let kind = fields.text("action").unwrap_or_default();
        // Before there were `args`, an action had its fields on itself.
        let args = fields.object("args").unwrap_or_else(|| fields.clone());
        let source = fields.text("source");
        match kind.as_ref() {
            "message" => self.message(fields, &args, source.as_deref(), record),
            "system" => {
                let turn = self.turn(Role::System, args.text("content").unwrap_or_default(), fields, record);
                self.push(turn);
            }
            "condensation" => self.condensation(args.text("summary").as_deref(), fields, record),
            harness if HARNESS_ACTIONS.contains(&harness) => {
                self.draft.losses.kind(format!("record:{harness}"), record)
            }
            _ if source.as_deref() == Some("user") => self.ran_by_user(&kind, fields, &args, own, record),
            _ => self.called(&kind, fields, &args, own, record),
        }
    }

    fn message(&mut self, fields: &Fields<'_>, args: &Fields<'_>, source: Option<&str>, record: usize) {
        let role = match source {
            Some("user") => Role::User,
            Some("agent") => Role::Assistant,
            Some(other) => {
                self.draft.losses.kind(format!("source:{other}"), record);
                Role::Other(other.to_owned())
            }
            // Without a source, the first message is the user's.
            None if self.draft.turns.iter().any(|turn| turn.role == Role::User) => Role::Assistant,
            None => Role::User,
        };
        let mut turn = self.turn(role, args.text("content").unwrap_or_default(), fields, record);
        for key in ["image_urls", "images_urls"] {
            for address in args.items(key).unwrap_or_default() {
                turn.parts.push(Part::Image(text_of(address).map(Cow::into_owned)));
            }
        }
        if turn.role == Role::Assistant {
            turn.reasoning = replied(fields).and_then(|reply| thought_of(&reply));
        }
        self.push(turn);
    }

    /// What a person ran beside the agent: nothing that the model asked for.
    fn ran_by_user(&mut self, kind: &str, fields: &Fields<'_>, args: &Fields<'_>, own: Option<&str>, record: usize) {
        if let Some(own) = own {
            self.by_user.insert(own.into());
        }
        let text = args.text("command").unwrap_or_else(|| own_arguments(args).into());
        let turn = self.turn(Role::User, text, fields, record);
        self.push(Turn { synthetic: Some(format!("user_{kind}")), ..turn });
    }

    /// A call of the model.
    fn called(&mut self, kind: &str, fields: &Fields<'_>, args: &Fields<'_>, own: Option<&str>, record: usize) {
        let about = fields.object("tool_call_metadata");
        let given = about.as_ref().and_then(|about| id(about, "tool_call_id"));
        let reply = about.as_ref().and_then(|about| about.object("model_response")).and_then(|reply| id(&reply, "id"));
        let said = replied(fields);
        let arguments = said
            .as_ref()
            .and_then(|said| recorded_arguments(said, given.as_deref()?))
            .unwrap_or_else(|| own_arguments(args));
        let name = about.as_ref().and_then(|about| about.text("function_name"));
        let name = tool_name(name.or(Some(kind.into())));
        let mut turn = self.turn(Role::Assistant, args.text("thought").unwrap_or_default(), fields, record);
        turn.reasoning = said.and_then(|said| thought_of(&said));
        let id = self.call_id(own, given);
        self.call(reply, turn, Call { id, name, arguments });
    }

    /// Takes over an observation.
    pub(super) fn observation(&mut self, fields: &Fields<'_>, own: Option<&str>, record: usize) {
        let kind = fields.text("observation").unwrap_or_default();
        if HARNESS_OBSERVATIONS.contains(&kind.as_ref()) {
            self.draft.losses.kind(format!("record:{kind}"), record);
            return;
        }
        let content =
            fields.text("content").unwrap_or_else(|| fields.raw("content").map(compact).unwrap_or_default().into());
        // The summaries of the first condensers.
        if kind == "agent_condensation" || kind == "condense" {
            self.condensation(Some(&content), fields, record);
            return;
        }
        let about = fields.object("tool_call_metadata");
        let named = about.and_then(|about| id(&about, "tool_call_id"));
        let cause = id(fields, "cause");
        if named.is_none() && cause.is_some_and(|cause| self.by_user.contains(cause.as_str())) {
            let turn = self.turn(Role::User, content, fields, record);
            self.push(Turn { synthetic: Some("user_output".to_owned()), ..turn });
            return;
        }
        let mut turn = self.turn(Role::Tool, content, fields, record);
        turn.call_id = self.answered(fields, named, own);
        turn.is_error = kind == "error" || exit_code(fields).is_some_and(|code| code > 0);
        self.images(fields, &mut turn);
        self.push(turn);
    }

    /// Screenshots of a browser; their bytes stay apart from the text.
    fn images(&mut self, fields: &Fields<'_>, turn: &mut Turn) {
        let Some(extras) = fields.object("extras") else { return };
        for address in extras.items("image_urls").unwrap_or_default() {
            turn.parts.push(Part::Image(text_of(address).map(Cow::into_owned)));
        }
    }
}

/// The message of the model that an action was made from.
fn replied<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let response = fields.object("tool_call_metadata")?.object("model_response")?;
    response.items("choices")?.into_iter().find_map(Fields::of)?.object("message")
}

fn thought_of(message: &Fields<'_>) -> Option<String> {
    reasoning(message).or_else(|| thinking_blocks(message))
}

/// The arguments as the model wrote them.
fn recorded_arguments(message: &Fields<'_>, call_id: &str) -> Option<String> {
    let calls = message.items("tool_calls")?;
    let call = calls.into_iter().filter_map(Fields::of).find(|call| call.label("id").as_deref() == Some(call_id))?;
    call.object("function")?.text("arguments").map(Cow::into_owned)
}

/// The arguments as the action has them.
fn own_arguments(args: &Fields<'_>) -> String {
    let mut object = serde_json::Map::new();
    for (key, raw) in args.iter().filter(|(key, _)| !NO_ARGUMENTS.contains(key)) {
        object.insert(key.to_owned(), value(raw));
    }
    serde_json::Value::Object(object).to_string()
}

/// A value; what is nested too deeply to be read stays as its text.
fn value(raw: &RawValue) -> serde_json::Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| serde_json::Value::String(raw.get().to_owned()))
}

/// The exit code of a command, wherever it stands.
fn exit_code(fields: &Fields<'_>) -> Option<i64> {
    let extras = fields.object("extras");
    let about = extras.as_ref().and_then(|extras| extras.object("metadata"));
    [about.as_ref(), extras.as_ref(), Some(fields)]
        .into_iter()
        .flatten()
        .find_map(|place| place.label("exit_code"))
        .and_then(|code| code.parse().ok())
}
