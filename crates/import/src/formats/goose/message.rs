//! What a message says. Results stand in the user role, a reply may come in several rows, and who can see a
//! message tells what a compaction did.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, role_named, time};
use crate::content::{append, arguments, compact, parts, push_block, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::input::History;
use crate::losses::Losses;
use crate::outlet::Draft;

/// A session while it is read.
pub(super) struct Messages {
    pub(super) draft: Draft,
    history: History,
    /// Id of the message whose reply is the last turn.
    reply: Option<String>,
    compacted: bool,
}

/// Who sees a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Everyone,
    /// What a compaction took out of the context.
    UserOnly,
    /// What stands for it.
    AgentOnly,
    Nobody,
}

impl Messages {
    /// Nothing yet, to be read in the state `history`.
    pub(super) fn new(history: History) -> Self {
        Self { draft: Draft::default(), history, reply: None, compacted: false }
    }

    /// Takes one message of an object with `role`, `created` and `content`.
    pub(super) fn message(&mut self, message: &Fields<'_>, at: At<'_>) {
        let ts = time(message, "created").or_else(|| time(message, "created_timestamp"));
        let own = id(message, "id").or_else(|| id(message, "message_id"));
        let content = message.raw("content").or_else(|| message.raw("content_json"));
        let metadata = message.object("metadata").or_else(|| message.object("metadata_json"));
        let seen = metadata.map_or(Seen::Everyone, |metadata| seen(&metadata));
        if seen == Seen::Nobody {
            self.draft.losses.off_branch.add(at.record);
            return;
        }
        self.compacted |= seen == Seen::UserOnly;
        if seen == Seen::AgentOnly && self.history == History::Original {
            return;
        }
        let synthetic = (seen == Seen::AgentOnly).then(|| "compact_summary".to_owned());
        match message.text("role").as_deref().unwrap_or_default() {
            "assistant" => self.reply(content, own, Turn { synthetic, ts, ..at.turn(Role::Assistant, Vec::new()) }, at),
            "user" => self.other(content, Turn { synthetic, ts, ..at.turn(Role::User, Vec::new()) }, at),
            "tool" => self.other(content, Turn { ts, ..at.turn(Role::User, Vec::new()) }, at),
            other => {
                let role = role_named(other, at.record, &mut self.draft.losses);
                self.other(content, Turn { ts, ..at.turn(role, Vec::new()) }, at);
            }
        }
    }

    /// The blocks of a message; a text alone is one.
    fn blocks(content: Option<&RawValue>) -> Vec<&RawValue> {
        content.map(|raw| items_of(raw).unwrap_or_else(|| vec![raw])).unwrap_or_default()
    }

    fn reply(&mut self, content: Option<&RawValue>, own: Option<String>, turn: Turn, at: At<'_>) {
        let continues = own.is_some() && own == self.reply;
        let mut turn = match self.draft.turns.last() {
            Some(last) if continues && last.role == Role::Assistant => self.draft.turns.pop().unwrap_or(turn),
            _ => turn,
        };
        let mut markers = Vec::new();
        for raw in Self::blocks(content) {
            let losses = &mut self.draft.losses;
            let Some(block) = opened(raw, &mut turn, at, losses) else { continue };
            match block.text("type").as_deref().unwrap_or_default() {
                "thinking" => {
                    let text = block.text("thinking").filter(|text| !text.is_empty());
                    push_reasoning(&mut turn.reasoning, text.unwrap_or(Cow::Borrowed("[encrypted]")));
                }
                "reasoning" => {
                    push_reasoning(&mut turn.reasoning, block.text("text").unwrap_or(Cow::Borrowed("[encrypted]")));
                }
                "redactedThinking" => push_reasoning(&mut turn.reasoning, Cow::Borrowed("[redacted]")),
                "toolRequest" | "frontendToolRequest" => turn.calls.push(call(&block, at, losses)),
                kind @ ("toolConfirmationRequest" | "actionRequired") => {
                    losses.kind(format!("part:{kind}"), at.record);
                }
                kind @ ("toolResponse" | "conversationCompacted" | "contextLengthExceeded" | "systemNotification") => {
                    markers.push(match kind {
                        "toolResponse" => result(&block, turn.ts.clone(), at, losses),
                        kind => notice(kind, &block, turn.ts.clone(), at),
                    });
                }
                _ => push_block(&mut turn.parts, &block, at.record, losses),
            }
        }
        let only_notices =
            !markers.is_empty() && turn.parts.is_empty() && turn.calls.is_empty() && turn.reasoning.is_none();
        if !only_notices {
            self.draft.turns.push(turn);
        }
        self.reply = if markers.is_empty() { own } else { None };
        self.draft.turns.extend(markers);
    }

