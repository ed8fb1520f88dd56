//! What a reply says, read from its raw fields by the wire notes' table of reasons.

use laundromat_mock::Route;
use serde_json::{Map, Value, json};

const TABLE: &str = include_str!("../../../../tests/wire/finish_map.json");

/// What a reply comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) class: String,
    pub(crate) text: String,
    /// Input tokens with what was cached, cached tokens, output tokens with reasoning, reasoning tokens.
    pub(crate) tokens: [u64; 4],
}

fn table(name: &str, reason: &Value) -> String {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    reason.as_str().and_then(|reason| table[name][reason].as_str()).unwrap_or("Unknown").to_owned()
}

fn joined<'a>(texts: impl Iterator<Item = &'a Value>) -> String {
    texts.filter_map(Value::as_str).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Reads the body of a 200.
pub(crate) fn read(route: Route, body: &Value) -> Reading {
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Reading { class: "Error".to_owned(), text: String::new(), tokens: [0; 4] };
    }
    match route {
        Route::Chat | Route::Azure => chat(body),
        Route::Responses | Route::Codex => responses(body),
        Route::Anthropic => anthropic(body),
        Route::Gemini => gemini(body),
        Route::Converse => converse(body),
    }
}

fn chat(body: &Value) -> Reading {
    let (choice, usage) = (&body["choices"][0], &body["usage"]);
    let class = match choice["message"]["refusal"].is_string() {
        true => "Blocked".to_owned(),
        false => table("chat_completions.finish_reason", &choice["finish_reason"]),
    };
    let tokens = [
        number(&usage["prompt_tokens"]),
        number(&usage["prompt_tokens_details"]["cached_tokens"]),
        number(&usage["completion_tokens"]),
        number(&usage["completion_tokens_details"]["reasoning_tokens"]),
    ];
    Reading { class, text: joined([&choice["message"]["content"]].into_iter()), tokens }
}

fn responses(body: &Value) -> Reading {
    let (items, usage) = (list(&body["output"]), &body["usage"]);
    let parts = || items.iter().flat_map(|item| list(&item["content"]));
    let class = match body["status"].as_str() {
        Some("incomplete") => table("responses.incomplete_details.reason", &body["incomplete_details"]["reason"]),
        _ if parts().any(|part| part["type"] == "refusal") => "Blocked".to_owned(),
        _ if items.iter().any(|item| item["type"] == "function_call") => "ToolCall".to_owned(),
        _ => table("responses.status", &body["status"]),
    };
    let tokens = [
        number(&usage["input_tokens"]),
        number(&usage["input_tokens_details"]["cached_tokens"]),
        number(&usage["output_tokens"]),
        number(&usage["output_tokens_details"]["reasoning_tokens"]),
    ];
    Reading { class, text: joined(parts().map(|part| &part["text"])), tokens }
}

fn anthropic(body: &Value) -> Reading {
    let usage = &body["usage"];
    let cached = number(&usage["cache_read_input_tokens"]);
    let tokens = [
        number(&usage["input_tokens"]) + cached + number(&usage["cache_creation_input_tokens"]),
        cached,
        number(&usage["output_tokens"]),
        number(&usage["output_tokens_details"]["thinking_tokens"]),
    ];
    let class = table("anthropic.stop_reason", &body["stop_reason"]);
    Reading { class, text: joined(list(&body["content"]).iter().map(|block| &block["text"])), tokens }
}

fn gemini(body: &Value) -> Reading {
    let (candidate, usage) = (&body["candidates"][0], &body["usageMetadata"]);
    let parts = list(&candidate["content"]["parts"]);
    let class = match &body["promptFeedback"]["blockReason"] {
        Value::Null if parts.iter().any(|part| part.get("functionCall").is_some()) => "ToolCall".to_owned(),
        Value::Null => table("gemini.finishReason", &candidate["finishReason"]),
        reason => table("gemini.promptFeedback.blockReason", reason),
    };
    let thoughts = number(&usage["thoughtsTokenCount"]);
    let tokens = [
        number(&usage["promptTokenCount"]),
        number(&usage["cachedContentTokenCount"]),
        number(&usage["candidatesTokenCount"]) + thoughts,
        thoughts,
    ];
    let said = parts.iter().filter(|part| part["thought"] != true);
    Reading { class, text: joined(said.map(|part| &part["text"])), tokens }
}

