//! A finished answer as server-sent events: clients that ask for a stream get it in one go.

use serde_json::Value;

use super::answer::Answer;
use super::request::Delivery;
use super::target::Shape;
use super::{anthropic, chat, gemini, responses};

/// One event.
#[derive(Debug)]
pub(super) struct Event {
    name: Option<&'static str>,
    data: Value,
}

impl Event {
    pub(super) fn data(data: Value) -> Self {
        Self { name: None, data }
    }

    pub(super) fn named(name: &'static str, data: Value) -> Self {
        Self { name: Some(name), data }
    }
}

/// The text of the whole stream.
pub(super) fn stream(shape: Shape, delivery: Delivery, answer: &Answer) -> String {
    let mut events = match shape {
        Shape::Chat => chat::events(answer),
        Shape::Responses => responses::events(answer),
        Shape::Anthropic => anthropic::events(answer),
        Shape::Gemini => vec![Event::data(gemini::whole(answer))],
    };
    if delivery == Delivery::EventsWithUsage && shape == Shape::Chat {
        events.push(chat::usage_event(answer));
    }
    let mut out = String::new();
    for event in events {
        if let Some(name) = event.name {
            out.push_str(&format!("event: {name}\n"));
        }
        // JSON text has no line breaks of its own, so an event's data is one line.
        out.push_str(&format!("data: {}\n\n", event.data));
    }
    if shape == Shape::Chat {
        out.push_str("data: [DONE]\n\n");
    }
    out
}
