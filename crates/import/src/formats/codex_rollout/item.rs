//! Items of the model's history. A run of reasoning, words and calls is one reply.

use std::borrow::Cow;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use super::{mark, part, result};
use crate::chat::{At, role_named};
use crate::content::{append, arguments, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::outlet::Draft;

/// The session so far, and the reply that is not yet complete.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) draft: Draft,
    reply: Option<Turn>,
}

/// Whether an item stands for what the server compacted.
pub(super) fn is_compaction(item: &Fields<'_>) -> bool {
    matches!(item.text("type").as_deref(), Some("compaction" | "compaction_summary" | "context_compaction"))
}

/// Whether `kind` is the type of an item.
pub(super) fn is_known(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning") || kind.ends_with("_call") || kind.ends_with("_output")
}

impl Items {
    /// Takes one item.
    pub(super) fn item(&mut self, item: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let kind = item.text("type").unwrap_or_default();
        match kind.as_ref() {
            "message" | "" => self.message(item, ts, at),
            "reasoning" => self.reasoning(item, ts, at),
            kind if kind.ends_with("_output") => self.output(kind, item, ts, at),
            kind if kind.ends_with("_call") => self.call(kind, item, ts, at),
            other => self.draft.losses.kind(format!("item:{other}"), at.record),
        }
    }

    /// Ends the reply: what follows is another one.
    pub(super) fn end_reply(&mut self) {
        self.draft.turns.extend(self.reply.take());
    }

    fn reply(&mut self, ts: Option<String>, at: At<'_>) -> &mut Turn {
        self.reply.get_or_insert_with(|| Turn { ts, ..at.turn(Role::Assistant, Vec::new()) })
    }

    fn message(&mut self, item: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let role = item.text("role").unwrap_or_default();
        match role.as_ref() {
            "assistant" => {
                let mut parts = Vec::new();
                for (_, block) in self.blocks(item, at) {
                    append(&mut parts, block);
                }
                append(&mut self.reply(ts, at).parts, parts);
            }
            "user" => {
                self.end_reply();
                let blocks = self.blocks(item, at);
                let turn = Turn { ts, ..self.spoken(blocks, at) };
                self.draft.turns.push(turn);
            }
            other => {
                self.end_reply();
                let role = role_named(other, at.record, &mut self.draft.losses);
                let mut parts = Vec::new();
                for (_, block) in self.blocks(item, at) {
                    append(&mut parts, block);
                }
                self.draft.turns.push(Turn { ts, ..at.turn(role, parts) });
            }
        }
    }

    /// The blocks of a message, each with the mark of the harness that it opens with.
    fn blocks(&mut self, item: &Fields<'_>, at: At<'_>) -> Vec<(Option<&'static str>, Vec<Part>)> {
        let Some(raw) = item.raw("content") else { return Vec::new() };
        let text = |text: Cow<'_, str>| (mark(&text), vec![Part::Text(text.into_owned())]);
        let Some(items) = items_of(raw) else { return text_of(raw).map(text).into_iter().collect() };
        let mut blocks = Vec::with_capacity(items.len());
        for raw in items {
            match (text_of(raw), Fields::of(raw)) {
                (Some(said), _) => blocks.push(text(said)),
                (None, Some(block)) => {
                    let mut parts = Vec::new();
                    part(&block, at, &mut self.draft, &mut parts);
                    let mark = match parts.first() {
                        Some(Part::Text(said)) => mark(said),
                        _ => None,
                    };
                    blocks.push((mark, parts));
                }
                (None, None) => self.draft.losses.skip(at.record, "a content block that is neither text nor an object"),
            }
        }
        blocks
    }

    /// A user turn. Beside a person's words the harness's blocks are kept by their kind only.
    fn spoken(&mut self, blocks: Vec<(Option<&'static str>, Vec<Part>)>, at: At<'_>) -> Turn {
        let first = blocks.iter().find_map(|(mark, _)| *mark);
        let synthetic = first.filter(|_| blocks.iter().all(|(mark, _)| mark.is_some())).map(str::to_owned);
        let mut parts = Vec::new();
        for (mark, block) in blocks {
            match mark.filter(|_| synthetic.is_none()) {
                Some(mark) => {
                    self.draft.losses.kind(format!("part:{mark}"), at.record);
                    parts.push(Part::Other(mark.to_owned()));
                }
                None => append(&mut parts, block),
            }
        }
        Turn { synthetic, ..at.turn(Role::User, parts) }
    }

    fn reasoning(&mut self, item: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let mut thought = None;
        for key in ["summary", "content"] {
            for raw in item.items(key).unwrap_or_default() {
                let text = Fields::of(raw).and_then(|block| block.text("text")).or_else(|| text_of(raw));
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    push_reasoning(&mut thought, text);
                }
            }
        }
        let thought = thought.unwrap_or_else(|| "[encrypted]".to_owned());
        push_reasoning(&mut self.reply(ts, at).reasoning, Cow::Owned(thought));
    }

    fn call(&mut self, kind: &str, item: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        let server_side =
            !matches!(kind, "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call");
        let id = item.label("call_id").or_else(|| {
            // Nothing answers a search that ran on the server and is over.
            let over = server_side && item.text("status").as_deref() == Some("completed");
            item.label("id").filter(|_| !over)
        });
        let name = item.text("name").unwrap_or_else(|| Cow::Borrowed(kind.strip_suffix("_call").unwrap_or(kind)));
        let given = ["arguments", "action", "queries", "code", "revised_prompt"].iter().find_map(|key| item.raw(key));
        let call = Call {
            id: id.unwrap_or_default().into_owned(),
            name: tool_name(Some(name)),
            // The input of a custom tool is free text, which only looks like JSON by chance.
            arguments: item.text("input").map_or_else(|| arguments(given), Cow::into_owned),
        };
        let id = call.id.clone();
        self.reply(ts.clone(), at).calls.push(call);
        if server_side {
            self.inner_result(item, id, ts, at);
        }
    }

    /// The result that a call on the server has in itself.
    fn inner_result(&mut self, item: &Fields<'_>, id: String, ts: Option<String>, at: At<'_>) {
        if item.text("result").is_some() {
            self.draft.losses.kind("part:result", at.record);
        }
        let Some(output) = item.text("output").map(Cow::into_owned) else { return };
        self.end_reply();
        let is_error = item.raw("error").is_some();
        let call_id = (!id.is_empty()).then_some(id);
        self.draft.turns.push(Turn { call_id, ts, is_error, ..at.says(Role::Tool, output) });
    }

    fn output(&mut self, kind: &str, item: &Fields<'_>, ts: Option<String>, at: At<'_>) {
        self.end_reply();
        let raw = if kind == "tool_search_output" { item.raw("tools") } else { item.raw("output") };
        let (parts, is_error) = self.result(raw, at);
        let call_id = item.label("call_id").filter(|id| !id.is_empty()).map(Cow::into_owned);
        self.draft.turns.push(Turn { call_id, is_error, ts, ..at.turn(Role::Tool, parts) });
    }

    fn result(&mut self, raw: Option<&RawValue>, at: At<'_>) -> (Vec<Part>, bool) {
        let Some(raw) = raw else { return (Vec::new(), false) };
        let outcome = result::outcome(raw);
        let mut parts = Vec::new();
        match outcome.said {
            result::Said::Text(text) => push_text(&mut parts, Cow::Owned(text)),
            result::Said::Blocks(blocks) => {
                for block in blocks.into_iter().filter_map(Fields::of) {
                    part(&block, at, &mut self.draft, &mut parts);
                }
            }
        }
        (parts, outcome.failed)
    }
}
