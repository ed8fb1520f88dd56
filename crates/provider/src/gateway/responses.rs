//! OpenAI Responses.

use laundromat_session::{MessageRole, SentCall};
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::request::Malformed;
use super::sse::Event;
use super::talk::{Talk, arguments, field};
use crate::reply::Finish;

pub(super) fn read(body: &Map<String, Value>) -> Result<Talk, Malformed> {
    let mut talk = Talk::default();
    if body.get("previous_response_id").is_some_and(|id| !id.is_null()) {
        return Err(Malformed::new("previous_response_id: no response is kept here; send the whole input"));
    }
    if let Some(instructions) = body.get("instructions").filter(|text| !text.is_null()) {
        let text = talk.text(Some(instructions))?;
        talk.say(MessageRole::System, text);
    }
    match body.get("input") {
        Some(Value::String(text)) => talk.say(MessageRole::User, text.clone()),
        Some(Value::Array(items)) => {
            for (index, entry) in items.iter().enumerate() {
                item(&mut talk, entry).map_err(|fault| fault.at("input", index))?;
            }
        }
        _ => return Err(Malformed::new("input is neither text nor a list")),
    }
    talk.take_cap(body, &["max_output_tokens"]);
    talk.leave_out_others(body, &["model", "instructions", "input", "stream", "store", "previous_response_id"]);
    Ok(talk)
}

fn item(talk: &mut Talk, item: &Value) -> Result<(), Malformed> {
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => {
            let text = talk.text(item.get("content"))?;
            match field(item, "role")? {
                "system" | "developer" => talk.say(MessageRole::System, text),
                "user" => talk.say(MessageRole::User, text),
                "assistant" => talk.assistant(text, Vec::new()),
                other => return Err(Malformed::new(format!("the role {other:?} is not known"))),
            }
        }
        "function_call" => {
            let call = call(talk, item)?;
            talk.call_behind(call);
        }
        "function_call_output" => {
            let text = match item.get("output") {
                Some(output @ (Value::String(_) | Value::Array(_) | Value::Null)) => talk.text(Some(output))?,
                Some(other) => other.to_string(),
                None => return Err(Malformed::new("output is missing")),
            };
            talk.result(field(item, "call_id")?, text);
        }
        // Reasoning and what only one vendor's server understands.
        other => talk.leave_out(other),
    }
    Ok(())
}

fn call(talk: &mut Talk, item: &Value) -> Result<SentCall, Malformed> {
    Ok(talk.call(field(item, "call_id")?, field(item, "name")?, arguments(item.get("arguments"))))
}

/// The calls in a reply's output.
pub(super) fn calls(talk: &mut Talk, reply: &Value) -> Result<Vec<SentCall>, Malformed> {
    let items = reply.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let calls = items.iter().filter(|item| item.get("type").and_then(Value::as_str) == Some("function_call"));
    calls.map(|item| call(talk, item)).collect()
}

/// Status and why it is incomplete. A finish that is not known is incomplete for a reason not known.
fn status(answer: &Answer) -> (&'static str, Value) {
    match answer.finish {
        Finish::Complete | Finish::ToolCall => ("completed", Value::Null),
        Finish::Truncated => ("incomplete", json!({"reason": "max_output_tokens"})),
        Finish::Blocked => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("incomplete", json!({"reason": "unknown"})),
    }
}

fn output(answer: &Answer) -> Vec<Value> {
    let (status, _) = status(answer);
    let mut items = Vec::new();
    if !answer.text.is_empty() {
        items.push(json!({
            "type": "message", "id": format!("msg_{}", answer.number), "status": status, "role": "assistant",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }));
    }
    items.extend(answer.calls.iter().map(|call| {
        json!({
            "type": "function_call", "id": format!("fc_{}_{}", answer.number, call.id), "status": "completed",
            "call_id": call.id, "name": call.name, "arguments": call.arguments,
        })
    }));
    items
}

fn response(answer: &Answer, status: &str, incomplete: &Value, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{}", answer.number), "object": "response", "created_at": 0, "status": status,
        "error": null, "incomplete_details": incomplete, "instructions": null, "metadata": {}, "model": answer.model,
        "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": answer.input, "input_tokens_details": {"cached_tokens": answer.cached},
            "output_tokens": answer.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input + answer.output,
        },
    })
}

pub(super) fn whole(answer: &Answer) -> Value {
    let (status, incomplete) = status(answer);
    response(answer, status, &incomplete, &output(answer))
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let items = output(answer);
    let mut events =
        vec![("response.created", json!({"response": response(answer, "in_progress", &Value::Null, &[])}))];
    for (index, item) in items.iter().enumerate() {
        events.push(("response.output_item.added", json!({"output_index": index, "item": item})));
        if let Some(text) = item["content"][0]["text"].as_str() {
            let place =
                |key: &str| json!({"item_id": item["id"], "output_index": index, "content_index": 0, key: text});
            events.push(("response.output_text.delta", place("delta")));
            events.push(("response.output_text.done", place("text")));
        }
        events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    let last = if status(answer).0 == "completed" { "response.completed" } else { "response.incomplete" };
    events.push((last, json!({"response": whole(answer)})));
    let numbered = events.into_iter().enumerate().map(|(number, (name, mut data))| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(number);
        Event::named(name, data)
    });
    numbered.collect()
}
