//! Cline: one document of messages in Anthropic's manner, of the newer programs with a head, of the older
//! extension as a bare list in which the harness speaks between the user's words.

use std::borrow::Cow;
use std::collections::HashSet;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, role_named, time};
use crate::content::{append, arguments, compact, parts, push_block, push_reasoning, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, Sink, each_value, messages};

/// Cline sessions.
#[derive(Debug)]
pub(super) struct Cline;

impl Reader for Cline {
    fn id(&self) -> &'static str {
        "cline"
    }

    fn title(&self) -> &'static str {
        "Cline session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        match sample.records().next()? {
            Line::Object(fields) => is_session(&fields).then_some(Confidence::Sure),
            Line::List(raw) => {
                let messages: Vec<Fields<'_>> = items_of(raw)?.into_iter().filter_map(Fields::of).collect();
                messages.iter().any(has_environment).then_some(Confidence::Sure)
            }
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let history = input.history();
        each_value(input, self.id(), each, &mut |line, numbering, sink| session(&line, &file, numbering, history, sink))
    }
}

fn is_session(fields: &Fields<'_>) -> bool {
    let head = ["sessionId", "agent", "version"].iter().filter(|key| fields.has(key)).count();
    head >= 2 && fields.items("messages").is_some() && !fields.has("projectHash")
}

/// Whether a user message holds what the older extension tells of the editor.
fn has_environment(message: &Fields<'_>) -> bool {
    let blocks = message.items("content").unwrap_or_default();
    let mut texts = blocks.into_iter().filter_map(Fields::of).filter_map(|block| block.text("text"));
    message.text("role").as_deref() == Some("user") && texts.any(|text| text.trim_start().starts_with(ENVIRONMENT))
}

const ENVIRONMENT: &str = "<environment_details>";

/// Marks at the start of a block that the harness writes.
const MARKS: &[(&str, &str)] = &[(ENVIRONMENT, "environment_details"), ("<SYSTEM_NOTICE>", "system_notice")];

fn mark(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    MARKS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, reason)| *reason)
}

fn session(
    line: &Line<'_>,
    file: &str,
    numbering: Numbering,
    history: History,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let mut reading = Reading::default();
    let list = match line {
        Line::List(raw) => Some(*raw),
        Line::Object(fields) => {
            reading.draft.own_id = id(fields, "sessionId");
            reading.draft.title = fields.text("title").map(Cow::into_owned);
            if let Some(system) = fields.text("system_prompt").or_else(|| fields.text("systemPrompt")) {
                reading.draft.turns.push(numbering.at(file, 0).says(Role::System, system));
            }
            fields.raw("messages")
        }
    };
    for (index, message) in messages(list, numbering, &mut reading.draft.losses) {
        reading.message(&message, numbering.at(file, index));
    }
    if reading.compacted && history == History::Original {
        let note = "compacted, and the turns before it are not in the file: read as it stands";
        reading.draft.notes.push(note.to_owned());
    }
    // A system text alone is no conversation.
    if reading.draft.turns.iter().all(|turn| turn.role == Role::System) {
        reading.draft.turns.clear();
    }
    sink.put(reading.draft)
}

#[derive(Debug, Default)]
struct Reading {
    draft: Draft,
    seen: HashSet<String>,
    compacted: bool,
}

impl Reading {
    fn message(&mut self, message: &Fields<'_>, at: At<'_>) {
        if id(message, "id").is_some_and(|id| !self.seen.insert(id)) {
            self.draft.losses.duplicates.add(at.record);
            return;
        }
        let ts = time(message, "ts");
        match message.text("role").as_deref().unwrap_or_default() {
            "user" => self.user(message, ts, at),
            "assistant" => self.reply(message, ts, at),
            other => {
                let said = parts(message.raw("content"), at.record, &mut self.draft.losses);
                let role = role_named(other, at.record, &mut self.draft.losses);
                self.draft.turns.push(Turn { ts, ..at.turn(role, said) });
            }
        }
    }

