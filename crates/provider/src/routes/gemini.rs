//! Gemini `generateContent`: contents of parts, all results of a turn in one content of their own,
//! arguments as objects, the model in the address. Results go in as text under `output`, never as
//! parsed JSON, in which Gemini would resolve references.

use std::borrow::Cow;

use laundromat_session::normal_form::{BRIDGE, is_blank};
use laundromat_session::{Message, MessageRole, SentCall};
use serde::Serialize;
use serde_json::{Map, Value};

use super::shape::Shape;
use super::system;
use super::tools::Arguments;
use crate::policy::{AfterTool, Policy, Presence};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct System<'a> {
    parts: [SystemPart<'a>; 1],
}

#[derive(Serialize)]
struct SystemPart<'a> {
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
    /// Results stand alone: nothing is merged into them or behind them.
    #[serde(skip)]
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words,
    Results,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    args: Arguments<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    name: &'a str,
    response: Output<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

#[derive(Serialize)]
struct Output<'a> {
    output: &'a str,
}

pub(super) fn wire<'a>(shape: &Shape<'a>) -> Wire<'a> {
    Wire {
        system_instruction: system::of(shape.messages, shape.policy)
            .map(|text| System { parts: [SystemPart { text }] }),
        contents: contents(shape.messages, shape.policy),
        fields: shape.fields,
    }
}

fn contents<'a>(messages: &'a [Message], policy: &'a Policy) -> Vec<Content<'a>> {
    let mut out: Vec<Content<'a>> = Vec::with_capacity(messages.len());
    // The calls that the results which follow answer.
    let mut asked: &[SentCall] = &[];
    for message in messages {
        match message.role {
            MessageRole::System => {}
            MessageRole::User => {
                if policy.after_tool == AfterTool::Bridge && out.last().is_some_and(|last| last.kind == Kind::Results) {
                    say(&mut out, "model", words(BRIDGE));
                }
                say(&mut out, "user", words(&message.text));
            }
            MessageRole::Assistant => {
                asked = &message.calls;
                if !is_blank(&message.text) || message.calls.is_empty() {
                    say(&mut out, "model", words(&message.text));
                }
                for (index, call) in message.calls.iter().enumerate() {
                    let signature = policy.signature.as_deref().filter(|_| index == 0);
                    say(&mut out, "model", request(call, policy, signature));
                }
            }
            MessageRole::Tool => answer(&mut out, response(message, asked, policy)),
        }
    }
    out
}

fn say<'a>(out: &mut Vec<Content<'a>>, role: &'static str, part: Part<'a>) {
    match out.last_mut() {
        Some(last) if last.role == role && last.kind == Kind::Words => last.parts.push(part),
        _ => out.push(Content { role, parts: vec![part], kind: Kind::Words }),
    }
}

fn answer<'a>(out: &mut Vec<Content<'a>>, part: Part<'a>) {
    match out.last_mut() {
        Some(last) if last.kind == Kind::Results => last.parts.push(part),
        _ => out.push(Content { role: "user", parts: vec![part], kind: Kind::Results }),
    }
}

fn words(text: &str) -> Part<'_> {
    Part { text: Some(text), ..Part::default() }
}

fn request<'a>(call: &'a SentCall, policy: &Policy, thought_signature: Option<&'a str>) -> Part<'a> {
    let id = (policy.call_ids == Presence::Sent).then_some(call.id.as_str());
    let function_call = Some(FunctionCall { name: &call.name, args: call.arguments.as_str().into(), id });
    Part { function_call, thought_signature, ..Part::default() }
}

fn response<'a>(message: &'a Message, asked: &'a [SentCall], policy: &Policy) -> Part<'a> {
    let call_id = message.call_id.as_deref();
    let name = asked.iter().find(|call| Some(call.id.as_str()) == call_id).map_or("", |call| &call.name);
    let id = call_id.filter(|_| policy.call_ids == Presence::Sent);
    let function_response = Some(FunctionResponse { name, response: Output { output: &message.text }, id });
    Part { function_response, ..Part::default() }
}
