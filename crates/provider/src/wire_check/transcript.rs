//! A transcript of a wire folder: its messages by the normal form, and what had to be mended.

use laundromat_session::normal_form::{Input, Speaker, normal_form};
use laundromat_session::{Call, Message, MessageRole};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transcript {
    #[serde(default, rename = "note")]
    _note: Option<String>,
    system: String,
    turns: Vec<Turn>,
    pointer: String,
    #[serde(default)]
    expected_report: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    role: Role,
    text: Option<String>,
    call_id: Option<String>,
    #[serde(default)]
    calls: Vec<TurnCall>,
    reasoning: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Role {
    User,
    Assistant,
    Tool,
    Harness,
}

impl From<Role> for Speaker {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
            Role::Harness => Self::Harness,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnCall {
    id: String,
    name: Option<String>,
    arguments: Option<String>,
}

/// A conversation as it is sent, with counts.
pub(super) struct Conversation {
    /// Instructions, turns and the pointer.
    pub(super) messages: Vec<Message>,
    /// What had to be mended, in the words of the wire files.
    pub(super) report: Value,
    /// The counts that the file expects.
    pub(super) expected: Value,
}

/// Reads a transcript and brings it to the normal form.
pub(super) fn read(value: &Value) -> Result<Conversation, String> {
    let transcript =
        Transcript::deserialize(value).map_err(|error| format!("the transcript cannot be read: {error}"))?;
    let calls: Vec<Vec<Call>> =
        transcript.turns.iter().map(|turn| turn.calls.iter().map(Call::from).collect()).collect();
    let turns: Vec<Input<'_>> = transcript
        .turns
        .iter()
        .zip(&calls)
        .map(|(turn, calls)| Input {
            speaker: turn.role.into(),
            text: turn.text.as_deref().unwrap_or_default(),
            calls,
            call_id: turn.call_id.as_deref().unwrap_or_default(),
            has_reasoning: turn.reasoning.as_deref().is_some_and(|text| !text.is_empty()),
        })
        .collect();
    let form = normal_form(&turns);
    let talk = form.messages(|index| turns[index].text);
    let report = form.report;
    let report = json!({
        "dropped_blank": report.dropped_blank,
        "renamed": report.renamed,
        "args_wrapped": report.args_wrapped,
        "missing_results": report.missing_results,
        "orphan_results": report.orphan_results,
        "empty_results": report.empty_results,
        "reasoning_dropped": report.reasoning_dropped,
        "harness_notes": report.harness_notes,
        "lead_inserted": report.lead_inserted,
        "typed_chars": talk.iter().map(Message::chars).sum::<usize>(),
    });
    let mut messages = vec![Message::text(MessageRole::System, transcript.system)];
    messages.extend(talk);
    messages.push(Message::text(MessageRole::User, transcript.pointer));
    Ok(Conversation { messages, report, expected: transcript.expected_report })
}

impl From<&TurnCall> for Call {
    fn from(call: &TurnCall) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone().unwrap_or_default(),
            arguments: call.arguments.clone().unwrap_or_default(),
        }
    }
}
