//! Requests of the wire vectors, read as if their client had sent them here.

use std::fs;
use std::path::PathBuf;

use laundromat_session::{Message, MessageRole};
use serde_json::{Map, Value};

use super::request::Unread;
use super::target::Shape;
use crate::profile::Profile;
use crate::routes::{self, write};

/// Members whose texts are somebody's words or a tool's.
const SPOKEN: [&str; 5] = ["text", "content", "output", "input", "instructions"];

fn vectors(shape: Shape) -> Vec<Value> {
    let name = format!("../../tests/wire/requests_{}.json", shape.route().id().replace('-', "_"));
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    let file: Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    file["vectors"].as_array().expect("vectors").clone()
}

fn read(shape: Shape, body: Vec<u8>) -> Vec<Message> {
    (Unread { shape, model: Some("m"), delivery: None, raw: body }).read().expect("a request").messages
}

/// Who said what; arguments by value, since some routes have them as text and some as an object.
type Said = (MessageRole, String, Vec<(String, Value)>);

fn said(messages: &[Message]) -> Vec<Said> {
    let arguments = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let calls = |message: &Message| {
        message.calls.iter().map(|call| (call.name.clone(), arguments(&call.arguments))).collect::<Vec<_>>()
    };
    messages.iter().map(|message| (message.role, message.text.clone(), calls(message))).collect()
}

/// Every text in a body that is spoken.
fn spoken<'v>(value: &'v Value, is_spoken: bool, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if is_spoken => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| spoken(item, is_spoken, out)),
        Value::Object(members) => {
            // Declared tools and arguments are no words.
            let theirs = members.iter().filter(|(name, _)| !matches!(name.as_str(), "tools" | "args"));
            theirs.for_each(|(name, value)| spoken(value, SPOKEN.contains(&name.as_str()), out));
        }
        _ => {}
    }
}

#[test]
fn every_request_of_the_wire_vectors_is_read_and_says_the_same_when_it_is_sent_on() {
    for shape in Shape::ALL {
        let vectors = vectors(*shape);
        assert!(vectors.len() >= 12, "{shape}: {}", vectors.len());
        for vector in &vectors {
            let id = vector["id"].as_str().expect("an id");
            let body = &vector["expected_body"];
            let messages = read(*shape, body.to_string().into_bytes());
            let mut texts = Vec::new();
            spoken(body, false, &mut texts);
            assert!(texts.len() > 1, "{id}");
            for text in texts {
                assert!(messages.iter().any(|message| message.text.contains(text)), "{id} does not say {text:?}");
            }
            let profile = vector["profile"].as_str().and_then(|name| Profile::of_wire(shape.route(), name));
            let policy = &profile.expect("a profile").policy;
            let again = routes::Shape { model: "m", messages: &messages, policy, fields: &Map::new() };
            let again = read(*shape, write(shape.route(), &again));
            assert_eq!(said(&again), said(&messages), "{id}");
        }
    }
}
