//! OpenAI Chat Completions.

use laundromat_session::{MessageRole, SentCall};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Declined};
use super::request::Malformed;
use super::sse::Event;
use super::talk::{Talk, arguments, field, list};
use crate::reply::Finish;

pub(super) fn read(body: &Map<String, Value>) -> Result<Talk, Malformed> {
    let mut talk = Talk::default();
    for (index, message) in list(body, "messages")?.iter().enumerate() {
        turn(&mut talk, message).map_err(|fault| fault.at("messages", index))?;
    }
    talk.take_cap(body, &["max_completion_tokens", "max_tokens"]);
    talk.leave_out_others(body, &["model", "messages", "stream", "stream_options"]);
    Ok(talk)
}

fn turn(talk: &mut Talk, message: &Value) -> Result<(), Malformed> {
    let text = talk.text(message.get("content"))?;
    match field(message, "role")? {
        "system" | "developer" => talk.say(MessageRole::System, text),
        "user" => talk.say(MessageRole::User, text),
        "assistant" => {
            let calls = calls(talk, message)?;
            talk.assistant(text, calls);
        }
        "tool" => talk.result(field(message, "tool_call_id")?, text),
        other => return Err(Malformed::new(format!("the role {other:?} is not known"))),
    }
    if message.get("reasoning_content").is_some_and(|reasoning| !reasoning.is_null()) {
        talk.leave_out("reasoning_content");
    }
    Ok(())
}

/// The calls of an assistant message, in a request or in a reply.
pub(super) fn calls(talk: &mut Talk, message: &Value) -> Result<Vec<SentCall>, Malformed> {
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    calls
        .iter()
        .map(|call| {
            let function = call.get("function").ok_or_else(|| Malformed::new("a call has no function"))?;
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            Ok(talk.call(id, field(function, "name")?, arguments(function.get("arguments"))))
        })
        .collect()
}

fn finish(answer: &Answer) -> Value {
    match answer.finish {
        Finish::Complete => json!("stop"),
        Finish::Truncated => json!("length"),
        Finish::Blocked => json!("content_filter"),
        Finish::ToolCall => json!("tool_calls"),
        _ => Value::Null,
    }
}

fn usage(answer: &Answer) -> Value {
    json!({
        "prompt_tokens": answer.input,
        "completion_tokens": answer.output,
        "total_tokens": answer.input + answer.output,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
    })
}

fn said(answer: &Answer) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if answer.text.is_empty() { Value::Null } else { json!(answer.text) };
    message.insert("content".to_owned(), content);
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().enumerate().map(|(index, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"index": index, "id": call.id, "type": "function", "function": function})
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    message
}

pub(super) fn whole(answer: &Answer) -> Value {
    json!({
        "id": format!("chatcmpl-{}", answer.number), "object": "chat.completion", "created": 0, "model": answer.model,
        "choices": [{"index": 0, "message": said(answer), "finish_reason": finish(answer)}],
        "usage": usage(answer),
    })
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let chunk = |choices: Value| {
        Event::data(json!({
            "id": format!("chatcmpl-{}", answer.number), "object": "chat.completion.chunk", "created": 0,
            "model": answer.model, "choices": choices,
        }))
    };
    vec![
        chunk(json!([{"index": 0, "delta": said(answer), "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish(answer)}])),
    ]
}

/// The event that carries the usage.
pub(super) fn usage_event(answer: &Answer) -> Event {
    Event::data(json!({
        "id": format!("chatcmpl-{}", answer.number), "object": "chat.completion.chunk", "created": 0,
        "model": answer.model, "choices": [], "usage": usage(answer),
    }))
}

pub(super) fn error(declined: &Declined) -> Value {
    json!({"error": {
        "message": declined.message, "type": declined.kind.openai_type(), "param": null, "code": declined.kind.code(),
    }})
}
