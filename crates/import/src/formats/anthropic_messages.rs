//! Anthropic Messages: requests, alone or recorded with their reply. Tool results stand in the user role;
//! results of tools that the server runs stand inside the assistant's message.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, role};
use crate::content::{arguments, compact, is_blank, parts, push_block, push_reasoning, push_text, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::replies::Replies;
use crate::sample::Sample;
use crate::values::{Numbering, each_value, messages};

/// The kind of marker that a compaction becomes.
const COMPACTION: &str = "compaction";

/// Anthropic Messages.
#[derive(Debug)]
pub(super) struct AnthropicMessages;

impl Reader for AnthropicMessages {
    fn id(&self) -> &'static str {
        "anthropic-messages"
    }

    fn title(&self) -> &'static str {
        "Anthropic messages"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = sample.records().next()?;
        let (system, request, list) = match &first {
            Line::List(raw) => (false, false, items_of(raw)?),
            Line::Object(fields) => {
                let body = body_of(fields)?;
                let has = |keys: &[&str]| keys.iter().any(|key| body.has(key));
                let system = has(&["system", "anthropic_version"]);
                (system, system || has(&["model", "max_tokens"]), body.items("messages")?)
            }
        };
        let messages: Vec<Fields<'_>> = list.into_iter().filter_map(Fields::of).collect();
        let known = |message: &&Fields<'_>| {
            matches!(message.text("role").as_deref(), Some("user" | "assistant" | "system")) && message.has("content")
        };
        let foreign = |message: &Fields<'_>| {
            ["tool_calls", "tool_call_id", "parts"].iter().any(|key| message.has(key))
                || message.text("role").as_deref() == Some("tool")
        };
        // A message that is damaged or of a role to come does not make it another format.
        let others = messages.iter().filter(|message| !known(message)).count();
        if !messages.first().as_ref().is_some_and(known) || others * 2 > messages.len() {
            return None;
        }
        if messages.iter().any(foreign) {
            return None;
        }
        let blocks = messages.iter().filter_map(|message| message.items("content")).flatten().filter_map(Fields::of);
        let own = |kind: &str| {
            matches!(
                kind,
                "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" | "mcp_tool_use" | COMPACTION
            ) || kind.ends_with("tool_result")
        };
        let has_own = blocks.filter_map(|block| block.text("type")).any(|kind| own(&kind));
        // Such messages may stand in the files of some harness, which knows them better.
        match (has_own, request, system) {
            (true, true, _) => Some(Confidence::Sure),
            (true, false, _) | (false, _, true) => Some(Confidence::Likely),
            (false, _, false) => None,
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            let mut draft = Draft::default();
            let turns = conversation(&line, &file, numbering, &mut draft.losses);
            let compacted = turns.iter().any(is_compaction);
            draft.turns = turns;
            match (compacted, input.history()) {
                (true, History::Original) => draft.turns.retain(|turn| !is_compaction(turn)),
                (true, History::Live) => {}
                (false, _) => return sink.put_unmarked(draft),
            }
            sink.put(draft)
        })
    }
}

fn is_compaction(turn: &Turn) -> bool {
    turn.role == Role::Marker(COMPACTION.to_owned())
}

/// The object with the messages: the record itself or its request.
fn body_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let has_list = |body: &Fields<'_>| body.raw("messages").is_some_and(|raw| raw.get().starts_with('['));
    if has_list(fields) { Some(fields.clone()) } else { fields.object("request").filter(has_list) }
}

fn conversation(line: &Line<'_>, file: &str, numbering: Numbering, losses: &mut Losses) -> Vec<Turn> {
    let mut replies = Replies::default();
    let (list, reply) = match line {
        Line::List(raw) => (Some(*raw), None),
        Line::Object(fields) => {
            let Some(body) = body_of(fields) else {
                losses.skip(numbering.record(0), "no messages");
                return Vec::new();
            };
            let system = parts(body.raw("system"), numbering.record(0), losses);
            if !is_blank(&system) {
                replies.turn(numbering.at(file, 0).turn(Role::System, system));
            }
            (body.raw("messages"), fields.object("response"))
        }
    };
    let given = messages(list, numbering, losses);
    let next = given.last().map_or(0, |(index, _)| index + 1);
    for (index, fields) in given {
        message(&fields, numbering.at(file, index), &mut replies, losses);
    }
    if let Some(reply) = reply.filter(|reply| reply.has("content")) {
        message(&reply, numbering.at(file, next), &mut replies, losses);
    }
    replies.finish()
}

