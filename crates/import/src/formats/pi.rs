//! pi sessions: JSON lines of entries, in newer files a tree of them, with compactions on lines of their
//! own and the old lines kept.

mod branch;

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};

use crate::chat::{At, id, role_named, time};
use crate::content::{arguments, parts, push_block, push_reasoning, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::{History, Input};
use crate::outlet::{Draft, Outlet};
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;

use branch::Branch;

/// pi sessions.
#[derive(Debug)]
pub(super) struct Pi;

impl Reader for Pi {
    fn id(&self) -> &'static str {
        "pi"
    }

    fn title(&self) -> &'static str {
        "pi session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        sample.objects().filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let mut entries = Entries { history: input.history(), ..Entries::default() };
        let mut records = input.records()?;
        while let Some(record) = records.next()? {
            match entries.draft.losses.accept(record) {
                Some((number, Line::Object(fields))) => entries.entry(&fields, At { file: &file, record: number }),
                Some((number, Line::List(_))) => entries.draft.losses.skip(number, "JSON, but no object"),
                None => {}
            }
        }
        let mut outlet = Outlet::new(input, self.id(), each);
        outlet.put(entries.finish())?;
        outlet.finish()
    }
}

/// How much one line looks like a pi session.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if fields.has("uuid") || fields.has("sessionId") {
        return None;
    }
    match fields.text("type").as_deref()? {
        "session" if fields.has("id") && fields.has("cwd") => Some(Confidence::Sure),
        "message" => {
            let role = fields.object("message")?.text("role")?;
            let own = matches!(role.as_ref(), "toolResult" | "bashExecution" | "branchSummary" | "compactionSummary");
            Some(if own { Confidence::Sure } else { Confidence::Likely })
        }
        "compaction" if fields.has("tokensBefore") => Some(Confidence::Sure),
        "thinking_level_change" | "model_change" => Some(Confidence::Likely),
        _ => None,
    }
}

/// A session while it is read.
#[derive(Debug, Default)]
struct Entries {
    draft: Draft,
    history: History,
    known: bool,
    compactions: usize,
    branch: Branch,
}

impl Entries {
    fn entry(&mut self, fields: &Fields<'_>, at: At<'_>) {
        let kind = fields.text("type").unwrap_or_default();
        if kind == "session" {
            self.head(fields, at);
            return;
        }
        let before = self.draft.turns.len();
        let known = self.branch.add(fields.label("id").as_deref(), parent(fields), before);
        if !known {
            self.draft.losses.duplicates.add(at.record);
            return;
        }
        let ts = time(fields, "timestamp");
        match kind.as_ref() {
            "message" => match fields.object("message") {
                Some(message) => self.message(&message, ts, at),
                None => self.draft.losses.skip(at.record, "a message entry without a message"),
            },
            "compaction" => self.compaction(fields, ts, at),
            // What an extension put into the context.
            "custom_message" => self.synthetic("custom", fields, ts, at),
            "session_info" => self.draft.title = fields.text("name").map(Cow::into_owned),
            other => self.draft.losses.kind(format!("record:{other}"), at.record),
        }
    }

    fn head(&mut self, fields: &Fields<'_>, at: At<'_>) {
        if std::mem::replace(&mut self.known, true) {
            self.draft.losses.kind("record:session", at.record);
            return;
        }
        self.draft.own_id = id(fields, "id");
        if let Some(from) = fields.text("branchedFrom").or_else(|| fields.text("parentSession")) {
            let name = from.rsplit(['/', '\\']).next().unwrap_or_default();
            self.draft.notes.push(format!("branched from {name}: it begins with a copy of that session"));
        }
    }

    fn compaction(&mut self, fields: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        self.compactions += 1;
        if self.history == History::Original {
            return;
        }
        let summary = fields.text("summary").unwrap_or_default();
        self.draft.turns.push(Turn { ts, ..at.says(Role::Marker("compaction".to_owned()), summary) });
    }

