//! pydantic-ai message histories: requests and responses in parts. One request holds the results of the
//! turn before and, behind them, what a person says next.

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, time};
use crate::content::{arguments, compact, push_reasoning, push_text, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::replies::Replies;
use crate::sample::Sample;
use crate::values::{Numbering, each_value, messages};

/// Why a user turn is not a person's: the library asks for an answer in another form.
const RETRY: &str = "retry";

/// The kind of marker that a compaction becomes.
const COMPACTION: &str = "compaction";

/// pydantic-ai messages.
#[derive(Debug)]
pub(super) struct PydanticAi;

impl Reader for PydanticAi {
    fn id(&self) -> &'static str {
        "pydantic-ai"
    }

    fn title(&self) -> &'static str {
        "pydantic-ai messages"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = sample.records().next()?;
        let list = match &first {
            Line::List(raw) => items_of(raw)?,
            Line::Object(fields) => list_of(fields).and_then(items_of)?,
        };
        // There may be messages of kinds that came later.
        let messages: Vec<Fields<'_>> = list.into_iter().filter_map(Fields::of).collect();
        let is_message = |message: &&Fields<'_>| {
            matches!(message.text("kind").as_deref(), Some("request" | "response")) && message.has("parts")
        };
        let known = messages.iter().filter(is_message).count();
        (known > 0 && known * 2 >= messages.len()).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            let mut draft = Draft::default();
            let list = match &line {
                Line::List(raw) => Some(*raw),
                Line::Object(fields) => list_of(fields),
            };
            draft.turns = history(list, &file, numbering, &mut draft.losses);
            let marker = Role::Marker(COMPACTION.to_owned());
            if !draft.turns.iter().any(|turn| turn.role == marker) {
                return sink.put_unmarked(draft);
            }
            if input.history() == History::Original {
                draft.notes.push("what was compacted is not in the file: read as it stands".to_owned());
            }
            sink.put(draft)
        })
    }
}

/// The messages of an object that holds a history, as results and stores of the library do.
fn list_of<'a>(fields: &Fields<'a>) -> Option<&'a RawValue> {
    ["messages", "message_history", "all_messages"].iter().find_map(|key| fields.raw(key))
}

/// The turns of a history.
pub(super) fn history(list: Option<&RawValue>, file: &str, numbering: Numbering, losses: &mut Losses) -> Vec<Turn> {
    let mut replies = Replies::default();
    let mut told: Option<String> = None;
    for (index, message) in messages(list, numbering, losses) {
        let at = numbering.at(file, index);
        // Not part of the history, but sent in front of it: the first is kept, and a change counted.
        if let Some(text) = message.text("instructions").filter(|text| !text.is_empty()) {
            match &told {
                None => {
                    replies.turn(at.says(Role::System, text.clone()));
                    told = Some(text.into_owned());
                }
                Some(before) if *before != text => losses.kind("instructions:changed".to_owned(), at.record),
                Some(_) => {}
            }
        }
        let before = replies.count();
        let parts = messages(message.raw("parts"), Numbering::Line(at.record), losses);
        match message.text("kind").as_deref() {
            Some("response") => parts.iter().for_each(|(_, part)| response(part, at, &mut replies, losses)),
            Some("request") => request(&parts, at, &mut replies, losses),
            other => losses.kind(format!("message:{}", other.unwrap_or_default()), at.record),
        }
        replies.end_reply();
        replies.stamp(before, time(&message, "timestamp").as_deref());
    }
    replies.finish()
}

