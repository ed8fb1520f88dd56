//! A sample: its final messages, with the texts that stand elsewhere in place.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, role, time};
use crate::content::{compact, push_block, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::input::History;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::values::Numbering;

use super::attachments::Attachments;
use super::events;

/// The session of the sample `fields`.
pub(super) fn session(fields: &Fields<'_>, file: &str, numbering: Numbering, history: History) -> Draft {
    let mut draft = Draft::default();
    let attachments = Attachments::of(fields);
    let mut messages = fields.items("messages").unwrap_or_default();
    if messages.is_empty() {
        messages = events::messages(fields);
        if !messages.is_empty() {
            draft.notes.push("holds no messages: read from its last model event".to_owned());
        }
    }
    for (index, message) in messages.into_iter().enumerate() {
        let at = numbering.at(file, index);
        let Some(message) = Fields::of(message) else {
            draft.losses.skip(at.record, "a message that is no object");
            continue;
        };
        // A summary stands in the history after all that it is for.
        let summary = is_summary(&message);
        if summary && history == History::Original {
            continue;
        }
        let mut turn = Reading { attachments: &attachments, losses: &mut draft.losses }.turn(&message, at);
        if summary {
            turn.synthetic = Some("compact_summary".to_owned());
        }
        draft.turns.push(turn);
    }
    draft
}

/// Whether a message is the summary of a compaction, by the mark that the compaction puts on it.
fn is_summary(message: &Fields<'_>) -> bool {
    let about = message.object("metadata");
    message.text("role").as_deref() == Some("user") && about.is_some_and(|about| about.has("summary"))
}

struct Reading<'a, 'r> {
    attachments: &'r Attachments<'a>,
    losses: &'r mut Losses,
}

impl Reading<'_, '_> {
    fn turn(&mut self, message: &Fields<'_>, at: At<'_>) -> Turn {
        let role = role(message, at.record, self.losses);
        let mut thought = message.text("reasoning").filter(|text| !text.is_empty()).map(Cow::into_owned);
        let said = self.content(message.raw("content"), at.record, &mut thought);
        let mut turn = Turn { reasoning: thought, ts: time(message, "timestamp"), ..at.turn(role, said) };
        let calls = self.calls(message, at.record);
        match turn.role {
            Role::Assistant => turn.calls = calls,
            Role::Tool => {
                turn.call_id = id(message, "tool_call_id");
                self.failure(message, &mut turn);
            }
            _ => {
                for _ in calls {
                    self.losses.kind(format!("call:by {}", turn.role.as_str()), at.record);
                }
            }
        }
        turn
    }

    /// What went wrong with a call. Where the result has no text, the model was shown this.
    fn failure(&mut self, message: &Fields<'_>, turn: &mut Turn) {
        let Some(error) = message.object("error") else { return };
        turn.is_error = true;
        if turn.text().is_empty()
            && let Some(text) = error.text("message").filter(|text| !text.is_empty())
        {
            turn.parts = vec![Part::Text(text.into_owned())];
        }
    }

    fn calls(&mut self, message: &Fields<'_>, record: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for item in message.items("tool_calls").unwrap_or_default() {
            let Some(item) = Fields::of(item) else {
                self.losses.skip(record, "a call that is no object");
                continue;
            };
            if item.has("parse_error") && item.raw("parse_error").is_some() {
                self.losses.kind("call:with arguments that could not be parsed", record);
            }
            calls.push(Call {
                id: item.label("id").unwrap_or_default().into_owned(),
                name: tool_name(item.text("function")),
                arguments: self.attachments.arguments(item.raw("arguments"), record, self.losses),
            });
        }
        calls
    }

    fn content(&mut self, raw: Option<&RawValue>, record: usize, thought: &mut Option<String>) -> Vec<Part> {
        let mut said = Vec::new();
        let Some(raw) = raw else { return said };
        if let Some(text) = text_of(raw) {
            push_text(&mut said, Cow::Owned(self.attachments.text(text, record, self.losses).into_owned()));
            return said;
        }
        let Some(items) = items_of(raw) else {
            push_text(&mut said, Cow::Owned(compact(raw)));
            return said;
        };
        for item in items {
            match (Fields::of(item), text_of(item)) {
                (Some(part), _) => self.part(&part, record, &mut said, thought),
                (None, Some(text)) => self.say(text, record, &mut said),
                (None, None) => push_text(&mut said, Cow::Owned(compact(item))),
            }
        }
        said
    }

    fn say(&mut self, text: Cow<'_, str>, record: usize, said: &mut Vec<Part>) {
        let text = self.attachments.text(Cow::Owned(text.into_owned()), record, self.losses);
        push_text(said, text);
    }

    fn part(&mut self, part: &Fields<'_>, record: usize, said: &mut Vec<Part>, thought: &mut Option<String>) {
        let mut resolved = |key: &str| {
            let text = part.text(key)?.into_owned();
            Some(self.attachments.text(Cow::Owned(text), record, self.losses).into_owned())
        };
        match part.text("type").as_deref() {
            Some("text") => {
                if let Some(text) = resolved("text") {
                    push_text(said, Cow::Owned(text));
                }
            }
            Some("image") => said.push(Part::Image(resolved("image"))),
            Some("reasoning") => {
                // What is redacted is a blob; its summary is text, where there is one.
                let text = if part.is_true("redacted") {
                    resolved("summary").filter(|text| !text.is_empty()).or(Some("[redacted]".to_owned()))
                } else {
                    resolved("reasoning").filter(|text| !text.is_empty()).or_else(|| resolved("summary"))
                };
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    push_reasoning(thought, Cow::Owned(text));
                }
            }
            _ => push_block(said, part, record, self.losses),
        }
    }
}
