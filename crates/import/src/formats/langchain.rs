//! LangChain messages in their three spellings: `{type, data}`, the constructor form, and flat ones, alone
//! or in the state of a graph.

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, calls, id, named_call, reasoning};
use crate::content::{arguments, compact, push_block, push_reasoning, push_text, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{each_value, messages};

/// Why a user turn is not a person's: it stands for turns that were summarized.
const SUMMARY: &str = "compact_summary";

/// LangChain messages.
#[derive(Debug)]
pub(super) struct LangChain;

impl Reader for LangChain {
    fn id(&self) -> &'static str {
        "langchain"
    }

    fn title(&self) -> &'static str {
        "LangChain messages"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = sample.records().next()?;
        let list = match &first {
            Line::List(raw) => items_of(raw)?,
            Line::Object(fields) => list_of(fields).and_then(items_of)?,
        };
        let messages: Vec<Fields<'_>> = list.into_iter().filter_map(Fields::of).collect();
        let kinds: Vec<Kind> = messages.iter().filter_map(|message| Some(Message::of(message)?.kind)).collect();
        // Flat messages without one of the library's own words could be another's.
        let own = kinds.iter().any(|kind| matches!(kind, Kind::Human | Kind::Ai));
        (own && kinds.len() * 2 >= messages.len()).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            let mut draft = Draft::default();
            let list = match &line {
                Line::List(raw) => Some(*raw),
                Line::Object(fields) => list_of(fields),
            };
            for (index, fields) in messages(list, numbering, &mut draft.losses) {
                let at = numbering.at(&file, index);
                match Message::of(&fields) {
                    Some(message) => draft.turns.extend(turn(&message, at, &mut draft.losses)),
                    None => draft.losses.skip(at.record, "no message of this library"),
                }
            }
            let is_summary = |turn: &Turn| turn.synthetic.as_deref() == Some(SUMMARY);
            if !draft.turns.iter().any(is_summary) {
                return sink.put_unmarked(draft);
            }
            if input.history() == History::Original {
                draft.notes.push("what was summarized is not in the file: read as it stands".to_owned());
            }
            sink.put(draft)
        })
    }
}

/// The messages of a graph's state, or of what wraps it.
fn list_of<'a>(fields: &Fields<'a>) -> Option<&'a RawValue> {
    let own = fields.raw("messages").filter(|raw| raw.get().starts_with('['));
    own.or_else(|| {
        let inner = ["values", "state", "channel_values", "output", "data", "kwargs"];
        inner.iter().find_map(|key| fields.object(key)?.raw("messages"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Human,
    Ai,
    System,
    Tool,
    Remove,
    /// A message with a role of its own.
    Chat,
}

/// A message in whatever spelling: its kind and the object with its fields.
struct Message<'a> {
    kind: Kind,
    fields: Fields<'a>,
}

impl<'a> Message<'a> {
    fn of(fields: &Fields<'a>) -> Option<Self> {
        let word = fields.text("type")?;
        if word == "constructor" {
            let class = fields.items("id")?.last().copied().and_then(text_of)?;
            let kind = kind(class.trim_end_matches("Chunk").trim_end_matches("Message").to_lowercase().as_str())?;
            return Some(Self { kind, fields: fields.object("kwargs")? });
        }
        let word = word.trim_end_matches("MessageChunk").to_lowercase();
        let data = fields.object("data");
        let inner = data.unwrap_or_else(|| fields.clone());
        (inner.has("content") || word == "remove").then_some(Self { kind: kind(&word)?, fields: inner })
    }
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "human" => Kind::Human,
        "ai" => Kind::Ai,
        "system" => Kind::System,
        "tool" | "function" => Kind::Tool,
        "remove" => Kind::Remove,
        "chat" => Kind::Chat,
        _ => return None,
    })
}