/// Results first, then what is said.
fn request(parts: &[(usize, Fields<'_>)], at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let (results, others): (Vec<_>, Vec<_>) = parts.iter().map(|(_, part)| part).partition(|part| is_result(part));
    for part in results {
        let failed = part.text("part_kind").as_deref() == Some("retry-prompt")
            || matches!(part.text("outcome").as_deref(), Some("failed" | "denied"));
        let turn = Turn {
            call_id: id(part, "tool_call_id"),
            is_error: failed,
            ts: time(part, "timestamp"),
            ..at.says(Role::Tool, said(part.raw("content")))
        };
        replies.turn(turn);
    }
    for part in others {
        let kind = part.text("part_kind").unwrap_or_default();
        match kind.as_ref() {
            "system-prompt" | "instruction" => replies.turn(at.says(Role::System, said(part.raw("content")))),
            "user-prompt" => replies.turn(at.turn(Role::User, prompt(part.raw("content"), at, losses))),
            "retry-prompt" => {
                let turn = at.says(Role::User, said(part.raw("content")));
                replies.turn(Turn { synthetic: Some(RETRY.to_owned()), ..turn });
            }
            other => losses.kind(format!("part:{other}"), at.record),
        }
    }
}

/// A failed call is told as a retry that names its tool.
fn is_result(part: &Fields<'_>) -> bool {
    match part.text("part_kind").as_deref() {
        Some("tool-return" | "builtin-tool-return") => true,
        Some("retry-prompt") => part.raw("tool_name").is_some(),
        _ => false,
    }
}

fn response(part: &Fields<'_>, at: At<'_>, replies: &mut Replies, losses: &mut Losses) {
    let kind = part.text("part_kind").unwrap_or_default();
    match kind.as_ref() {
        "text" => {
            if let Some(text) = part.text("content").filter(|text| !text.is_empty()) {
                push_text(&mut replies.reply(at).parts, text);
            }
        }
        "thinking" => {
            let text = part.text("content").filter(|text| !text.is_empty());
            let text = text.or_else(|| part.text("signature").map(|_| "[encrypted]".into()));
            text.into_iter().for_each(|text| push_reasoning(&mut replies.reply(at).reasoning, text));
        }
        "tool-call" | "builtin-tool-call" => replies.reply(at).calls.push(Call {
            id: part.label("tool_call_id").unwrap_or_default().into_owned(),
            name: tool_name(part.text("tool_name")),
            arguments: arguments(part.raw("args")),
        }),
        "builtin-tool-return" => {
            let turn = Turn { call_id: id(part, "tool_call_id"), ..at.says(Role::Tool, said(part.raw("content"))) };
            replies.result_inside(turn);
        }
        COMPACTION => replies.turn(at.says(Role::Marker(COMPACTION.to_owned()), said(part.raw("content")))),
        "file" => {
            let file = part.object("content").and_then(|content| media(&content));
            let file = file.unwrap_or(Part::Other("file".to_owned()));
            replies.reply(at).parts.push(file);
        }
        other => {
            losses.kind(format!("part:{other}"), at.record);
            replies.reply(at).parts.push(Part::Other(other.to_owned()));
        }
    }
}

/// Content of any JSON kind as text.
fn said(raw: Option<&RawValue>) -> String {
    raw.map(|raw| text_of(raw).map_or_else(|| compact(raw), |text| text.into_owned())).unwrap_or_default()
}

/// A prompt: text, or a list of texts and media.
fn prompt(raw: Option<&RawValue>, at: At<'_>, losses: &mut Losses) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some(items) = raw.and_then(items_of) else {
        push_text(&mut parts, said(raw).into());
        return parts;
    };
    for item in items {
        match (text_of(item), Fields::of(item)) {
            (Some(text), _) => push_text(&mut parts, text),
            (None, Some(fields)) => match (media(&fields), fields.text("content")) {
                (Some(image), _) => parts.push(image),
                (None, Some(text)) if fields.text("kind").is_none_or(|kind| kind.contains("text")) => {
                    push_text(&mut parts, text);
                }
                (None, _) => {
                    let kind = fields.text("kind").unwrap_or_default();
                    losses.kind(format!("part:{kind}"), at.record);
                    parts.push(Part::Other(kind.into_owned()));
                }
            },
            (None, None) => push_text(&mut parts, compact(item).into()),
        }
    }
    parts
}

/// An image, by its address or its bytes.
fn media(fields: &Fields<'_>) -> Option<Part> {
    let kind = fields.text("kind").unwrap_or_default();
    let media_type = fields.text("media_type").unwrap_or_default();
    match kind.as_ref() {
        "image-url" => Some(Part::Image(fields.text("url").map(|url| url.into_owned()))),
        "binary" if media_type.starts_with("image/") => {
            Some(Part::Image(fields.text("data").map(|data| format!("data:{media_type};base64,{data}"))))
        }
        _ => None,
    }
}
