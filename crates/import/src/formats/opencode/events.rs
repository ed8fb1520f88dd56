//! The stream of events of a server, perhaps each in the envelope of whoever recorded it: records are
//! written again and again under their ids, and text comes in pieces.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::export::sorted;
use super::message::Messages;
use crate::chat::At;
use crate::error::ImportError;
use crate::fields::{Fields, text_of};
use crate::input::Input;
use crate::losses::Losses;
use crate::records::Line;
use crate::values::Sink;

/// The event in a record.
pub(super) fn event_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let is_event = |event: &Fields<'_>| {
        let kind = event.text("type").unwrap_or_default();
        let known = ["message.", "session.", "permission.", "server.", "todo.", "file.", "lsp."];
        event.object("properties").is_some() && known.iter().any(|head| kind.starts_with(head))
    };
    if is_event(fields) {
        return Some(fields.clone());
    }
    ["event", "payload"].into_iter().find_map(|key| fields.object(key).filter(is_event))
}

/// Puts the sessions of the stream `input`.
pub(super) fn read(input: &Input, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let file = input.name();
    let mut stream = Stream::default();
    let mut losses = Losses::default();
    let mut records = input.records()?;
    while let Some(record) = records.next()? {
        let Some((number, line)) = losses.accept(record) else { continue };
        match line {
            Line::Object(fields) => match event_of(&fields) {
                Some(event) => stream.event(&event, number, &mut losses),
                None => losses.kind("record:", number),
            },
            Line::List(_) => losses.skip(number, "JSON, but no object"),
        }
    }
    sink.loose.absorb(losses);
    for session in stream.sessions {
        let mut reading = Messages::new(input.history());
        reading.draft.own_id = Some(session.id);
        if let Some(info) = session.info.as_deref().and_then(Fields::of) {
            reading.head(&info);
        }
        let mut messages = session.messages;
        messages.sort_by(|a, b| a.id.cmp(&b.id));
        for message in &messages {
            let Some(info) = message.info.as_deref().and_then(Fields::of) else {
                reading.draft.losses.skip(message.record, "parts of a message that is not in the stream");
                continue;
            };
            let texts: Vec<Box<RawValue>> = message.parts.iter().filter_map(Piece::whole).collect();
            let parts = sorted(texts.iter().filter_map(|raw| Fields::of(raw)).collect());
            reading.message(&info, &parts, At { file: &file, record: message.record });
        }
        sink.put(reading.finish())?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Stream {
    sessions: Vec<Session>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Session {
    id: String,
    info: Option<Box<RawValue>>,
    messages: Vec<Message>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Message {
    id: String,
    record: usize,
    info: Option<Box<RawValue>>,
    parts: Vec<Piece>,
}

/// A part: what it was last written as, and the text that came in pieces since.
#[derive(Debug, Default)]
struct Piece {
    id: String,
    raw: Option<Box<RawValue>>,
    added: String,
}

impl Piece {
    /// The part with all of its text; nothing where only pieces of it are there.
    fn whole(&self) -> Option<Box<RawValue>> {
        let raw = self.raw.as_deref()?;
        if self.added.is_empty() {
            return Some(raw.to_owned());
        }
        let part = Fields::of(raw)?;
        let text = part.text("text").unwrap_or_default() + self.added.as_str();
        // The last of several fields with one name counts.
        let text = serde_json::Value::from(text.as_ref());
        let head = raw.get().trim_end().strip_suffix('}')?;
        RawValue::from_string(format!("{head},\"text\":{text}}}")).ok()
    }
}

impl Stream {
    fn event(&mut self, event: &Fields<'_>, record: usize, losses: &mut Losses) {
        let kind = event.text("type").unwrap_or_default();
        let Some(properties) = event.object("properties") else { return };
        let label = |fields: &Fields<'_>, key: &str| fields.label(key).map(Cow::into_owned).unwrap_or_default();
        match kind.as_ref() {
            "session.created" | "session.updated" => {
                if let Some(info) = properties.object("info") {
                    self.session(label(&info, "id")).info = properties.raw("info").map(ToOwned::to_owned);
                }
            }
            "message.updated" => {
                if let Some(info) = properties.object("info") {
                    let session = self.session(label(&info, "sessionID"));
                    session.message(label(&info, "id"), record).info = properties.raw("info").map(ToOwned::to_owned);
                }
            }
            "message.part.updated" => {
                if let Some(part) = properties.object("part") {
                    let session = self.session(label(&part, "sessionID"));
                    let piece = session.message(label(&part, "messageID"), record).part(label(&part, "id"));
                    piece.raw = properties.raw("part").map(ToOwned::to_owned);
                    piece.added.clear();
                }
            }
            "message.part.delta" if properties.text("field").as_deref() == Some("text") => {
                let session = self.session(label(&properties, "sessionID"));
                let message = session.message(label(&properties, "messageID"), record);
                let piece = message.part(label(&properties, "partID"));
                piece.added.push_str(&properties.raw("delta").and_then(text_of).unwrap_or_default());
            }
            "message.removed" => {
                let session = self.session(label(&properties, "sessionID"));
                if session.remove(&label(&properties, "messageID")) {
                    losses.off_branch.add(record);
                }
            }
            "message.part.removed" => {
                let session = self.session(label(&properties, "sessionID"));
                let gone = label(&properties, "partID");
                session.message(label(&properties, "messageID"), record).parts.retain(|part| part.id != gone);
                losses.off_branch.add(record);
            }
            other => losses.kind(format!("event:{other}"), record),
        }
    }

    fn session(&mut self, id: String) -> &mut Session {
        let place = *self.by_id.entry(id.clone()).or_insert_with(|| {
            self.sessions.push(Session { id, ..Session::default() });
            self.sessions.len() - 1
        });
        &mut self.sessions[place]
    }
}

impl Session {
    fn message(&mut self, id: String, record: usize) -> &mut Message {
        let place = *self.by_id.entry(id.clone()).or_insert_with(|| {
            self.messages.push(Message { id, record, ..Message::default() });
            self.messages.len() - 1
        });
        &mut self.messages[place]
    }

    fn remove(&mut self, id: &str) -> bool {
        let Some(place) = self.by_id.remove(id) else { return false };
        self.messages.remove(place);
        self.by_id.values_mut().filter(|other| **other > place).for_each(|other| *other -= 1);
        true
    }
}

impl Message {
    fn part(&mut self, id: String) -> &mut Piece {
        let place = self.parts.iter().position(|part| part.id == id).unwrap_or_else(|| {
            self.parts.push(Piece { id, ..Piece::default() });
            self.parts.len() - 1
        });
        &mut self.parts[place]
    }
}
