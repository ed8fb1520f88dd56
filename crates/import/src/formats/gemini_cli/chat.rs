//! From messages to turns.

use std::borrow::Cow;
use std::collections::HashSet;

use laundromat_session::{Call, Part, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, time};
use crate::content::{arguments, compact, push_reasoning, push_text, tool_name};
use crate::fields::{Fields, items_of, text_of};
use crate::losses::Losses;

/// What the program says in the user's place to make the model go on.
const NUDGE: &str = "System: Please continue.";
/// What it tells the model of the place it works in.
const CONTEXT: &str = "<session_context>";

/// The turns so far.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    /// Calls whose result stood inside them: a copy of it may come again as a message.
    answered: HashSet<String>,
}

/// What parts of content say.
#[derive(Debug, Default)]
struct Content {
    parts: Vec<Part>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    results: Vec<Answer>,
}

#[derive(Debug)]
struct Answer {
    call_id: Option<String>,
    parts: Vec<Part>,
    failed: bool,
}

impl Turns {
    pub(super) fn finish(self) -> Vec<Turn> {
        self.turns
    }

    /// Takes one message.
    pub(super) fn message(&mut self, message: &Fields<'_>, at: At<'_>, losses: &mut Losses) {
        let ts = time(message, "timestamp");
        let mut content = Content::default();
        if let Some(raw) = message.raw("content").or_else(|| message.raw("parts")) {
            content.take(raw, at, losses);
        }
        match message.text("type").as_deref().unwrap_or_default() {
            "user" => self.user(content, ts, at, losses),
            "gemini" | "model" | "assistant" => self.reply(content, message, ts, at, losses),
            kind @ ("info" | "warning" | "error") => {
                let marker = at.turn(Role::Marker(kind.to_owned()), content.parts);
                self.turns.push(Turn { ts, ..marker });
            }
            other => losses.kind(format!("record:{other}"), at.record),
        }
    }

    fn user(&mut self, content: Content, ts: Option<String>, at: At<'_>, losses: &mut Losses) {
        let only_results = !content.results.is_empty() && content.parts.is_empty();
        for answer in content.results {
            if answer.call_id.as_ref().is_some_and(|id| self.answered.contains(id)) {
                losses.duplicates.add(at.record);
            } else {
                self.answer(answer, ts.clone(), at);
            }
        }
        if only_results {
            return;
        }
        let mut turn = Turn { ts, ..at.turn(Role::User, content.parts) };
        let text = turn.text();
        if text.trim() == NUDGE || text.trim_start().starts_with(CONTEXT) {
            turn.synthetic = Some("harness".to_owned());
        }
        self.turns.push(turn);
    }

    fn answer(&mut self, answer: Answer, ts: Option<String>, at: At<'_>) {
        let Answer { call_id, parts, failed: is_error } = answer;
        self.turns.push(Turn { call_id, is_error, ts, ..at.turn(Role::Tool, parts) });
    }

    fn reply(&mut self, content: Content, message: &Fields<'_>, ts: Option<String>, at: At<'_>, losses: &mut Losses) {
        let Content { parts, mut reasoning, mut calls, results } = content;
        for thought in message.items("thoughts").unwrap_or_default() {
            let text = match Fields::of(thought) {
                Some(thought) => said(&thought),
                None => text_of(thought).map(Cow::into_owned),
            };
            if let Some(text) = text {
                push_reasoning(&mut reasoning, Cow::Owned(text));
            }
        }
        let mut answers: Vec<(Answer, Option<String>)> =
            results.into_iter().map(|answer| (answer, ts.clone())).collect();
        for item in message.items("toolCalls").unwrap_or_default() {
            let Some(item) = Fields::of(item) else {
                losses.skip(at.record, "a call that is no object");
                continue;
            };
            let call = Call {
                id: item.label("id").unwrap_or_default().into_owned(),
                name: tool_name(item.text("name")),
                arguments: arguments(item.raw("args")),
            };
            if let Some(answer) = result(&item, &call, at, losses) {
                self.answered.extend(answer.call_id.clone());
                answers.push((answer, time(&item, "timestamp").or_else(|| ts.clone())));
            }
            calls.push(call);
        }
        self.turns.push(Turn { ts, reasoning, calls, ..at.turn(Role::Assistant, parts) });
        for (answer, ts) in answers {
            self.answer(answer, ts, at);
        }
    }
}

/// A thought in one line.
fn said(thought: &Fields<'_>) -> Option<String> {
    let texts = ["subject", "description", "text"].into_iter().filter_map(|key| thought.text(key));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join(": "))
}

