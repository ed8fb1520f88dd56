//! What one line of a session file says, and who says it.

use std::borrow::Cow;

use laundromat_session::{Call, Part};
use serde_json::value::RawValue;

use super::branch::{Head, Node};
use super::harness::mark;
use crate::content::{arguments, parts, push_block, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::losses::Losses;

/// A line of the conversation.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) record: usize,
    pub(super) ts: Option<String>,
    pub(super) node: Node,
    pub(super) talk: Talk,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Talk {
    /// Results of calls, then what else stands in the same message.
    User { results: Vec<CallResult>, said: Option<Said> },
    /// A piece of a reply.
    Assistant(Piece),
    /// A compaction boundary, by its kind.
    Boundary { kind: String, text: Option<String> },
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct CallResult {
    pub(super) call_id: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) is_error: bool,
}

/// Words in the user role.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) parts: Vec<Part>,
    /// Why no person said them.
    pub(super) synthetic: Option<String>,
}

/// A piece of a reply.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The reply's id, the same on all its pieces.
    pub(super) reply: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) calls: Vec<Call>,
    pub(super) reasoning: Option<String>,
    /// Results of tools that ran on the server, inside the reply.
    pub(super) results: Vec<CallResult>,
    /// Why the model did not say it.
    pub(super) synthetic: Option<String>,
}

impl Talk {
    /// What the line may start a branch as.
    pub(super) fn head(&self) -> Head {
        match self {
            Self::User { said: Some(Said { synthetic: None, .. }), .. } => Head::Prompt,
            Self::Assistant(piece) => Head::Reply(piece.reply.clone()),
            Self::User { .. } | Self::Boundary { .. } => Head::None,
        }
    }

    /// A `user` line.
    pub(super) fn of_user(
        fields: &Fields<'_>,
        record: usize,
        losses: &mut Losses,
    ) -> Result<Option<Self>, &'static str> {
        let message = fields.object("message").ok_or("a user line without a message")?;
        let content = message.raw("content").ok_or("a user message without content")?;
        let mut results = Vec::new();
        let mut blocks = Blocks::default();
        match items_of(content) {
            None => blocks.text(text_of(content).ok_or("a user message whose content is neither text nor blocks")?),
            Some(items) => {
                for item in items {
                    blocks.item(item, record, losses, &mut results);
                }
            }
        }
        // An empty message is still a message; beside results it is nothing.
        let said = (results.is_empty() || blocks.any()).then(|| blocks.said(line_reason(fields), record, losses));
        Ok(Some(Self::User { results, said }))
    }

    /// An `assistant` line.
    pub(super) fn of_assistant(
        fields: &Fields<'_>,
        record: usize,
        losses: &mut Losses,
    ) -> Result<Option<Self>, &'static str> {
        let message = fields.object("message").ok_or("an assistant line without a message")?;
        let by_harness = fields.is_true("isApiErrorMessage") || message.text("model").as_deref() == Some("<synthetic>");
        let mut piece = Piece {
            reply: message.label("id").filter(|id| !id.is_empty()).map(Cow::into_owned),
            synthetic: by_harness.then(|| "harness".to_owned()),
            ..Piece::default()
        };
        if let Some(content) = message.raw("content") {
            match items_of(content) {
                Some(items) => {
                    for block in items.into_iter().filter_map(Fields::of) {
                        piece.block(&block, record, losses);
                    }
                }
                None => push_text(&mut piece.parts, text_of(content).ok_or("a reply that is neither text nor blocks")?),
            }
        }
        Ok(Some(Self::Assistant(piece)))
    }

    /// A `system` line: a compaction boundary, or nothing that belongs to the conversation.
    pub(super) fn of_boundary(fields: &Fields<'_>) -> Result<Option<Self>, &'static str> {
        let kind = fields.text("subtype").unwrap_or_default();
        if !kind.ends_with("compact_boundary") {
            return Ok(None);
        }
        Ok(Some(Self::Boundary { kind: kind.into_owned(), text: fields.text("content").map(Cow::into_owned) }))
    }
}

