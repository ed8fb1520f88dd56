//! A message and its parts to turns. The result of a call stands inside the call.

use std::borrow::Cow;
use std::collections::HashSet;

use laundromat_session::{Call, Part, Role, Turn};

use crate::chat::{At, id, role_named};
use crate::content::{arguments, push_reasoning, push_text, tool_name};
use crate::fields::Fields;
use crate::input::History;
use crate::outlet::Draft;

/// A session while it is read.
pub(super) struct Messages {
    pub(super) draft: Draft,
    history: History,
    seen: HashSet<String>,
    compactions: usize,
}

/// What a user message holds.
#[derive(Debug, Default)]
struct Spoken {
    said: Vec<Part>,
    added: Vec<Part>,
    compaction: bool,
}

impl Messages {
    /// Nothing yet, to be read in the state `history`.
    pub(super) fn new(history: History) -> Self {
        Self { draft: Draft::default(), history, seen: HashSet::new(), compactions: 0 }
    }

    /// What is known of the session.
    pub(super) fn head(&mut self, info: &Fields<'_>) {
        if let Some(own) = id(info, "id") {
            self.draft.own_id = Some(own);
        }
        if let Some(title) = info.text("title").filter(|title| !title.is_empty()) {
            self.draft.title = Some(title.into_owned());
        }
        if let Some(parent) = id(info, "parentID").or_else(|| id(info, "parent_id")) {
            self.draft.notes.push(format!("a sub-agent's session of {parent}: its first request came from that one"));
        }
        if let Some(message) = info.object("revert").and_then(|revert| id(&revert, "messageID")) {
            self.draft.notes.push(format!("the user went back to before message {message}, which is still in it"));
        }
    }