    fn user(&mut self, message: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let mut said: Vec<(Option<&'static str>, Vec<Part>)> = Vec::new();
        let mut results = 0;
        let Some(content) = message.raw("content") else {
            self.draft.losses.skip(at.record, "a message without content");
            return;
        };
        let single = [content];
        for raw in items_of(content).unwrap_or_else(|| single.to_vec()) {
            let block = Fields::of(raw);
            if let Some(result) = block.as_ref().filter(|block| block.text("type").as_deref() == Some("tool_result")) {
                results += 1;
                self.result(result, ts.clone(), at);
                continue;
            }
            let mut parts = Vec::new();
            match (text_of(raw), block) {
                (Some(text), _) => parts.push(Part::Text(text.into_owned())),
                (None, Some(block)) => push_block(&mut parts, &block, at.record, &mut self.draft.losses),
                (None, None) => parts.push(Part::Text(compact(raw))),
            }
            let mark = match parts.first() {
                Some(Part::Text(text)) => mark(text),
                _ => None,
            };
            said.push((mark, parts));
        }
        if results > 0 && said.is_empty() {
            return;
        }
        let synthetic = self.reason(message, &said);
        let mut parts = Vec::new();
        for (mark, block) in said {
            match mark.filter(|_| synthetic.is_none()) {
                Some(mark) => {
                    self.draft.losses.kind(format!("part:{mark}"), at.record);
                    parts.push(Part::Other(mark.to_owned()));
                }
                None => append(&mut parts, block),
            }
        }
        self.draft.turns.push(Turn { synthetic, ts, ..at.turn(Role::User, parts) });
    }

    /// Why no person wrote a message.
    fn reason(&mut self, message: &Fields<'_>, said: &[(Option<&'static str>, Vec<Part>)]) -> Option<String> {
        let metadata = message.object("metadata");
        let kind = metadata.as_ref().and_then(|metadata| metadata.text("kind")).unwrap_or_default();
        let by_system = metadata.is_some_and(|metadata| metadata.text("displayRole").as_deref() == Some("system"));
        if kind.starts_with("compaction") {
            self.compacted = true;
            let reason = if kind == "compaction_summary" { "compact_summary" } else { "compaction" };
            return Some(reason.to_owned());
        }
        if by_system {
            return Some(if kind.is_empty() { "harness".to_owned() } else { kind.into_owned() });
        }
        let texts: Vec<_> = said.iter().filter(|(mark, _)| mark.is_none()).collect();
        if let Some((mark, _)) = said.first().filter(|_| texts.is_empty()) {
            return mark.map(str::to_owned);
        }
        let Some(Part::Text(first)) = texts.first().and_then(|(_, parts)| parts.first()) else { return None };
        self.answers_text_call(first).then(|| "tool_result".to_owned())
    }

    /// Whether a text is how the older extension hands over the result of a call that was written as text.
    fn answers_text_call(&self, text: &str) -> bool {
        let Some(tool) = text.strip_prefix('[').and_then(|rest| rest.split([' ', ']']).next()) else { return false };
        let Some(reply) = self.draft.turns.last().filter(|turn| turn.role == Role::Assistant) else { return false };
        let opened = format!("<{tool}>");
        text.contains("] Result:") && reply.calls.is_empty() && reply.text().contains(&opened)
    }

    fn result(&mut self, block: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let said = result_parts(block.raw("content"), at, &mut self.draft.losses);
        let call_id = id(block, "tool_use_id");
        let is_error = block.is_true("is_error");
        self.draft.turns.push(Turn { call_id, is_error, ts, ..at.turn(Role::Tool, said) });
    }

    fn reply(&mut self, message: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let mut turn = Turn { ts, ..at.turn(Role::Assistant, Vec::new()) };
        let losses = &mut self.draft.losses;
        let content = message.raw("content");
        for raw in content.and_then(items_of).unwrap_or_else(|| content.into_iter().collect()) {
            match (text_of(raw), Fields::of(raw)) {
                (Some(text), _) => crate::content::push_text(&mut turn.parts, text),
                (None, Some(block)) => reply_block(&mut turn, &block, at, losses),
                (None, None) => losses.skip(at.record, "a content block that is neither text nor an object"),
            }
        }
        self.draft.turns.push(turn);
    }
}

/// The content of a result: text, blocks, or a list of what each query found, as JSON.
fn result_parts(raw: Option<&RawValue>, at: At<'_>, losses: &mut Losses) -> Vec<Part> {
    let typed = |raw: &RawValue| text_of(raw).is_some() || Fields::of(raw).is_some_and(|block| block.has("type"));
    match raw.and_then(items_of) {
        Some(items) if !items.iter().all(|item| typed(item)) => raw.map(compact).map(Part::Text).into_iter().collect(),
        _ => parts(raw, at.record, losses),
    }
}

fn reply_block(turn: &mut Turn, block: &Fields<'_>, at: At<'_>, losses: &mut Losses) {
    match block.text("type").as_deref().unwrap_or_default() {
        "thinking" | "reasoning" => {
            let text = block.text("thinking").or_else(|| block.text("text")).filter(|text| !text.is_empty());
            push_reasoning(&mut turn.reasoning, text.unwrap_or(Cow::Borrowed("[encrypted]")));
        }
        "redacted_thinking" => push_reasoning(&mut turn.reasoning, Cow::Borrowed("[redacted]")),
        "tool_use" => turn.calls.push(Call {
            id: block.label("id").unwrap_or_default().into_owned(),
            name: tool_name(block.text("name")),
            arguments: arguments(block.raw("input")),
        }),
        _ => push_block(&mut turn.parts, block, at.record, losses),
    }
}
