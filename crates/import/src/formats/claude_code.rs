//! Claude Code: JSON lines of a tree of messages, in which one reply is spread over several lines and
//! tool results and harness notices stand in the user role.
//!
//! * [`line`]: what one line holds; [`harness`]: which user texts no person wrote.
//! * [`branch`]: which lines belong to the branch that was followed; [`assemble`]: lines to turns.

mod assemble;
mod branch;
mod harness;
mod line;

use std::collections::HashSet;

use laundromat_session::Session;

use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::losses::Losses;
use crate::naming::session_id;
use crate::reader::{Confidence, Each, Imported, Reader};
use crate::records::Line as Record;
use crate::sample::Sample;

use assemble::assemble;
use branch::Tree;
use line::{Line, Talk};

/// Claude Code session files, of main sessions and of sub-agents.
#[derive(Debug)]
pub(super) struct ClaudeCode;

impl Reader for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Claude Code session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        sample.objects().filter_map(|fields| confidence(&fields)).max()
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let mut file = Reading::default();
        let mut records = input.records()?;
        while let Some(record) = records.next()? {
            match file.losses.accept(record) {
                Some((number, Record::Object(fields))) => file.record(&fields, number),
                Some((number, Record::List(_))) => file.losses.skip(number, "JSON, but no object"),
                None => {}
            }
        }
        each(file.finish(self.id(), input)?)
    }
}

/// How much one record looks like Claude Code.
fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    let kind = fields.text("type")?;
    let in_tree = fields.has("uuid") || fields.has("parentUuid");
    match kind.as_ref() {
        "user" | "assistant" if fields.has("message") && in_tree => {
            Some(if fields.has("sessionId") { Confidence::Sure } else { Confidence::Likely })
        }
        "system" | "attachment" | "progress" if fields.has("sessionId") && in_tree => Some(Confidence::Sure),
        "summary" if fields.has("leafUuid") => Some(Confidence::Likely),
        "file-history-snapshot" if fields.has("messageId") => Some(Confidence::Likely),
        "queue-operation" | "permission-mode" | "last-prompt" | "custom-title" | "ai-title" | "agent-name" | "mode"
            if fields.has("sessionId") =>
        {
            Some(Confidence::Likely)
        }
        _ => None,
    }
}

/// A file while it is read.
#[derive(Debug, Default)]
struct Reading {
    lines: Vec<Line>,
    /// Lines of sub-agents, as long as no line of the main session was seen.
    side: Vec<Line>,
    main_seen: bool,
    seen: HashSet<Box<str>>,
    tree: Tree,
    losses: Losses,
    session_ids: Vec<String>,
    agent_id: Option<String>,
    title: Option<String>,
    /// Titles by the line they stand for: of this session only where it has that line.
    summaries: Vec<(String, String)>,
}

impl Reading {
    fn record(&mut self, fields: &Fields<'_>, number: usize) {
        let kind = fields.text("type").unwrap_or_default();
        let uuid = fields.label("uuid").filter(|uuid| !uuid.is_empty());
        if let Some(uuid) = &uuid
            && !self.seen.insert(uuid.as_ref().into())
        {
            self.losses.duplicates.add(number);
            return;
        }
        let parent = fields.label("parentUuid").or_else(|| fields.label("logicalParentUuid"));
        let node = self.tree.add(uuid.as_deref(), parent.as_deref(), number);
        let talk = match kind.as_ref() {
            "user" => Talk::of_user(fields, number, &mut self.losses),
            "assistant" => Talk::of_assistant(fields, number, &mut self.losses),
            "system" => Talk::of_boundary(fields),
            _ => Ok(None),
        };
        match talk {
            Ok(Some(talk)) => {
                let ts = fields.label("timestamp").filter(|ts| !ts.trim().is_empty()).map(Into::into);
                self.talk(fields, Line { record: number, ts, node, talk })
            }
            Ok(None) => self.other(&kind, fields, number),
            Err(reason) => self.losses.skip(number, reason),
        }
    }

    /// A line of the conversation.
    fn talk(&mut self, fields: &Fields<'_>, line: Line) {
        if let Some(id) = fields.label("sessionId")
            && !self.session_ids.iter().any(|known| *known == id)
        {
            self.session_ids.push(id.into_owned());
        }
        if fields.is_true("isSidechain") {
            if self.main_seen {
                self.losses.sidechain.add(line.record);
            } else {
                self.agent_id = self.agent_id.take().or_else(|| fields.label("agentId").map(|id| id.into_owned()));
                self.side.push(line);
            }
            return;
        }
        self.main_seen = true;
        for side in self.side.drain(..) {
            self.losses.sidechain.add(side.record);
        }
        self.tree.set_head(line.node, line.talk.head());
        self.lines.push(line);
    }

    /// A line that is not of the conversation: perhaps a title, counted in any case.
    fn other(&mut self, kind: &str, fields: &Fields<'_>, number: usize) {
        let detail = match kind {
            "system" => fields.text("subtype"),
            "attachment" => fields.object("attachment").and_then(|attachment| attachment.text("type")),
            _ => None,
        };
        self.losses.kind(
            match detail {
                Some(detail) => format!("record:{kind}/{detail}"),
                None => format!("record:{kind}"),
            },
            number,
        );
        match kind {
            "summary" => {
                if let (Some(leaf), Some(title)) = (fields.text("leafUuid"), fields.text("summary")) {
                    self.summaries.push((leaf.into_owned(), title.into_owned()));
                }
            }
            "custom-title" => self.title = fields.text("customTitle").map(|title| title.into_owned()),
            "ai-title" if self.title.is_none() => self.title = fields.text("aiTitle").map(|title| title.into_owned()),
            _ => {}
        }
    }

    fn finish(mut self, format: &'static str, input: &Input) -> Result<Imported, ImportError> {
        let mut notes = Vec::new();
        let own_id = if self.main_seen {
            self.own_id(&input.stem())
        } else {
            self.lines = std::mem::take(&mut self.side);
            if !self.lines.is_empty() {
                notes.push(
                    "a sub-agent's session: its first user turn was written by the agent that started it".to_owned(),
                );
            }
            // The session id is that of the main session.
            self.agent_id.take().map(|id| format!("agent-{id}"))
        };
        let off_branch = self.tree.off_branch();
        if off_branch.any() {
            let losses = &mut self.losses;
            self.lines.retain(|line| {
                let followed = !off_branch.holds(line.node);
                if !followed {
                    losses.off_branch.add(line.record);
                }
                followed
            });
        }
        let seen = &self.seen;
        let titled = self.summaries.into_iter().rev().find(|(leaf, _)| seen.contains(leaf.as_str()));
        let turns = assemble(self.lines, &input.name(), &mut self.losses);
        if turns.is_empty() {
            let losses = self.losses.to_string();
            return Err(ImportError::NoTurns { path: input.path().to_owned(), format, losses });
        }
        let session = Session {
            id: session_id(own_id.as_deref(), &input.stem()),
            title: self.title.or(titled.map(|(_, title)| title)),
            origin: Some(format.to_owned()),
            turns,
        };
        Ok(Imported { session, losses: self.losses, notes })
    }

    /// The file's own session id. After a resume or fork a file has several: the one it is named after, or
    /// else the last, since what was taken over stands first.
    fn own_id(&self, stem: &str) -> Option<String> {
        self.session_ids.iter().find(|id| *id == stem).or(self.session_ids.last()).cloned()
    }
}
