//! An answer as a Message.

use serde_json::{Value, json};

use super::{ARGUMENTS, Answer, End, TOOL, UNLISTED};
use crate::sse::{Events, pieces};

pub(super) fn body(answer: &Answer<'_>) -> Value {
    if answer.end == End::Failed {
        return error();
    }
    let mut message = message(answer, &Value::from(blocks(answer)));
    message["stop_reason"] = json!(stop(answer.end));
    if let Some(details) = details(answer.end) {
        message["stop_details"] = details;
    }
    message["usage"] = usage(answer);
    message
}

pub(super) fn events(answer: &Answer<'_>) -> Events {
    let mut events = Events::default();
    let mut begun = message(answer, &json!([]));
    begun["usage"] = usage(answer);
    begun["usage"]["output_tokens"] = json!(1);
    events.named(&json!({"type": "message_start", "message": begun}));
    events.named(&json!({"type": "ping"}));
    for (at, block) in blocks(answer).iter().enumerate() {
        let (empty, deltas) = deltas(answer, block);
        events.named(&json!({"type": "content_block_start", "index": at, "content_block": empty}));
        for delta in deltas {
            events.named(&json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        if answer.end == End::Failed {
            break;
        }
        events.named(&json!({"type": "content_block_stop", "index": at}));
    }
    if answer.end == End::Failed {
        events.named(&error());
        return events;
    }
    let mut delta = json!({"stop_reason": stop(answer.end), "stop_sequence": null});
    if let Some(details) = details(answer.end) {
        delta["stop_details"] = details;
    }
    let usage = json!({"output_tokens": answer.tokens.output});
    events.named(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.named(&json!({"type": "message_stop"}));
    events
}

fn error() -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
}

fn message(answer: &Answer<'_>, content: &Value) -> Value {
    json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": null, "stop_sequence": null,
    })
}

fn stop(end: End) -> &'static str {
    match end {
        End::Stop => "end_turn",
        End::Length => "max_tokens",
        End::Refusal(_) | End::Filtered => "refusal",
        End::Call => "tool_use",
        End::Unlisted | End::Failed => UNLISTED,
    }
}

/// What is said about a refusal.
fn details(end: End) -> Option<Value> {
    match end {
        End::Refusal(words) => Some(json!({"type": "refusal", "category": null, "explanation": words})),
        End::Filtered => Some(json!({"type": "refusal", "category": "cyber", "explanation": null})),
        _ => None,
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.tokens;
    let mut usage = json!({
        "input_tokens": tokens.input - tokens.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
    });
    if tokens.reasoning > 0 {
        usage["output_tokens_details"] = json!({"thinking_tokens": tokens.reasoning});
    }
    usage
}

fn blocks(answer: &Answer<'_>) -> Vec<Value> {
    let thinking =
        answer.reasoning.map(|text| json!({"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}));
    let text = answer.written().map(|text| json!({"type": "text", "text": text}));
    let call = (answer.end == End::Call)
        .then(|| json!({"type": "tool_use", "id": "toolu_mock1", "name": TOOL, "input": {"path": "README.md"}}));
    thinking.into_iter().chain(text).chain(call).collect()
}

/// A block as it begins, and what is then added to it.
fn deltas(answer: &Answer<'_>, block: &Value) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ]
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            let pieces = [&ARGUMENTS[..5], &ARGUMENTS[5..]];
            pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
        }
        _ => {
            empty["text"] = json!("");
            let pieces = pieces(answer.text.unwrap_or_default());
            pieces.map(|piece| json!({"type": "text_delta", "text": piece})).collect()
        }
    };
    (empty, deltas)
}
