//! Codex CLI rollouts: JSON lines with the items that went to the model, copies of them for display, and
//! notices of compaction behind which the old lines stay.
//!
//! * [`item`]: what one item of the model's history says; [`result`]: what came out of a call.
//!
//! Only items count: events repeat them for display.

mod item;
mod result;

use std::borrow::Cow;

use laundromat_session::{Part, Role};

use crate::chat::{At, time};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::outlet::{Draft, Outlet};
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;

use item::Items;

/// Codex rollouts.
#[derive(Debug)]
pub(super) struct CodexRollout;

impl Reader for CodexRollout {
    fn id(&self) -> &'static str {
        "codex-rollout"
    }

    fn title(&self) -> &'static str {
        "Codex CLI rollout"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        sample.objects().filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let mut rollout = Rollout::new(input.history());
        let mut records = input.records()?;
        while let Some(record) = records.next()? {
            match rollout.draft().losses.accept(record) {
                Some((number, Line::Object(fields))) => rollout.line(&fields, At { file: &file, record: number }),
                Some((number, Line::List(_))) => rollout.draft().losses.skip(number, "JSON, but no object"),
                None => {}
            }
        }
        let mut outlet = Outlet::new(input, self.id(), each);
        outlet.put(rollout.finish())?;
        outlet.finish()
    }
}

/// How much one line looks like a rollout.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    let kind = fields.text("type").unwrap_or_default();
    let enveloped = fields.has("payload") && !fields.has("uuid");
    match kind.as_ref() {
        "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" if enveloped => {
            Some(Confidence::Sure)
        }
        "" if is_bare_head(fields) => Some(Confidence::Sure),
        "" if fields.text("record_type").as_deref() == Some("state") => Some(Confidence::Likely),
        _ => None,
    }
}

/// The first line of files from before the envelope.
fn is_bare_head(fields: &Fields<'_>) -> bool {
    let other = ["input", "messages", "role", "model", "output", "choices"];
    ["id", "timestamp", "instructions"].iter().all(|key| fields.has(key)) && !other.iter().any(|key| fields.has(key))
}

/// A rollout while it is read.
struct Rollout {
    items: Items,
    history: History,
    known: bool,
    compactions: usize,
}

impl Rollout {
    fn new(history: History) -> Self {
        Self { items: Items::default(), history, known: false, compactions: 0 }
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.items.draft
    }

    fn line(&mut self, fields: &Fields<'_>, at: At<'_>) {
        let kind = fields.text("type").unwrap_or_default();
        let payload = fields.object("payload");
        match (kind.as_ref(), payload) {
            ("session_meta", Some(meta)) => self.meta(&meta),
            ("response_item", Some(item)) => {
                let ts = time(fields, "timestamp");
                if item::is_compaction(&item) {
                    self.compaction(None, ts, at);
                } else {
                    self.items.item(&item, ts, at);
                }
            }
            ("compacted", Some(payload)) => {
                self.compaction(payload.text("message"), time(fields, "timestamp"), at);
            }
            ("event_msg", Some(event)) => self.event(&event, at),
            // Before the envelope: items, a head, and states of the harness.
            ("", None) if is_bare_head(fields) => self.meta(fields),
            ("", None) if !fields.has("role") => {
                let kind = fields.text("record_type").unwrap_or_default();
                self.draft().losses.kind(format!("record:{kind}"), at.record);
            }
            (kind, None) if kind.is_empty() || item::is_known(kind) => {
                self.items.item(fields, time(fields, "timestamp"), at);
            }
            (kind, _) => self.draft().losses.kind(format!("record:{kind}"), at.record),
        }
    }

    /// A head. The first is this file's; a fork has its parent's behind it.
    fn meta(&mut self, meta: &Fields<'_>) {
        if std::mem::replace(&mut self.known, true) {
            return;
        }
        let draft = &mut self.items.draft;
        draft.own_id = meta.label("id").map(Cow::into_owned);
        if let Some(parent) = meta.label("forked_from_id") {
            draft.notes.push(format!("forked from {parent}: it begins with a copy of that session"));
        }
        let parent = meta.label("parent_thread_id").map(|id| format!(" of {id}")).unwrap_or_default();
        if meta.object("source").is_some_and(|source| source.has("subagent")) || !parent.is_empty() {
            draft.notes.push(format!("a sub-agent's session{parent}: its first request came from another agent"));
        }
    }

    fn compaction(&mut self, message: Option<Cow<'_, str>>, ts: Option<String>, at: At<'_>) {
        self.items.end_reply();
        self.compactions += 1;
        if self.history == History::Original {
            return;
        }
        let mut marker = at.says(Role::Marker("compaction".to_owned()), message.unwrap_or_default());
        marker.ts = ts;
        self.draft().turns.push(marker);
    }

    fn event(&mut self, event: &Fields<'_>, at: At<'_>) {
        let kind = event.text("type").unwrap_or_default();
        if kind == "thread_rolled_back" {
            let turns = event.label("num_turns").and_then(|count| count.parse().ok()).unwrap_or(1);
            self.roll_back(turns);
        }
        self.draft().losses.kind(format!("event:{kind}"), at.record);
    }

    /// The user took back the last requests, with all that followed them.
    fn roll_back(&mut self, requests: usize) {
        self.items.end_reply();
        let draft = &mut self.items.draft;
        let starts = draft.turns.iter().enumerate().filter(|(_, turn)| turn.is_genuine_user()).map(|(at, _)| at);
        let Some(start) = starts.rev().take(requests).last() else { return };
        for turn in draft.turns.drain(start..) {
            draft.losses.off_branch.add(turn.source.map_or(0, |source| source.record));
        }
    }

    fn finish(mut self) -> Draft {
        self.items.end_reply();
        let mut draft = self.items.draft;
        if self.compactions > 0 && self.history == History::Live {
            draft
                .notes
                .push(format!("compacted {} time(s): the turns before each marker stay in the file", self.compactions));
        }
        // Marks without a word would be empty turns of the user.
        draft.turns.retain(|turn| turn.role != Role::User || !turn.parts.is_empty() || turn.synthetic.is_none());
        draft
    }
}

/// Whether the text of a block opens with a mark of the harness, and which.
fn mark(text: &str) -> Option<&'static str> {
    const MARKS: &[(&str, &str)] = &[
        ("<environment_context>", "environment_context"),
        ("<user_instructions>", "user_instructions"),
        ("# AGENTS.md instructions", "agents_md"),
        ("<permissions instructions>", "permissions"),
        ("<turn_aborted>", "turn_aborted"),
        ("<user_shell_command>", "user_shell_command"),
        ("<subagent_notification>", "subagent_notification"),
        ("<collaboration_mode>", "collaboration_mode"),
        ("<skill>", "skill"),
    ];
    let text = text.trim_start();
    MARKS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, reason)| *reason)
}

/// A block of a message, as a part; one of which there is only the type is counted.
fn part(block: &Fields<'_>, at: At<'_>, draft: &mut Draft, parts: &mut Vec<Part>) {
    let kind = block.text("type").unwrap_or_default();
    let no_image = ["image_url", "file_id", "source"].iter().all(|key| block.raw(key).is_none());
    if kind == "input_image" && no_image {
        // A place for an image, without one.
        draft.losses.kind("part:input_image", at.record);
    } else {
        crate::content::push_block(parts, block, at.record, &mut draft.losses);
    }
}
