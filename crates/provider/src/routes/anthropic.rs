//! Anthropic Messages: alternating turns of typed blocks, instructions apart, arguments as objects.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::shape::Shape;
use super::system;
use super::tools::{self, AnyObject, Arguments, STUB};
use super::turns::{self, Block};
use crate::policy::Tools;

#[derive(Serialize)]
pub(super) struct Wire<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<WireTurn<'a>>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Stub<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
}

#[derive(Serialize)]
struct WireTurn<'a> {
    role: &'static str,
    content: Vec<WireBlock<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock<'a> {
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Arguments<'a> },
    ToolResult { tool_use_id: &'a str, content: &'a str },
}

#[derive(Serialize)]
struct Stub<'a> {
    name: &'a str,
    description: &'static str,
    input_schema: AnyObject,
}

#[derive(Serialize)]
struct Choice {
    r#type: &'static str,
}

pub(super) fn wire<'a>(shape: &Shape<'a>) -> Wire<'a> {
    let names = match shape.policy.tools {
        Tools::None => Vec::new(),
        Tools::Stubs => tools::used(shape.messages),
    };
    let turn = |turn: turns::Turn<'a>| WireTurn {
        role: turn.side.role(),
        content: turn.blocks.into_iter().map(WireBlock::from).collect(),
    };
    Wire {
        model: shape.model,
        system: system::of(shape.messages, shape.policy),
        messages: turns::of(shape.messages).into_iter().map(turn).collect(),
        fields: shape.fields,
        tool_choice: (!names.is_empty()).then_some(Choice { r#type: "none" }),
        tools: names
            .into_iter()
            .map(|name| Stub { name, description: STUB, input_schema: AnyObject::SCHEMA })
            .collect(),
    }
}

impl<'a> From<Block<'a>> for WireBlock<'a> {
    fn from(block: Block<'a>) -> Self {
        match block {
            Block::Text(text) => Self::Text { text },
            Block::Call(call) => {
                Self::ToolUse { id: &call.id, name: &call.name, input: call.arguments.as_str().into() }
            }
            Block::Result { id, text } => Self::ToolResult { tool_use_id: id, content: text },
        }
    }
}
