//! OpenAI Responses and the Codex backend: a list of items, instructions apart, arguments as text.
//! Items carry no ids of their own, so that nothing has to be replayed with them.

use std::borrow::Cow;

use laundromat_session::normal_form::is_blank;
use laundromat_session::{Message, MessageRole};
use serde::Serialize;
use serde_json::{Map, Value};

use super::shape::Shape;
use super::system;

#[derive(Serialize)]
pub(super) struct Wire<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Cow<'a, str>>,
    input: Vec<Item<'a>>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message { role: &'static str, content: [Part<'a>; 1] },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
}

pub(super) fn wire<'a>(shape: &Shape<'a>) -> Wire<'a> {
    let mut input = Vec::with_capacity(shape.messages.len());
    for message in shape.messages {
        add(&mut input, message);
    }
    Wire { model: shape.model, instructions: system::of(shape.messages, shape.policy), input, fields: shape.fields }
}

fn add<'a>(input: &mut Vec<Item<'a>>, message: &'a Message) {
    let text = message.text.as_str();
    match message.role {
        MessageRole::System => {}
        MessageRole::User => input.push(Item::Message { role: "user", content: [Part::InputText { text }] }),
        MessageRole::Assistant => {
            if !is_blank(text) || message.calls.is_empty() {
                input.push(Item::Message { role: "assistant", content: [Part::OutputText { text }] });
            }
            input.extend(message.calls.iter().map(|call| Item::FunctionCall {
                call_id: &call.id,
                name: &call.name,
                arguments: &call.arguments,
            }));
        }
        MessageRole::Tool => input
            .push(Item::FunctionCallOutput { call_id: message.call_id.as_deref().unwrap_or_default(), output: text }),
    }
}
