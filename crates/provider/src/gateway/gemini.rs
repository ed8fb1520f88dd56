//! Gemini `generateContent`.

use std::collections::{HashMap, VecDeque};

use laundromat_session::{MessageRole, SentCall};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Declined};
use super::request::Malformed;
use super::talk::{Talk, arguments, field, list, object};
use crate::reply::Finish;

/// Ids of calls that wait for their results, by name: most clients send none.
type Open = HashMap<String, VecDeque<String>>;

pub(super) fn read(body: &Map<String, Value>) -> Result<Talk, Malformed> {
    let mut talk = Talk::default();
    let mut open = Open::new();
    let system = body.get("systemInstruction").or_else(|| body.get("system_instruction"));
    if let Some(system) = system.filter(|system| !system.is_null()) {
        let parts = parts(system)?;
        let texts: Vec<String> = parts.iter().map(|part| text(&mut talk, part)).collect();
        talk.say(MessageRole::System, texts.join("\n"));
    }
    for (index, content) in list(body, "contents")?.iter().enumerate() {
        turn(&mut talk, &mut open, content).map_err(|fault| fault.at("contents", index))?;
    }
    for config in ["generationConfig", "generation_config"] {
        if let Some(settings) = body.get(config).and_then(Value::as_object) {
            configured(&mut talk, settings);
        }
    }
    let known = ["systemInstruction", "system_instruction", "contents", "generationConfig", "generation_config"];
    talk.leave_out_others(body, &known);
    Ok(talk)
}

/// The settings of a call: the bound on the reply is taken, the others are left out under their whole names.
fn configured(talk: &mut Talk, settings: &Map<String, Value>) {
    talk.take_cap(settings, &["maxOutputTokens", "max_output_tokens"]);
    let cap = talk.cap.map(|cap| cap.field);
    for name in settings.keys().filter(|name| cap != Some(name.as_str())) {
        talk.leave_out(&format!("generationConfig.{name}"));
    }
}

fn parts(content: &Value) -> Result<&[Value], Malformed> {
    content
        .get("parts")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| Malformed::new("parts is not a list"))
}

/// One of a part's fields, in either spelling.
fn either<'v>(part: &'v Value, camel: &str, snake: &str) -> Option<&'v Value> {
    part.get(camel).or_else(|| part.get(snake))
}

fn text(talk: &mut Talk, part: &Value) -> String {
    match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => {
            let kind = part.as_object().and_then(|part| part.keys().next()).map_or("part", String::as_str);
            talk.placeholder(kind)
        }
    }
}

fn turn(talk: &mut Talk, open: &mut Open, content: &Value) -> Result<(), Malformed> {
    let role = content.get("role").and_then(Value::as_str).unwrap_or("user");
    let (mut texts, mut calls, mut has_results) = (Vec::new(), Vec::new(), false);
    for part in parts(content)? {
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            talk.leave_out("thought");
        } else if let Some(call) = either(part, "functionCall", "function_call") {
            calls.push(called(talk, open, call)?);
        } else if let Some(result) = either(part, "functionResponse", "function_response") {
            has_results = true;
            answered(talk, open, result)?;
        } else {
            texts.push(text(talk, part));
        }
    }
    let text = texts.join("\n");
    match role {
        "model" => talk.assistant(text, calls),
        "user" | "function" | "tool" => {
            if !calls.is_empty() {
                return Err(Malformed::new(format!("a call stands in a turn of the role {role}")));
            }
            if !text.is_empty() || !has_results {
                talk.say(MessageRole::User, text);
            }
        }
        other => return Err(Malformed::new(format!("the role {other:?} is not known"))),
    }
    Ok(())
}

fn called(talk: &mut Talk, open: &mut Open, call: &Value) -> Result<SentCall, Malformed> {
    let name = field(call, "name")?;
    let arguments = arguments(call.get("args"));
    if let Some(id) = call.get("id").and_then(Value::as_str) {
        return Ok(talk.call(id, name, arguments));
    }
    let id = talk.fresh_id();
    open.entry(name.to_owned()).or_default().push_back(id.clone());
    Ok(SentCall { id, name: name.to_owned(), arguments })
}

fn answered(talk: &mut Talk, open: &mut Open, result: &Value) -> Result<(), Malformed> {
    let name = field(result, "name")?;
    let text = output(result.get("response"));
    if let Some(id) = result.get("id").and_then(Value::as_str) {
        talk.result(id, text);
        return Ok(());
    }
    let id = open.get_mut(name).and_then(VecDeque::pop_front);
    let id = id.unwrap_or_else(|| talk.fresh_id());
    talk.messages.push(laundromat_session::Message::result(id, text));
    Ok(())
}

/// A result's text: what stands alone under `output` or `result`, or the whole as JSON.
fn output(response: Option<&Value>) -> String {
    let Some(response) = response else { return String::new() };
    let alone = response.as_object().filter(|object| object.len() == 1);
    let text = alone.and_then(|object| object.get("output").or_else(|| object.get("result"))).and_then(Value::as_str);
    text.map_or_else(|| response.to_string(), str::to_owned)
}

/// The calls in a reply.
pub(super) fn calls(talk: &mut Talk, reply: &Value) -> Result<Vec<SentCall>, Malformed> {
    let parts = reply["candidates"][0]["content"]["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let calls = parts.iter().filter_map(|part| part.get("functionCall"));
    calls.map(|call| called(talk, &mut Open::new(), call)).collect()
}

pub(super) fn whole(answer: &Answer) -> Value {
    let text = (!answer.text.is_empty()).then(|| json!({"text": answer.text}));
    let calls = answer
        .calls
        .iter()
        .map(|call| json!({"functionCall": {"id": call.id, "name": call.name, "args": object(&call.arguments)}}));
    let mut parts: Vec<Value> = text.into_iter().chain(calls).collect();
    if parts.is_empty() && answer.finish == Finish::Complete {
        parts.push(json!({"text": ""}));
    }
    let finish = match answer.finish {
        Finish::Complete | Finish::ToolCall => "STOP",
        Finish::Truncated => "MAX_TOKENS",
        Finish::Blocked => "SAFETY",
        _ => "FINISH_REASON_UNSPECIFIED",
    };
    let mut candidate = json!({"finishReason": finish, "index": 0});
    // What was blocked before anything was said has no content at all there, and clients look for that.
    if !parts.is_empty() {
        candidate["content"] = json!({"role": "model", "parts": parts});
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": answer.input, "cachedContentTokenCount": answer.cached,
            "candidatesTokenCount": answer.output, "totalTokenCount": answer.input + answer.output,
        },
        "modelVersion": answer.model, "responseId": format!("resp-{}", answer.number),
    })
}

pub(super) fn error(declined: &Declined) -> Value {
    let status = declined.kind.google_status();
    json!({"error": {"code": declined.kind.status(), "message": declined.message, "status": status}})
}