/// Adds the turns of one message.
pub(super) fn message(fields: &Fields<'_>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    match role(fields, at.record, losses) {
        Role::Assistant => {
            let before = replies.count();
            reply(fields.raw("content"), at, replies, losses);
            // A message without words is a message.
            if !replies.is_replying() && replies.count() == before {
                replies.reply(at).parts.push(Part::Text(String::new()));
            }
        }
        Role::User => {
            let before = replies.count();
            user(fields.raw("content"), at, replies, losses);
            if replies.count() == before {
                losses.kind("message:says nothing", at.record);
            }
        }
        other => replies.turn(at.turn(other, parts(fields.raw("content"), at.record, losses))),
    }
    replies.end_reply();
}

/// The blocks of some content; text alone is a block too.
fn blocks<'r>(raw: Option<&'r RawValue>) -> Result<Vec<&'r RawValue>, Cow<'r, str>> {
    match raw {
        None => Ok(Vec::new()),
        Some(raw) => match (text_of(raw), items_of(raw)) {
            (Some(text), _) => Err(text),
            (None, Some(items)) => Ok(items),
            (None, None) => Err(Cow::Owned(compact(raw))),
        },
    }
}

fn reply(content: Option<&RawValue>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let items = match blocks(content) {
        Ok(items) => items,
        Err(text) => {
            if !text.is_empty() {
                push_text(&mut replies.reply(at).parts, text);
            }
            return;
        }
    };
    for item in items {
        let Some(block) = Fields::of(item) else {
            push_text(&mut replies.reply(at).parts, text_of(item).unwrap_or_else(|| compact(item).into()));
            continue;
        };
        let kind = block.text("type").unwrap_or_default();
        match kind.as_ref() {
            "text" if block.text("text").is_some_and(|text| text.is_empty()) => {}
            "thinking" => {
                let text = block.text("thinking").filter(|text| !text.is_empty());
                push_reasoning(&mut replies.reply(at).reasoning, text.unwrap_or("[encrypted]".into()));
            }
            "redacted_thinking" => push_reasoning(&mut replies.reply(at).reasoning, "[redacted]".into()),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let call = Call {
                    id: block.label("id").unwrap_or_default().into_owned(),
                    name: tool_name(block.text("name")),
                    arguments: arguments(block.raw("input")),
                };
                replies.reply(at).calls.push(call);
            }
            COMPACTION => {
                let text = parts(block.raw("content"), at.record, losses);
                replies.turn(at.turn(Role::Marker(COMPACTION.to_owned()), text));
            }
            kind if kind.ends_with("tool_result") => replies.result_inside(result(&block, at, losses)),
            _ => push_block(&mut replies.reply(at).parts, &block, at.record, losses),
        }
    }
}

/// The results of a user message, and what is left of it: a user turn behind them.
fn user(content: Option<&RawValue>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let items = match blocks(content) {
        Ok(items) => items,
        Err(text) => return replies.turn(at.turn(Role::User, vec![Part::Text(text.into_owned())])),
    };
    let mut said: Vec<Part> = Vec::new();
    for item in items {
        match Fields::of(item) {
            Some(block) if block.text("type").is_some_and(|kind| kind.ends_with("tool_result")) => {
                replies.turn(result(&block, at, losses));
            }
            Some(block) => push_block(&mut said, &block, at.record, losses),
            None => push_text(&mut said, text_of(item).unwrap_or_else(|| compact(item).into())),
        }
    }
    if !said.is_empty() {
        replies.turn(at.turn(Role::User, said));
    }
}

/// A result. Those of server tools have an object as their content, whose type tells a failure.
fn result(block: &Fields<'_>, at: At<'_>, losses: &mut Losses) -> Turn {
    let content = block.raw("content");
    let failed =
        block.object("content").and_then(|content| content.text("type")).is_some_and(|kind| kind.ends_with("_error"));
    Turn {
        call_id: id(block, "tool_use_id"),
        is_error: block.is_true("is_error") || failed,
        ..at.turn(Role::Tool, parts(content, at.record, losses))
    }
}