    /// A message that is no reply: results of calls, then what else stands in it.
    fn other(&mut self, content: Option<&RawValue>, mut turn: Turn, at: At<'_>) {
        self.reply = None;
        let mut results = 0;
        // Whether the program asks something: no words of anybody.
        let mut asked = false;
        let mut notices = Vec::new();
        for raw in Self::blocks(content) {
            let losses = &mut self.draft.losses;
            let Some(block) = opened(raw, &mut turn, at, losses) else { continue };
            match block.text("type").as_deref().unwrap_or_default() {
                kind @ ("toolConfirmationRequest" | "actionRequired") => {
                    losses.kind(format!("part:{kind}"), at.record);
                    asked = true;
                }
                "toolResponse" => {
                    results += 1;
                    let result = result(&block, turn.ts.clone(), at, losses);
                    self.draft.turns.push(result);
                }
                kind @ ("conversationCompacted" | "contextLengthExceeded" | "systemNotification") => {
                    notices.push(notice(kind, &block, turn.ts.clone(), at));
                }
                _ => push_block(&mut turn.parts, &block, at.record, losses),
            }
        }
        if (results == 0 && notices.is_empty() && !asked) || !turn.parts.is_empty() {
            self.draft.turns.push(turn);
        }
        self.draft.turns.extend(notices);
    }

    /// The session.
    pub(super) fn finish(mut self) -> Draft {
        if self.history == History::Original {
            let compaction = Role::Marker("compaction".to_owned());
            self.draft.turns.retain(|turn| turn.role != compaction);
        } else if self.compacted {
            self.draft.notes.push("compacted: the turns that were taken out of the context stay in it".to_owned());
        }
        self.draft
    }
}

/// A content block; text alone is taken over, and anything else counted.
fn opened<'r>(raw: &'r RawValue, turn: &mut Turn, at: At<'_>, losses: &mut Losses) -> Option<Fields<'r>> {
    let block = Fields::of(raw);
    if block.is_none() {
        match text_of(raw) {
            Some(text) => push_text(&mut turn.parts, text),
            None => losses.skip(at.record, "a content block that is neither text nor an object"),
        }
    }
    block
}

fn seen(metadata: &Fields<'_>) -> Seen {
    let hidden = |key: &str| metadata.raw(key).is_some_and(|raw| matches!(raw.get(), "false" | "0"));
    match (hidden("userVisible"), hidden("agentVisible")) {
        (false, false) => Seen::Everyone,
        (false, true) => Seen::UserOnly,
        (true, false) => Seen::AgentOnly,
        (true, true) => Seen::Nobody,
    }
}

fn call(block: &Fields<'_>, at: At<'_>, losses: &mut Losses) -> Call {
    let id = block.label("id").unwrap_or_default().into_owned();
    let Some(given) = block.object("toolCall") else {
        losses.kind("call:without a name", at.record);
        return Call { id, name: String::new(), arguments: String::new() };
    };
    let value = given.object("value");
    match value.as_ref().or_else(|| given.has("name").then_some(&given)) {
        Some(value) => Call { id, name: tool_name(value.text("name")), arguments: arguments(value.raw("arguments")) },
        // What the model wrote could not be read as a call.
        None => {
            losses.kind("call:without a name", at.record);
            Call { id, name: String::new(), arguments: given.raw("error").map_or_else(String::new, text) }
        }
    }
}

fn result(block: &Fields<'_>, ts: Option<String>, at: At<'_>, losses: &mut Losses) -> Turn {
    let mut turn = Turn { call_id: id(block, "id"), ts, ..at.turn(Role::Tool, Vec::new()) };
    let Some(outcome) = block.object("toolResult") else { return turn };
    turn.is_error = outcome.text("status").as_deref() == Some("error");
    let value = outcome.raw("value");
    if let Some(value) = value.and_then(Fields::of) {
        turn.is_error |= value.is_true("isError");
        turn.parts = tool_parts(value.raw("content"), at, losses);
        if turn.parts.is_empty()
            && let Some(structured) = value.raw("structuredContent")
        {
            turn.parts.push(Part::Text(compact(structured)));
        }
    } else if value.is_some() {
        turn.parts = tool_parts(value, at, losses);
    } else if let Some(error) = outcome.raw("error") {
        turn.parts.push(Part::Text(text(error)));
    }
    turn
}

/// What a tool gave back, without what it gave for people's eyes only.
fn tool_parts(raw: Option<&RawValue>, at: At<'_>, losses: &mut Losses) -> Vec<Part> {
    let Some(items) = raw.and_then(items_of) else { return parts(raw, at.record, losses) };
    let mut out = Vec::new();
    for item in items {
        let Some(block) = Fields::of(item) else {
            append(&mut out, parts(Some(item), at.record, losses));
            continue;
        };
        let audience = block.object("annotations").and_then(|annotations| annotations.items("audience"));
        let for_people = audience.is_some_and(|all| is_for(&all, "user") && !is_for(&all, "assistant"));
        let resource = block.object("resource").and_then(|resource| resource.text("text"));
        match (for_people, resource) {
            (true, _) => losses.kind("part:for the user only", at.record),
            (false, Some(text)) => push_text(&mut out, text),
            (false, None) => push_block(&mut out, &block, at.record, losses),
        }
    }
    out
}

fn is_for(audience: &[&RawValue], who: &str) -> bool {
    audience.iter().any(|raw| text_of(raw).is_some_and(|name| name.eq_ignore_ascii_case(who)))
}

/// A notice of the program.
fn notice(kind: &str, block: &Fields<'_>, ts: Option<String>, at: At<'_>) -> Turn {
    let name = if kind == "conversationCompacted" { "compaction" } else { kind };
    let said = block.text("msg").or_else(|| block.text("message")).unwrap_or_default();
    Turn { ts, ..at.says(Role::Marker(name.to_owned()), said) }
}

fn text(raw: &RawValue) -> String {
    text_of(raw).map_or_else(|| compact(raw), Cow::into_owned)
}