    fn message(&mut self, message: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let ts = ts.or_else(|| time(message, "timestamp"));
        match message.text("role").as_deref().unwrap_or_default() {
            "user" => {
                let said = parts(message.raw("content"), at.record, &mut self.draft.losses);
                self.draft.turns.push(Turn { ts, ..at.turn(Role::User, said) });
            }
            "assistant" => self.reply(message, ts, at),
            "toolResult" => {
                let said = parts(message.raw("content"), at.record, &mut self.draft.losses);
                let call_id = id(message, "toolCallId");
                let is_error = message.is_true("isError");
                self.draft.turns.push(Turn { call_id, is_error, ts, ..at.turn(Role::Tool, said) });
            }
            "bashExecution" => self.command(message, ts, at),
            "compactionSummary" if self.history == History::Original => {}
            "compactionSummary" => self.synthetic("compact_summary", message, ts, at),
            "branchSummary" => self.synthetic("branch_summary", message, ts, at),
            "custom" | "hookMessage" => self.synthetic("custom", message, ts, at),
            other => {
                let role = role_named(other, at.record, &mut self.draft.losses);
                let said = parts(message.raw("content"), at.record, &mut self.draft.losses);
                self.draft.turns.push(Turn { ts, ..at.turn(role, said) });
            }
        }
    }

    /// A command that a person ran beside the agent, with what it printed.
    fn command(&mut self, message: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let command = message.text("command").unwrap_or_default();
        let output = message.text("output").unwrap_or_default();
        let text = if output.is_empty() { command.into_owned() } else { format!("{command}\n{output}") };
        let synthetic = Some("shell".to_owned());
        self.draft.turns.push(Turn { synthetic, ts, ..at.says(Role::User, text) });
    }

    /// Words in the user role that no person wrote.
    fn synthetic(&mut self, reason: &str, fields: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let raw = fields.raw("summary").or_else(|| fields.raw("content"));
        let said = parts(raw, at.record, &mut self.draft.losses);
        self.draft.turns.push(Turn { synthetic: Some(reason.to_owned()), ts, ..at.turn(Role::User, said) });
    }

    fn reply(&mut self, message: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let mut turn = Turn { ts, ..at.turn(Role::Assistant, Vec::new()) };
        let losses = &mut self.draft.losses;
        match message.raw("content").and_then(items_of) {
            None => turn.parts = parts(message.raw("content"), at.record, losses),
            Some(blocks) => {
                for block in blocks {
                    match Fields::of(block) {
                        Some(block) => reply_block(&mut turn, &block, at, losses),
                        None => losses.skip(at.record, "a content block that is no object"),
                    }
                }
            }
        }
        self.draft.turns.push(turn);
    }

    fn finish(mut self) -> Draft {
        if let Some(kept) = self.branch.followed(self.draft.turns.len()) {
            let losses = &mut self.draft.losses;
            let mut kept = kept.into_iter();
            self.draft.turns.retain(|turn| {
                let kept = kept.next().unwrap_or(true);
                if !kept {
                    losses.off_branch.add(turn.source.as_ref().map_or(0, |source| source.record));
                }
                kept
            });
        }
        if self.compactions > 0 && self.history == History::Live {
            let count = self.compactions;
            self.draft.notes.push(format!("compacted {count} time(s): the turns before each marker stay in the file"));
        }
        self.draft
    }
}

/// The entry above; `Some(None)` where the file says that there is none.
fn parent<'a>(fields: &Fields<'a>) -> Option<Option<Cow<'a, str>>> {
    fields.has("parentId").then(|| fields.label("parentId"))
}

fn reply_block(turn: &mut Turn, block: &Fields<'_>, at: At<'_>, losses: &mut crate::losses::Losses) {
    match block.text("type").as_deref().unwrap_or_default() {
        "thinking" => {
            let text = block.text("thinking").unwrap_or_default();
            let redacted = if block.is_true("redacted") { "[redacted]" } else { "[encrypted]" };
            push_reasoning(&mut turn.reasoning, if text.is_empty() { Cow::Borrowed(redacted) } else { text });
        }
        "toolCall" => turn.calls.push(Call {
            id: block.label("id").unwrap_or_default().into_owned(),
            name: tool_name(block.text("name")),
            arguments: arguments(block.raw("arguments")),
        }),
        "text" if block.text("text").is_some_and(|text| text.is_empty()) && turn.parts.is_empty() => {
            turn.parts.push(Part::Text(String::new()));
        }
        _ => push_block(&mut turn.parts, block, at.record, losses),
    }
}
