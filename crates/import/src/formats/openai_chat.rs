//! OpenAI Chat Completions: a list of messages, a request body, a completion log, or JSON lines with one
//! message or one whole session a line.
//!
//! Chat has no error flag and no times, and nothing in it marks a user message that a harness wrote: all
//! user messages are taken for a person's.

use laundromat_session::{Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, calls, reasoning, role};
use crate::content::parts;
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::Input;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, Sink, messages, values};

/// OpenAI Chat Completions messages.
#[derive(Debug)]
pub(super) struct OpenAiChat;

impl Reader for OpenAiChat {
    fn id(&self) -> &'static str {
        "openai-chat"
    }

    fn title(&self) -> &'static str {
        "OpenAI chat messages"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let mut messages = Vec::new();
        for line in sample.records() {
            match line {
                Line::List(raw) => messages.extend(items_of(raw)?.into_iter().filter_map(Fields::of)),
                Line::Object(fields) if is_message(&fields) => messages.push(fields),
                Line::Object(fields) => match body_of(&fields) {
                    // A system text beside the messages is how Anthropic writes it.
                    Some(body) if !body.has("system") => messages.push(body),
                    None if messages.is_empty() && reply_of(&fields).is_some() => messages.extend(reply_of(&fields)),
                    // The first record tells; among later ones there may be unknown ones.
                    _ if messages.is_empty() => return None,
                    _ => {}
                },
            }
        }
        // A record may hold a whole session.
        let mut flat = Vec::new();
        for message in messages {
            match body_of(&message) {
                Some(body) => flat.extend(body.items("messages")?.into_iter().filter_map(Fields::of)),
                None => flat.push(message),
            }
        }
        confidence(&flat)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        // The session that single messages make up.
        let mut running = Draft::default();
        let mut sink = Sink::new(input, self.id(), each);
        values(input, self.id(), &mut sink, &mut |line, numbering, sink| match line {
            Line::Object(fields) if is_message(&fields) => {
                running.message(&fields, &file, numbering.record(0));
                Ok(())
            }
            Line::Object(fields) if body_of(&fields).is_some() || reply_of(&fields).is_some() => {
                let mut draft = Draft::default();
                draft.conversation(&fields, &file, numbering);
                sink.put_unmarked(draft)
            }
            Line::Object(fields) => {
                let kind = fields.text("type").unwrap_or_default();
                sink.loose.kind(format!("record:{kind}"), numbering.record(0));
                Ok(())
            }
            Line::List(raw) => list(raw, &file, numbering, sink),
        })?;
        sink.put_unmarked(running)?;
        sink.finish()
    }
}

/// Whether a record is one message, not a session.
fn is_message(fields: &Fields<'_>) -> bool {
    fields.text("role").is_some() && !fields.has("messages")
}

/// The object with the messages: the record itself or its request.
fn body_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let is_list = |body: &Fields<'_>| body.raw("messages").is_some_and(|raw| raw.get().starts_with('['));
    if is_list(fields) { Some(fields.clone()) } else { fields.object("request").filter(is_list) }
}

/// How much the messages look like Chat.
fn confidence(messages: &[Fields<'_>]) -> Option<Confidence> {
    let known = |message: &&Fields<'_>| {
        let role = message.text("role").unwrap_or_default();
        matches!(role.as_ref(), "system" | "developer" | "user" | "assistant" | "tool" | "function")
    };
    let others = messages.iter().filter(|message| !known(message)).count();
    // Other formats have records with a role whose words stand elsewhere.
    let speaks = |message: &Fields<'_>| ["content", "tool_calls", "function_call"].iter().any(|key| message.has(key));
    if !messages.first().is_some_and(|first| known(&first) && speaks(first)) || others * 2 > messages.len() {
        return None;
    }
    if messages.iter().any(has_anthropic_blocks) {
        return None;
    }
    let calls = ["tool_calls", "function_call", "tool_call_id"];
    let with_tools = messages.iter().any(|message| calls.iter().any(|key| message.has(key)));
    Some(if with_tools { Confidence::Likely } else { Confidence::Possible })
}