/// The result inside a call; a call without one was not answered.
fn result(item: &Fields<'_>, call: &Call, at: At<'_>, losses: &mut Losses) -> Option<Answer> {
    let raw = item.raw("result")?;
    let call_id = (!call.id.is_empty()).then(|| call.id.clone());
    let failed = matches!(item.text("status").as_deref(), Some("error" | "cancelled"));
    let mut content = Content::default();
    content.take(raw, at, losses);
    if content.results.is_empty() && content.parts.is_empty() {
        let empty =
            items_of(raw).is_some_and(|items| items.is_empty()) || text_of(raw).is_some_and(|text| text.is_empty());
        return (!empty).then(|| Answer { call_id, parts: vec![Part::Text(compact(raw))], failed });
    }
    let mut answer = Answer { call_id, parts: Vec::new(), failed };
    for part in content.results {
        answer.failed |= part.failed;
        crate::content::append(&mut answer.parts, part.parts);
    }
    crate::content::append(&mut answer.parts, content.parts);
    Some(answer)
}

impl Content {
    fn take(&mut self, raw: &RawValue, at: At<'_>, losses: &mut Losses) {
        if let Some(text) = text_of(raw) {
            push_text(&mut self.parts, text);
        } else if let Some(items) = items_of(raw) {
            for item in items {
                self.take_part(item, at, losses);
            }
        } else {
            self.take_part(raw, at, losses);
        }
    }

    fn take_part(&mut self, raw: &RawValue, at: At<'_>, losses: &mut Losses) {
        let Some(part) = Fields::of(raw) else {
            match text_of(raw) {
                Some(text) => push_text(&mut self.parts, text),
                None => losses.skip(at.record, "a part that is neither text nor an object"),
            }
            return;
        };
        let object = |key: &str, snake: &str| part.object(key).or_else(|| part.object(snake));
        if let Some(call) = object("functionCall", "function_call") {
            self.calls.push(Call {
                id: call.label("id").unwrap_or_default().into_owned(),
                name: tool_name(call.text("name")),
                arguments: arguments(call.raw("args")),
            });
        } else if let Some(response) = object("functionResponse", "function_response") {
            let (text, failed) = response.raw("response").map(response_text).unwrap_or_default();
            let mut parts = vec![Part::Text(text)];
            for raw in response.items("parts").unwrap_or_default() {
                let mut inner = Self::default();
                inner.take_part(raw, at, losses);
                crate::content::append(&mut parts, inner.parts);
            }
            self.results.push(Answer { call_id: id(&response, "id"), parts, failed });
        } else if let Some(data) = object("inlineData", "inline_data") {
            self.data(&data, "inlineData", at, losses);
        } else if let Some(data) = object("fileData", "file_data") {
            self.data(&data, "fileData", at, losses);
        } else if let Some(text) = part.text("text") {
            match part.is_true("thought") {
                true => push_reasoning(&mut self.reasoning, text),
                false => push_text(&mut self.parts, text),
            }
        } else {
            let kind = part
                .iter()
                .map(|(name, _)| name)
                .find(|name| *name != "thoughtSignature")
                .unwrap_or_default()
                .to_owned();
            losses.kind(format!("part:{kind}"), at.record);
            self.parts.push(Part::Other(kind));
        }
    }

    fn data(&mut self, data: &Fields<'_>, kind: &str, at: At<'_>, losses: &mut Losses) {
        let text = |key: &str, snake: &str| data.text(key).or_else(|| data.text(snake));
        let media = text("mimeType", "mime_type").unwrap_or_default();
        if !media.starts_with("image/") {
            losses.kind(format!("part:{kind}"), at.record);
            self.parts.push(Part::Other(kind.to_owned()));
            return;
        }
        let address = match (text("fileUri", "file_uri"), data.text("data")) {
            (Some(address), _) => Some(address.into_owned()),
            (None, Some(bytes)) => Some(format!("data:{media};base64,{bytes}")),
            (None, None) => None,
        };
        self.parts.push(Part::Image(address));
    }
}

/// The text of what a tool gave back, and whether it failed.
fn response_text(raw: &RawValue) -> (String, bool) {
    let text = |raw: &RawValue| text_of(raw).map_or_else(|| compact(raw), Cow::into_owned);
    let Some(response) = Fields::of(raw) else { return (text(raw), false) };
    if let Some(error) = response.raw("error") {
        return (text(error), true);
    }
    let output = response.raw("output").or_else(|| response.raw("result"));
    (text(output.unwrap_or(raw)), false)
}