/// Why no person wrote a user line, as far as the line itself tells.
fn line_reason(fields: &Fields<'_>) -> Option<String> {
    if fields.is_true("isCompactSummary") {
        return Some("compact_summary".to_owned());
    }
    if fields.is_true("isMeta") {
        return Some("meta".to_owned());
    }
    let origin = fields.object("origin")?.text("kind")?;
    (origin != "human").then(|| origin.into_owned())
}

/// The blocks of a user message that are no results.
#[derive(Debug, Default)]
struct Blocks {
    /// Each with the mark it opens with, where it is the harness's.
    blocks: Vec<(Option<&'static str>, Vec<Part>)>,
}

impl Blocks {
    fn any(&self) -> bool {
        !self.blocks.is_empty()
    }

    fn text(&mut self, text: Cow<'_, str>) {
        self.blocks.push((mark(&text), vec![Part::Text(text.into_owned())]));
    }

    fn item(&mut self, item: &RawValue, record: usize, losses: &mut Losses, results: &mut Vec<CallResult>) {
        if let Some(text) = text_of(item) {
            self.text(text);
            return;
        }
        let Some(block) = Fields::of(item) else {
            losses.skip(record, "a content block that is neither text nor an object");
            return;
        };
        match block.text("type").as_deref() {
            Some("tool_result") => results.push(result_of(&block, record, losses)),
            Some("text") => self.text(block.text("text").unwrap_or_default()),
            _ => {
                let mut parts = Vec::new();
                push_block(&mut parts, &block, record, losses);
                self.blocks.push((None, parts));
            }
        }
    }

    /// What was said. Where the harness's blocks stand beside a person's, the turn is the person's and of
    /// the harness's blocks only the kind is kept: their text is nobody's words.
    fn said(self, line_reason: Option<String>, record: usize, losses: &mut Losses) -> Said {
        let first_mark = self.blocks.iter().find_map(|(mark, _)| *mark);
        let all_marked = self.blocks.iter().all(|(mark, _)| mark.is_some());
        let synthetic = line_reason.or_else(|| first_mark.filter(|_| all_marked).map(str::to_owned));
        let mut parts = Vec::new();
        for (mark, block) in self.blocks {
            match mark {
                Some(mark) if synthetic.is_none() => {
                    losses.kind(format!("part:{mark}"), record);
                    parts.push(Part::Other(mark.to_owned()));
                }
                _ => {
                    for part in block {
                        match part {
                            Part::Text(text) => push_text(&mut parts, Cow::Owned(text)),
                            other => parts.push(other),
                        }
                    }
                }
            }
        }
        Said { parts, synthetic }
    }
}

impl Piece {
    fn block(&mut self, block: &Fields<'_>, record: usize, losses: &mut Losses) {
        let kind = block.text("type").unwrap_or_default();
        match kind.as_ref() {
            "thinking" => {
                let text = block.text("thinking").unwrap_or_default();
                let text = if text.is_empty() { "[encrypted]".into() } else { text };
                push_reasoning(&mut self.reasoning, text);
            }
            "redacted_thinking" => push_reasoning(&mut self.reasoning, "[redacted]".into()),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.calls.push(Call {
                id: block.label("id").unwrap_or_default().into_owned(),
                name: tool_name(block.text("name")),
                arguments: arguments(block.raw("input")),
            }),
            other if other.ends_with("_tool_result") => self.results.push(result_of(block, record, losses)),
            _ => push_block(&mut self.parts, block, record, losses),
        }
    }
}

fn result_of(block: &Fields<'_>, record: usize, losses: &mut Losses) -> CallResult {
    CallResult {
        call_id: block.label("tool_use_id").map(Cow::into_owned),
        parts: parts(block.raw("content"), record, losses),
        is_error: block.is_true("is_error"),
    }
}
