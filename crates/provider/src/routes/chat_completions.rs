//! OpenAI Chat Completions and those who copy it: roles in a flat list, arguments as text.

use std::borrow::Cow;

use laundromat_session::normal_form::{BRIDGE, is_blank};
use laundromat_session::{Message, MessageRole, SentCall};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value};

use super::shape::Shape;
use super::tools::{self, Empty, STUB};
use crate::policy::{AfterTool, Neighbours, NoContent, Policy, Presence, Tools};

#[derive(Serialize)]
pub(super) struct Wire<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Stub<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'a str,
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[SentCall]>::is_empty", serialize_with = "calls")]
    tool_calls: &'a [SentCall],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Stub<'a> {
    r#type: &'static str,
    function: StubFunction<'a>,
}

#[derive(Serialize)]
struct StubFunction<'a> {
    name: &'a str,
    description: &'static str,
    parameters: StubParameters,
}

#[derive(Serialize)]
struct StubParameters {
    r#type: &'static str,
    properties: Empty,
}

fn calls<S: Serializer>(calls: &[SentCall], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(calls.iter().map(|call| WireCall {
        id: &call.id,
        r#type: "function",
        function: WireFunction { name: &call.name, arguments: &call.arguments },
    }))
}

pub(super) fn wire<'a>(shape: &Shape<'a>) -> Wire<'a> {
    let names = match shape.policy.tools {
        Tools::None => Vec::new(),
        Tools::Stubs => tools::used(shape.messages),
    };
    Wire {
        model: shape.model,
        messages: messages(shape.messages, shape.policy),
        fields: shape.fields,
        tool_choice: (!names.is_empty()).then_some("none"),
        tools: names.into_iter().map(stub).collect(),
    }
}

fn stub(name: &str) -> Stub<'_> {
    let parameters = StubParameters { r#type: "object", properties: Empty {} };
    Stub { r#type: "function", function: StubFunction { name, description: STUB, parameters } }
}

fn messages<'a>(messages: &'a [Message], policy: &'a Policy) -> Vec<WireMessage<'a>> {
    let mut out: Vec<WireMessage<'a>> = Vec::with_capacity(messages.len() + 1);
    if let Some(text) = &policy.default_system
        && messages.iter().all(|message| message.role != MessageRole::System)
    {
        out.push(plain(policy.system_role.as_deref().unwrap_or("system"), Cow::Borrowed(text)));
    }
    // The calls that the results which follow answer.
    let mut asked: &[SentCall] = &[];
    for message in messages {
        match message.role {
            MessageRole::System => {
                let role = policy.system_role.as_deref().unwrap_or(message.role.as_str());
                out.push(plain(role, Cow::Borrowed(&message.text)));
            }
            MessageRole::User => user(&mut out, &message.text, policy),
            MessageRole::Assistant => {
                asked = &message.calls;
                assistant(&mut out, message, policy);
            }
            MessageRole::Tool => {
                let name = asked.iter().find(|call| Some(call.id.as_str()) == message.call_id.as_deref());
                out.push(WireMessage {
                    tool_call_id: message.call_id.as_deref(),
                    name: name.filter(|_| policy.result_name == Presence::Sent).map(|call| call.name.as_str()),
                    ..plain(message.role.as_str(), Cow::Borrowed(&message.text))
                });
            }
        }
    }
    out
}

fn plain<'a>(role: &'a str, text: Cow<'a, str>) -> WireMessage<'a> {
    WireMessage { role, content: Some(text), tool_calls: &[], tool_call_id: None, name: None, reasoning_content: None }
}

fn user<'a>(out: &mut Vec<WireMessage<'a>>, text: &'a str, policy: &Policy) {
    if policy.after_tool == AfterTool::Bridge && out.last().is_some_and(|last| last.role == "tool") {
        out.push(plain("assistant", Cow::Borrowed(BRIDGE)));
    }
    match out.last_mut() {
        Some(last) if policy.neighbours == Neighbours::Merged && last.role == "user" => {
            last.content = Some(joined(last.content.take(), text));
        }
        _ => out.push(plain("user", Cow::Borrowed(text))),
    }
}

fn assistant<'a>(out: &mut Vec<WireMessage<'a>>, message: &'a Message, policy: &'a Policy) {
    let mut content = (!is_blank(&message.text)).then_some(Cow::Borrowed(message.text.as_str()));
    // A turn with calls has its results behind it and is nobody's neighbour.
    let is_neighbour = |last: &WireMessage<'_>| last.role == "assistant" && last.tool_calls.is_empty();
    if policy.neighbours == Neighbours::Merged && out.last().is_some_and(is_neighbour) {
        let before = out.pop().and_then(|last| last.content);
        content = match content {
            Some(text) => Some(joined(before, &text)),
            None => before,
        };
    }
    if content.is_none() && policy.no_content == NoContent::EmptyText {
        content = Some(Cow::Borrowed(""));
    }
    out.push(WireMessage {
        role: "assistant",
        content,
        tool_calls: &message.calls,
        tool_call_id: None,
        name: None,
        reasoning_content: policy.reasoning.as_deref().filter(|_| !message.calls.is_empty()),
    });
}

fn joined<'a>(before: Option<Cow<'a, str>>, text: &str) -> Cow<'a, str> {
    let mut joined = before.unwrap_or_default().into_owned();
    joined.push_str("\n\n");
    joined.push_str(text);
    Cow::Owned(joined)
}