fn turn(message: &Message<'_>, at: At<'_>, losses: &mut Losses) -> Option<Turn> {
    let fields = &message.fields;
    let extra = fields.object("additional_kwargs");
    let role = match message.kind {
        Kind::Human => Role::User,
        Kind::Ai => Role::Assistant,
        Kind::System => Role::System,
        Kind::Tool => Role::Tool,
        Kind::Chat => crate::chat::role(fields, at.record, losses),
        Kind::Remove => {
            losses.kind("message:remove".to_owned(), at.record);
            return None;
        }
    };
    let (parts, thought, in_content) = content(fields.raw("content"), at, losses);
    let mut turn = at.turn(role, parts);
    match turn.role {
        Role::Assistant => {
            turn.reasoning = thought.or_else(|| extra.as_ref().and_then(reasoning));
            turn.calls = called(fields, extra.as_ref(), in_content, at, losses);
        }
        Role::Tool => {
            turn.call_id = id(fields, "tool_call_id");
            turn.is_error = fields.text("status").as_deref() == Some("error");
        }
        Role::User => {
            let source = extra.as_ref().and_then(|extra| extra.text("lc_source"));
            turn.synthetic = (source.as_deref() == Some("summarization")).then(|| SUMMARY.to_owned());
        }
        _ => {}
    }
    Some(turn)
}

/// The calls, which may stand in three places at once: the library's own list counts before the provider's.
fn called(
    fields: &Fields<'_>,
    extra: Option<&Fields<'_>>,
    in_content: Vec<Call>,
    at: At<'_>,
    losses: &mut Losses,
) -> Vec<Call> {
    let mut all = calls(fields, at.record, losses);
    for item in fields.items("invalid_tool_calls").unwrap_or_default().into_iter().filter_map(Fields::of) {
        losses.kind("call:invalid".to_owned(), at.record);
        let id = item.label("id").unwrap_or_default().into_owned();
        all.push(named_call(id, item.text("name"), item.raw("args")));
    }
    match (all.is_empty(), in_content.is_empty()) {
        (false, _) => all,
        (true, false) => in_content,
        (true, true) => extra.map(|extra| calls(extra, at.record, losses)).unwrap_or_default(),
    }
}

/// Text, or blocks as some provider writes them: calls and thoughts may stand among them.
fn content(raw: Option<&RawValue>, at: At<'_>, losses: &mut Losses) -> (Vec<Part>, Option<String>, Vec<Call>) {
    let (mut parts, mut thought, mut calls) = (Vec::new(), None, Vec::new());
    let Some(items) = raw.and_then(items_of) else {
        match raw.and_then(text_of) {
            Some(text) if text.is_empty() => {}
            Some(text) => push_text(&mut parts, text),
            None => raw.into_iter().for_each(|raw| push_text(&mut parts, compact(raw).into())),
        }
        return (parts, thought, calls);
    };
    for item in items {
        let Some(block) = Fields::of(item) else {
            push_text(&mut parts, text_of(item).unwrap_or_else(|| compact(item).into()));
            continue;
        };
        let kind = block.text("type").unwrap_or_default();
        match kind.as_ref() {
            "tool_use" | "tool_call" | "function_call" | "server_tool_use" | "server_tool_call" => {
                let given = ["input", "args", "arguments"].iter().find_map(|key| block.raw(key));
                let id = id(&block, "call_id").or_else(|| id(&block, "id")).unwrap_or_default();
                calls.push(Call { id, name: tool_name(block.text("name")), arguments: arguments(given) });
            }
            "thinking" | "reasoning" | "reasoning_content" => {
                let text = block.text("thinking").or_else(|| block.text("reasoning")).or_else(|| block.text("text"));
                let summary = || {
                    let items = block.items("summary").unwrap_or_default().into_iter().filter_map(Fields::of);
                    let texts: Vec<String> =
                        items.filter_map(|item| item.text("text").map(|text| text.into_owned())).collect();
                    (!texts.is_empty()).then(|| texts.join("\n").into())
                };
                let text = text.filter(|text| !text.is_empty()).or_else(summary);
                push_reasoning(&mut thought, text.unwrap_or("[encrypted]".into()));
            }
            "redacted_thinking" => push_reasoning(&mut thought, "[redacted]".into()),
            // Pieces of arguments while they stream: the library's own list has the whole.
            "input_json_delta" => {}
            _ => push_block(&mut parts, &block, at.record, losses),
        }
    }
    (parts, thought, calls)
}
