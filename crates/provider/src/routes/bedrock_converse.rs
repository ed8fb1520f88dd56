//! Bedrock Converse: Anthropic's turns in another spelling; the model is in the address, and every tool
//! in the history has to be declared.

use serde::Serialize;
use serde_json::{Map, Value};

use super::shape::Shape;
use super::system;
use super::tools::{self, AnyObject, Arguments, STUB};
use super::turns::{self, Block};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Text<'a>; 1]>,
    messages: Vec<WireTurn<'a>>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
struct WireTurn<'a> {
    role: &'static str,
    content: Vec<WireBlock<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum WireBlock<'a> {
    Text(&'a str),
    #[serde(rename_all = "camelCase")]
    ToolUse {
        tool_use_id: &'a str,
        name: &'a str,
        input: Arguments<'a>,
    },
    #[serde(rename_all = "camelCase")]
    ToolResult {
        tool_use_id: &'a str,
        content: [ResultText<'a>; 1],
    },
}

#[derive(Serialize)]
struct ResultText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct ToolConfig<'a> {
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    tool_spec: ToolSpec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSpec<'a> {
    name: &'a str,
    description: &'static str,
    input_schema: Schema,
}

#[derive(Serialize)]
struct Schema {
    json: AnyObject,
}

pub(super) fn wire<'a>(shape: &Shape<'a>) -> Wire<'a> {
    let spec = |name| Tool {
        tool_spec: ToolSpec { name, description: STUB, input_schema: Schema { json: AnyObject::SCHEMA } },
    };
    let tools: Vec<Tool<'a>> = tools::used(shape.messages).into_iter().map(spec).collect();
    let turn = |turn: turns::Turn<'a>| WireTurn {
        role: turn.side.role(),
        content: turn.blocks.into_iter().map(WireBlock::from).collect(),
    };
    Wire {
        system: system::of(shape.messages, shape.policy).map(|text| [Text { text }]),
        messages: turns::of(shape.messages).into_iter().map(turn).collect(),
        fields: shape.fields,
        tool_config: (!tools.is_empty()).then_some(ToolConfig { tools }),
    }
}

impl<'a> From<Block<'a>> for WireBlock<'a> {
    fn from(block: Block<'a>) -> Self {
        match block {
            Block::Text(text) => Self::Text(text),
            Block::Call(call) => {
                Self::ToolUse { tool_use_id: &call.id, name: &call.name, input: call.arguments.as_str().into() }
            }
            Block::Result { id, text } => Self::ToolResult { tool_use_id: id, content: [ResultText { text }] },
        }
    }
}