/// Whether a message has blocks that only Anthropic's form has.
fn has_anthropic_blocks(message: &Fields<'_>) -> bool {
    let blocks = message.items("content").unwrap_or_default();
    let mut kinds = blocks.into_iter().filter_map(Fields::of).filter_map(|block| block.text("type"));
    kinds.any(|kind| matches!(kind.as_ref(), "tool_use" | "tool_result"))
}

/// A list: of messages, or of whole sessions.
fn list(raw: &RawValue, file: &str, numbering: Numbering, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut messages = Draft::default();
    for (index, item) in items_of(raw).unwrap_or_default().into_iter().enumerate() {
        let record = numbering.record(index);
        match Fields::of(item) {
            Some(fields) if body_of(&fields).is_some() => {
                let mut draft = Draft::default();
                draft.conversation(&fields, file, Numbering::Messages);
                sink.put_unmarked(draft)?;
            }
            Some(fields) => messages.message(&fields, file, record),
            None => messages.losses.skip(record, "no object"),
        }
    }
    sink.put_unmarked(messages)
}

impl Draft {
    /// Takes over an object with messages: a request body, or a log of a request and its response.
    fn conversation(&mut self, fields: &Fields<'_>, file: &str, numbering: Numbering) {
        let ids = ["session_id", "sessionId", "conversation_id", "id"];
        self.own_id = ids.iter().find_map(|key| fields.label(key)).map(|id| id.into_owned());
        self.title = fields.text("title").map(|title| title.into_owned());
        let mut count = 0;
        if let Some(body) = body_of(fields) {
            if let Some(system) = body.text("system") {
                self.turns.push(numbering.at(file, 0).turn(Role::System, vec![Part::Text(system.into_owned())]));
            }
            let given = messages(body.raw("messages"), numbering, &mut self.losses);
            count = given.last().map_or(0, |(index, _)| index + 1);
            for (index, message) in given {
                self.message(&message, file, numbering.record(index));
            }
        }
        if let Some(reply) = reply_of(fields) {
            let before = self.turns.last().cloned();
            self.message(&reply, file, numbering.record(count));
            self.drop_repeated_reply(before.as_ref(), numbering.record(count));
        }
    }

    /// Some logs have the reply among the messages already.
    fn drop_repeated_reply(&mut self, before: Option<&Turn>, record: usize) {
        let repeats = match (before, self.turns.last()) {
            (Some(before), Some(reply)) => {
                before.role == Role::Assistant && before.parts == reply.parts && before.calls == reply.calls
            }
            _ => false,
        };
        if repeats {
            self.turns.pop();
            self.losses.duplicates.add(record);
        }
    }

    /// Takes over one message.
    fn message(&mut self, fields: &Fields<'_>, file: &str, record: usize) {
        let role = role(fields, record, &mut self.losses);
        let mut calls = calls(fields, record, &mut self.losses);
        if role != Role::Assistant && !calls.is_empty() {
            self.losses.kind(format!("call:by {}", role.as_str()), record);
            calls.clear();
        }
        let mut parts = parts(fields.raw("content"), record, &mut self.losses);
        if parts.is_empty()
            && let Some(refusal) = fields.text("refusal")
        {
            parts.push(Part::Text(refusal.into_owned()));
        }
        let call_id = (role == Role::Tool).then(|| fields.label("tool_call_id")).flatten();
        self.turns.push(Turn {
            calls,
            call_id: call_id.map(|id| id.into_owned()),
            reasoning: reasoning(fields),
            ..At { file, record }.turn(role, parts)
        });
    }
}

/// The message that a logged response holds.
fn reply_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let from = |response: &Fields<'a>| match response.items("choices") {
        Some(choices) => choices.into_iter().find_map(Fields::of)?.object("message"),
        None => response.object("message"),
    };
    let own = || fields.has("choices").then(|| from(fields)).flatten();
    fields.object("response").and_then(|response| from(&response)).or_else(own).filter(|message| message.has("role"))
}