    /// Takes one message.
    pub(super) fn message(&mut self, info: &Fields<'_>, parts: &[Fields<'_>], at: At<'_>) {
        if id(info, "id").is_some_and(|id| !self.seen.insert(id)) {
            self.draft.losses.duplicates.add(at.record);
            return;
        }
        let ts = info.object("time").and_then(|time| time.label("created").map(Cow::into_owned));
        match info.text("role").as_deref().unwrap_or_default() {
            "user" => self.user(parts, ts, at),
            "assistant" => self.reply(info, parts, ts, at),
            other => {
                let role = role_named(other, at.record, &mut self.draft.losses);
                let mut said = Vec::new();
                for part in parts {
                    self.other_part(part, &mut said, at);
                }
                self.draft.turns.push(Turn { ts, ..at.turn(role, said) });
            }
        }
    }

    fn user(&mut self, parts: &[Fields<'_>], ts: Option<String>, at: At<'_>) {
        let mut spoken = Spoken::default();
        for part in parts {
            match part.text("type").as_deref().unwrap_or_default() {
                "compaction" => spoken.compaction = true,
                "text" if part.is_true("ignored") => self.draft.losses.kind("part:ignored", at.record),
                "text" => {
                    let to = if part.is_true("synthetic") { &mut spoken.added } else { &mut spoken.said };
                    push_text(to, part.text("text").unwrap_or_default());
                }
                _ => self.other_part(part, &mut spoken.said, at),
            }
        }
        if spoken.compaction {
            self.compactions += 1;
            if self.history == History::Live {
                self.draft
                    .turns
                    .push(Turn { ts: ts.clone(), ..at.turn(Role::Marker("compaction".to_owned()), Vec::new()) });
            }
        }
        let nothing = spoken.added.is_empty() && !spoken.compaction && parts.is_empty();
        if !spoken.said.is_empty() || nothing {
            self.draft.turns.push(Turn { ts: ts.clone(), ..at.turn(Role::User, spoken.said) });
        }
        if !spoken.added.is_empty() {
            let synthetic = Some("synthetic".to_owned());
            self.draft.turns.push(Turn { synthetic, ts, ..at.turn(Role::User, spoken.added) });
        }
    }

    fn reply(&mut self, info: &Fields<'_>, parts: &[Fields<'_>], ts: Option<String>, at: At<'_>) {
        let summary = info.is_true("summary");
        if summary && self.history == History::Original {
            return;
        }
        let mut turn = Turn { ts, ..at.turn(Role::Assistant, Vec::new()) };
        turn.synthetic = summary.then(|| "compact_summary".to_owned());
        let mut results = Vec::new();
        for part in parts {
            match part.text("type").as_deref().unwrap_or_default() {
                "text" => push_text(&mut turn.parts, part.text("text").unwrap_or_default()),
                "reasoning" => {
                    if let Some(text) = part.text("text").filter(|text| !text.is_empty()) {
                        push_reasoning(&mut turn.reasoning, text);
                    }
                }
                "tool" => {
                    let state = part.object("state");
                    let call = call(part, state.as_ref());
                    results.extend(state.and_then(|state| self.result(&state, &call, at)));
                    turn.calls.push(call);
                }
                _ => self.other_part(part, &mut turn.parts, at),
            }
        }
        self.draft.turns.push(turn);
        self.draft.turns.extend(results);
    }

    /// What came out of a call; nothing as long as it runs.
    fn result(&mut self, state: &Fields<'_>, call: &Call, at: At<'_>) -> Option<Turn> {
        let status = state.text("status").unwrap_or_default();
        let (key, is_error) = match status.as_ref() {
            "completed" => ("output", false),
            "error" => ("error", true),
            "pending" | "running" => return None,
            other => {
                self.draft.losses.kind(format!("status:{other}"), at.record);
                return None;
            }
        };
        let mut parts = Vec::new();
        if let Some(raw) = state.raw(key) {
            let text = crate::fields::text_of(raw).map_or_else(|| crate::content::compact(raw), Cow::into_owned);
            push_text(&mut parts, Cow::Owned(text));
        }
        for attachment in state.items("attachments").unwrap_or_default().into_iter().filter_map(Fields::of) {
            self.other_part(&attachment, &mut parts, at);
        }
        let time = state.object("time");
        if time.as_ref().is_some_and(|time| time.raw("compacted").is_some()) {
            self.draft.losses.kind("result:cleared from the context", at.record);
        }
        let ts = time.and_then(|time| time.label("end").or_else(|| time.label("start")).map(Cow::into_owned));
        let call_id = (!call.id.is_empty()).then(|| call.id.clone());
        Some(Turn { call_id, is_error, ts, ..at.turn(Role::Tool, parts) })
    }

    /// A part that is no words: a file is kept, the rest is counted.
    fn other_part(&mut self, part: &Fields<'_>, parts: &mut Vec<Part>, at: At<'_>) {
        let kind = part.text("type").unwrap_or_default();
        match kind.as_ref() {
            "file" if part.text("mime").is_some_and(|mime| mime.starts_with("image/")) => {
                parts.push(Part::Image(part.text("url").map(Cow::into_owned)));
            }
            "file" => {
                self.draft.losses.kind("part:file", at.record);
                parts.push(Part::Other(kind.into_owned()));
            }
            "text" => push_text(parts, part.text("text").unwrap_or_default()),
            other => self.draft.losses.kind(format!("part:{other}"), at.record),
        }
    }

    /// The session.
    pub(super) fn finish(mut self) -> Draft {
        if self.compactions > 0 && self.history == History::Live {
            let count = self.compactions;
            self.draft.notes.push(format!("compacted {count} time(s): the turns before each marker stay in it"));
        }
        self.draft
    }
}

fn call(part: &Fields<'_>, state: Option<&Fields<'_>>) -> Call {
    let input = state.and_then(|state| state.raw("input").or_else(|| state.raw("raw")));
    Call {
        id: part.label("callID").unwrap_or_default().into_owned(),
        name: tool_name(part.text("tool")),
        arguments: arguments(input),
    }
}
