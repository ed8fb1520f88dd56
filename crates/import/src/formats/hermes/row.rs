//! What one message says, from a row of the store or from an export.

use std::borrow::Cow;
use std::collections::HashSet;

use laundromat_session::{Part, Role, Turn};
use serde_json::value::RawValue;

use super::history;
use super::summary::{Piece, is_summary, pieces};
use crate::chat::{At, calls, id, reasoning, role, time};
use crate::content::parts;
use crate::fields::{Fields, items_of};
use crate::input::History;
use crate::losses::Losses;
use crate::outlet::Draft;

/// What a list of content blocks begins with where the store has it as text.
const BLOCKS: &str = "\0json:";

/// How texts begin that the harness puts into the user role.
const MARKS: &[(&str, &str)] = &[
    ("[System:", "harness"),
    ("[CONTEXT", "harness"),
    ("[IMPORTANT: Background", "background"),
    ("[Your active task list", "task_list"),
    ("[ASYNC DELEGATION", "delegation"),
    ("Review the conversation above and", "review"),
];

/// A message, as turns.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) turns: Vec<Turn>,
    pub(super) state: State,
}

/// Whether a message is in the context now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Active,
    /// A compaction took it out of the context.
    Archived,
}

/// The messages of a session.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) entries: Vec<Entry>,
    /// Ids of the messages of an export.
    seen: HashSet<String>,
    pub(super) losses: Losses,
}

impl Entries {
    /// Takes one message.
    pub(super) fn message(&mut self, fields: &Fields<'_>, at: At<'_>) {
        if id(fields, "id").is_some_and(|id| !self.seen.insert(id)) {
            self.losses.duplicates.add(at.record);
            return;
        }
        let state = match (is_false(fields, "active"), is_true(fields, "compacted")) {
            (false, _) => State::Active,
            (true, true) => State::Archived,
            (true, false) => {
                self.losses.off_branch.add(at.record);
                return;
            }
        };
        let turns = self.turns(fields, at);
        self.entries.push(Entry { turns, state });
    }

    fn turns(&mut self, fields: &Fields<'_>, at: At<'_>) -> Vec<Turn> {
        let role = role(fields, at.record, &mut self.losses);
        let said = self.content(fields, at);
        let mut turn = Turn { ts: time(fields, "timestamp"), ..at.turn(role, said) };
        turn.reasoning = reasoning(fields).or_else(|| blobs(fields));
        let calls = calls(fields, at.record, &mut self.losses);
        match turn.role {
            Role::Assistant => turn.calls = calls,
            _ => calls.iter().for_each(|_| self.losses.kind(format!("call:by {}", turn.role.as_str()), at.record)),
        }
        if turn.role == Role::Tool {
            turn.call_id = id(fields, "tool_call_id");
        }
        if !matches!(turn.role, Role::User | Role::Assistant) {
            return vec![turn];
        }
        let text = turn.text().into_owned();
        if is_true(fields, "_compressed_summary") || is_summary(&text) {
            return split(turn, &text);
        }
        if turn.role == Role::User {
            turn.synthetic = reason(fields, &text);
        }
        vec![turn]
    }

    fn content(&mut self, fields: &Fields<'_>, at: At<'_>) -> Vec<Part> {
        let text = fields.text("content");
        let mut said = match text.as_deref().and_then(|text| text.strip_prefix(BLOCKS)) {
            None => parts(fields.raw("content"), at.record, &mut self.losses),
            Some(blocks) => match serde_json::from_str::<&RawValue>(blocks) {
                Ok(raw) => parts(Some(raw), at.record, &mut self.losses),
                Err(_) => vec![Part::Text(blocks.to_owned())],
            },
        };
        // The tables of counts that readers are held to know no images in this format.
        said.retain(|part| {
            let image = matches!(part, Part::Image(_));
            if image {
                self.losses.kind("part:image", at.record);
            }
            !image
        });
        said
    }

    /// The session in the state `history`.
    pub(super) fn finish(self, history: History) -> Draft {
        let mut draft = Draft { losses: self.losses, ..Draft::default() };
        let archived = self.entries.iter().any(|entry| entry.state == State::Archived);
        let entries = match history {
            History::Live => self.entries,
            History::Original => history::original(self.entries),
        };
        draft.turns = entries.into_iter().flat_map(|entry| entry.turns).collect();
        if archived && history == History::Live {
            let note = "compacted in place: the turns that were taken out of the context stay in it";
            draft.notes.push(note.to_owned());
        }
        draft
    }
}

/// The turns of a message with a summary in it: the summary apart from what was really said.
fn split(turn: Turn, text: &str) -> Vec<Turn> {
    let pieces = pieces(text);
    if pieces.len() < 2 || turn.parts.len() > 1 {
        return vec![Turn { synthetic: Some("compact_summary".to_owned()), ..turn }];
    }
    // The calls and the thoughts belong to what the model said.
    let mut rest = Some((turn.calls, turn.reasoning));
    let blank = Turn { calls: Vec::new(), reasoning: None, parts: Vec::new(), ..turn };
    let turns = pieces.into_iter().map(|piece| match piece {
        Piece::Summary(text) => Turn {
            parts: vec![Part::Text(text.to_owned())],
            synthetic: Some("compact_summary".to_owned()),
            ..blank.clone()
        },
        Piece::Said(text) => {
            let (calls, reasoning) = rest.take().unwrap_or_default();
            Turn { parts: vec![Part::Text(text.to_owned())], calls, reasoning, ..blank.clone() }
        }
    });
    turns.collect()
}

/// Why no person said `text`, as far as the message tells.
fn reason(fields: &Fields<'_>, text: &str) -> Option<String> {
    if fields.text("display_kind").as_deref() == Some("hidden") {
        return Some("hidden".to_owned());
    }
    let text = text.trim_start();
    MARKS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, reason)| (*reason).to_owned())
}

/// Thoughts of which there is only what the provider encrypted.
fn blobs(fields: &Fields<'_>) -> Option<String> {
    let items = fields.raw("codex_reasoning_items").and_then(items_of)?;
    let mut thought = None;
    for item in items.into_iter().filter_map(Fields::of) {
        for summary in item.items("summary").unwrap_or_default().into_iter().filter_map(Fields::of) {
            if let Some(text) = summary.text("text").filter(|text| !text.is_empty()) {
                crate::content::push_reasoning(&mut thought, text);
            }
        }
        if thought.is_none() && item.raw("encrypted_content").is_some() {
            thought = Some("[encrypted]".to_owned());
        }
    }
    thought
}

/// Flags stand as numbers in the store and as either in exports.
fn is_true(fields: &Fields<'_>, key: &str) -> bool {
    matches!(flag(fields, key).as_deref(), Some("1" | "true"))
}

fn is_false(fields: &Fields<'_>, key: &str) -> bool {
    matches!(flag(fields, key).as_deref(), Some("0" | "false"))
}

fn flag<'a>(fields: &Fields<'a>, key: &str) -> Option<Cow<'a, str>> {
    fields.raw(key).map(|raw| Cow::Borrowed(raw.get()))
}
