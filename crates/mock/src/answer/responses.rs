//! An answer as a Response; on the Codex route the last event holds no output, as there.

use serde_json::{Value, json};

use super::{ARGUMENTS, Answer, CREATED, End, TOOL, UNLISTED};
use crate::route::Route;
use crate::sse::{Events, pieces};

pub(super) fn body(answer: &Answer<'_>) -> Value {
    response(answer, &Value::from(items(answer)))
}

pub(super) fn events(answer: &Answer<'_>) -> Events {
    let mut events = Events::default();
    let mut number = 0;
    let mut send = |mut event: Value| {
        event["sequence_number"] = json!(number);
        number += 1;
        events.named(&event);
    };
    let mut begun = response(answer, &json!([]));
    begun["status"] = json!("in_progress");
    begun["error"] = Value::Null;
    begun["incomplete_details"] = Value::Null;
    begun["usage"] = Value::Null;
    send(json!({"type": "response.created", "response": begun}));
    let items = items(answer);
    for (at, item) in items.iter().enumerate() {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        if added.get("content").is_some() {
            added["content"] = json!([]);
        }
        send(json!({"type": "response.output_item.added", "output_index": at, "item": added}));
        if item["type"] == "message" {
            for piece in pieces(answer.text.unwrap_or_default()) {
                send(json!({
                    "type": "response.output_text.delta", "output_index": at, "content_index": 0,
                    "item_id": item["id"], "delta": piece,
                }));
            }
        }
        // A failure comes while the text is being written.
        if answer.end != End::Failed {
            send(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
        }
    }
    let kind = match status(answer.end) {
        "completed" => "response.completed",
        "failed" => "response.failed",
        _ => "response.incomplete",
    };
    let output = match answer.dialect.route {
        Route::Codex => json!([]),
        _ => Value::from(items),
    };
    send(json!({"type": kind, "response": response(answer, &output)}));
    events
}

fn status(end: End) -> &'static str {
    match end {
        End::Stop | End::Refusal(_) | End::Call => "completed",
        End::Length | End::Filtered | End::Unlisted => "incomplete",
        End::Failed => "failed",
    }
}

fn response(answer: &Answer<'_>, output: &Value) -> Value {
    let tokens = answer.tokens;
    let reason = match answer.end {
        End::Length => Some("max_output_tokens"),
        End::Filtered => Some("content_filter"),
        End::Unlisted => Some(UNLISTED),
        _ => None,
    };
    let error = (answer.end == End::Failed)
        .then(|| json!({"code": "server_error", "message": "The model failed to generate a response."}));
    json!({
        "id": format!("resp_{}", answer.id),
        "object": "response",
        "created_at": CREATED,
        "status": status(answer.end),
        "error": error,
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "instructions": null,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": true,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": {
            "input_tokens": tokens.input,
            "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
            "total_tokens": tokens.total(),
        },
    })
}

fn items(answer: &Answer<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(reasoning) = answer.reasoning {
        let summary = json!([{"type": "summary_text", "text": reasoning}]);
        items.push(json!({"type": "reasoning", "id": format!("rs_{}", answer.id), "summary": summary}));
        return items;
    }
    if answer.end == End::Call {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{}", answer.id), "call_id": "call_mock1", "name": TOOL,
            "arguments": ARGUMENTS, "status": "completed",
        }));
        return items;
    }
    let content = match (answer.end, answer.text) {
        (End::Refusal(words), _) => json!([{"type": "refusal", "refusal": words}]),
        (_, Some(text)) => json!([{"type": "output_text", "text": text, "annotations": []}]),
        _ => json!([]),
    };
    let status = if status(answer.end) == "completed" { "completed" } else { "incomplete" };
    items.push(json!({
        "type": "message", "id": format!("msg_{}", answer.id), "role": "assistant", "status": status, "content": content,
    }));
    items
}
