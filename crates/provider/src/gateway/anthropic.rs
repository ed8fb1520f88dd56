//! Anthropic Messages.

use laundromat_session::{MessageRole, SentCall};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Declined};
use super::request::Malformed;
use super::sse::Event;
use super::talk::{Talk, arguments, field, list, object};
use crate::reply::Finish;

pub(super) fn read(body: &Map<String, Value>) -> Result<Talk, Malformed> {
    let mut talk = Talk::default();
    if let Some(system) = body.get("system").filter(|system| !system.is_null()) {
        let text = talk.text(Some(system))?;
        talk.say(MessageRole::System, text);
    }
    for (index, message) in list(body, "messages")?.iter().enumerate() {
        turn(&mut talk, message).map_err(|fault| fault.at("messages", index))?;
    }
    talk.take_cap(body, &["max_tokens"]);
    talk.leave_out_others(body, &["model", "system", "messages", "stream"]);
    Ok(talk)
}

fn turn(talk: &mut Talk, message: &Value) -> Result<(), Malformed> {
    let content = message.get("content");
    match field(message, "role")? {
        "system" => {
            let text = talk.text(content)?;
            talk.say(MessageRole::System, text);
        }
        "user" => user(talk, content)?,
        "assistant" => {
            let (mut texts, mut calls) = (Vec::new(), Vec::new());
            for block in blocks(content)? {
                match block.get("type").and_then(Value::as_str).unwrap_or_default() {
                    "tool_use" => calls.push(call(talk, &block)?),
                    "thinking" | "redacted_thinking" => talk.leave_out("thinking"),
                    _ => texts.push(talk.text(Some(&Value::Array(vec![block])))?),
                }
            }
            talk.assistant(texts.join("\n"), calls);
        }
        other => return Err(Malformed::new(format!("the role {other:?} is not known"))),
    }
    Ok(())
}

/// A user turn: results are a tool's words, in whatever turn they stand; the rest is one user message.
fn user(talk: &mut Talk, content: Option<&Value>) -> Result<(), Malformed> {
    let mut texts = Vec::new();
    let mut has_results = false;
    for block in blocks(content)? {
        if block.get("type").and_then(Value::as_str) == Some("tool_result") {
            has_results = true;
            let text = talk.text(block.get("content"))?;
            talk.result(field(&block, "tool_use_id")?, text);
        } else {
            texts.push(talk.text(Some(&Value::Array(vec![block])))?);
        }
    }
    if !texts.is_empty() || !has_results {
        talk.say(MessageRole::User, texts.join("\n"));
    }
    Ok(())
}

/// Content as blocks: text is one of them.
fn blocks(content: Option<&Value>) -> Result<Vec<Value>, Malformed> {
    match content {
        Some(Value::String(text)) => Ok(vec![json!({"type": "text", "text": text})]),
        Some(Value::Array(blocks)) => Ok(blocks.clone()),
        _ => Err(Malformed::new("content is neither text nor a list of blocks")),
    }
}

fn call(talk: &mut Talk, block: &Value) -> Result<SentCall, Malformed> {
    Ok(talk.call(field(block, "id")?, field(block, "name")?, arguments(block.get("input"))))
}

/// The calls in a reply.
pub(super) fn calls(talk: &mut Talk, reply: &Value) -> Result<Vec<SentCall>, Malformed> {
    let blocks = reply.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let calls = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
    calls.map(|block| call(talk, block)).collect()
}

fn stop_reason(answer: &Answer) -> Value {
    match answer.finish {
        Finish::Complete => json!("end_turn"),
        Finish::Truncated => json!("max_tokens"),
        Finish::Blocked => json!("refusal"),
        Finish::ToolCall => json!("tool_use"),
        _ => Value::Null,
    }
}

fn content(answer: &Answer) -> Vec<Value> {
    let text = (!answer.text.is_empty()).then(|| json!({"type": "text", "text": answer.text}));
    let calls = answer
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments)}));
    text.into_iter().chain(calls).collect()
}

fn usage(answer: &Answer, output: u64) -> Value {
    json!({
        "input_tokens": answer.input.saturating_sub(answer.cached), "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached, "output_tokens": output,
    })
}

fn message(answer: &Answer, content: &[Value], stop_reason: &Value, output: u64) -> Value {
    json!({
        "id": format!("msg_{}", answer.number), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage(answer, output),
    })
}

pub(super) fn whole(answer: &Answer) -> Value {
    message(answer, &content(answer), &stop_reason(answer), answer.output)
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut events = vec![("message_start", json!({"message": message(answer, &[], &Value::Null, 0)}))];
    for (index, block) in content(answer).into_iter().enumerate() {
        let (start, delta) = if let Some(text) = block["text"].as_str() {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        } else {
            let start = json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}});
            (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        };
        events.push(("content_block_start", json!({"index": index, "content_block": start})));
        events.push(("content_block_delta", json!({"index": index, "delta": delta})));
        events.push(("content_block_stop", json!({"index": index})));
    }
    let end = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    events.push(("message_delta", json!({"delta": end, "usage": usage(answer, answer.output)})));
    events.push(("message_stop", json!({})));
    let typed = events.into_iter().map(|(name, mut data)| {
        data["type"] = json!(name);
        Event::named(name, data)
    });
    typed.collect()
}

pub(super) fn error(declined: &Declined) -> Value {
    json!({"type": "error", "error": {"type": declined.kind.anthropic_type(), "message": declined.message}})
}