fn converse(body: &Value) -> Reading {
    let usage = &body["usage"];
    let cached = number(&usage["cacheReadInputTokens"]);
    let blocks = list(&body["output"]["message"]["content"]);
    let tokens = [number(&usage["inputTokens"]) + cached, cached, number(&usage["outputTokens"]), 0];
    let class = table("bedrock_converse.stopReason", &body["stopReason"]);
    Reading { class, text: joined(blocks.iter().map(|block| &block["text"])), tokens }
}

/// The events of a stream: the data of each. An event's name is its type.
pub(crate) fn events(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.is_empty() || text.ends_with("\n\n"), "an event without its end");
    let mut events = Vec::new();
    for event in text.split("\n\n").filter(|event| !event.is_empty()) {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        if let Some(name) = event.lines().find_map(|line| line.strip_prefix("event: ")) {
            assert!(data.contains(&format!("\"type\":\"{name}\"")) || serde_json::from_str::<Value>(data).is_err());
        }
        events.push(data.to_owned());
    }
    events
}

/// The body that the events of a stream add up to; nothing where the end marker is missing.
pub(crate) fn whole(route: Route, bytes: &[u8]) -> Option<Value> {
    let events = events(bytes);
    if matches!(route, Route::Chat | Route::Azure) {
        let done = events.last().is_some_and(|last| last == "[DONE]");
        let chunks: Vec<Value> =
            events.iter().filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect();
        return whole_chat(&chunks, done);
    }
    let events: Vec<Value> = events.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    match route {
        Route::Responses | Route::Codex => whole_response(&events),
        Route::Anthropic => whole_message(&events),
        Route::Gemini => whole_gemini(&events),
        Route::Chat | Route::Azure | Route::Converse => None,
    }
}

fn whole_chat(chunks: &[Value], done: bool) -> Option<Value> {
    let mut message = Map::new();
    let (mut finish, mut usage) = (Value::Null, Value::Null);
    for chunk in chunks {
        if chunk.get("error").is_some() {
            return Some(json!({"error": chunk["error"]}));
        }
        for (name, piece) in chunk["choices"][0]["delta"].as_object().into_iter().flatten() {
            let kept = message.entry(name).or_insert(Value::Null);
            match (kept.as_str(), piece.as_str()) {
                (Some(text), Some(piece)) => *kept = json!(format!("{text}{piece}")),
                (None, Some(piece)) => *kept = json!(piece),
                _ if !piece.is_null() => *kept = piece.clone(),
                _ => {}
            }
        }
        for (kept, new) in [(&mut finish, &chunk["choices"][0]["finish_reason"]), (&mut usage, &chunk["usage"])] {
            if !new.is_null() {
                *kept = new.clone();
            }
        }
    }
    done.then(|| json!({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}))
}

fn whole_response(events: &[Value]) -> Option<Value> {
    let mut response = events.last().filter(|last| last.get("response").is_some())?["response"].clone();
    if response["status"] == "in_progress" {
        return None;
    }
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    let deltas =
        joined(events.iter().filter(|event| event["type"] == "response.output_text.delta").map(|e| &e["delta"]));
    if !done.is_empty() {
        let parts = || done.iter().flat_map(|item| list(&item["content"]));
        assert_eq!(deltas, joined(parts().map(|part| &part["text"])));
        response["output"] = json!(done);
    }
    Some(response)
}

fn whole_message(events: &[Value]) -> Option<Value> {
    let mut message = Value::Null;
    for event in events {
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => message["content"].as_array_mut().unwrap().push(event["content_block"].clone()),
            "content_block_delta" => {
                let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                for field in ["text", "thinking"] {
                    if let Some(piece) = event["delta"][field].as_str() {
                        block[field] = json!(block[field].as_str().unwrap().to_owned() + piece);
                    }
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"]["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            "message_stop" => return Some(message),
            "error" => return Some(event.clone()),
            _ => {}
        }
    }
    None
}

fn whole_gemini(events: &[Value]) -> Option<Value> {
    let mut parts = Vec::new();
    for event in events {
        if event.get("error").is_some() || event.get("promptFeedback").is_some() {
            return Some(event.clone());
        }
        parts.extend_from_slice(list(&event["candidates"][0]["content"]["parts"]));
    }
    let mut last = events.last()?.clone();
    last["candidates"][0].get("finishReason")?;
    last["candidates"][0]["content"]["parts"] = Value::from(parts);
    Some(last)
}
