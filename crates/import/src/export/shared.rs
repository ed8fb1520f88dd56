//! What the writers have in common.

use laundromat_session::{Part, Role, Session, Turn};
use serde_json::{Map, Value, json};

use super::LeftOut;

/// A JSON document with a final newline.
pub(super) fn document(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The turns that speak. Boundaries, notices and unknown roles have no place in the other formats.
pub(super) fn spoken<'s>(session: &'s Session, left_out: &mut LeftOut) -> Vec<&'s Turn> {
    let mut turns = Vec::new();
    for turn in &session.turns {
        match &turn.role {
            Role::Marker(_) => left_out.add("markers"),
            Role::Other(_) => left_out.add("turns of an unknown role"),
            Role::System | Role::User | Role::Assistant | Role::Tool => turns.push(turn),
        }
    }
    turns
}

/// Counts what none of the formats but our own holds.
pub(super) fn count_annotations(turn: &Turn, left_out: &mut LeftOut) {
    left_out.add_some("marks of synthetic turns", turn.synthetic.as_deref());
    for _ in 0..turn.images {
        left_out.add("images that are not in the text");
    }
}

/// The arguments of a call as the object that a format wants: what is none is put into one, as
/// the normal form does it.
pub(super) fn arguments(text: &str, left_out: &mut LeftOut) -> Value {
    let value = serde_json::from_str::<Value>(text);
    if let Ok(object @ Value::Object(_)) = value {
        return object;
    }
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    left_out.add("arguments that are no object, put into one");
    match value {
        Ok(value) => json!({"_value": value}),
        Err(_) => json!({"_raw": text}),
    }
}

/// Whether a format that has images in turns of people only can hold those of this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Images {
    Held,
    Dropped,
}

/// The content: text where it is all text, else a list of blocks, with images as `image` writes them.
pub(super) fn content(turn: &Turn, images: Images, left_out: &mut LeftOut, image: impl Fn(&str) -> Value) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    let flush = |texts: &mut Vec<&str>, blocks: &mut Vec<Value>| {
        if !texts.is_empty() {
            blocks.push(json!({"type": "text", "text": texts.join("\n")}));
            texts.clear();
        }
    };
    for part in &turn.parts {
        match part {
            Part::Text(text) => texts.push(text),
            Part::Image(Some(address)) if images == Images::Held => {
                flush(&mut texts, &mut blocks);
                blocks.push(image(address));
            }
            Part::Image(_) => left_out.add("images"),
            Part::Other(_) => left_out.add("parts of other kinds"),
        }
    }
    if blocks.is_empty() {
        return Value::from(texts.join("\n"));
    }
    flush(&mut texts, &mut blocks);
    Value::Array(blocks)
}

/// Puts `value` under `key`, where there is one.
pub(super) fn put(object: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}
