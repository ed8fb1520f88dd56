//! An answer as a chat completion.

use serde_json::{Value, json};

use super::{ARGUMENTS, Answer, CREATED, End, TOOL};
use crate::profile::Profile;
use crate::request::Usage;
use crate::sse::{Events, pieces};

const CALL: &str = "call_mock1";

pub(super) fn body(answer: &Answer<'_>) -> Value {
    if answer.end == End::Failed {
        return json!({"error": error()});
    }
    let mut message = json!({"role": "assistant", "content": answer.text, "refusal": null});
    if let End::Refusal(words) = answer.end {
        message["refusal"] = json!(words);
    }
    if let Some(reasoning) = answer.reasoning {
        message[reasoning_field(answer)] = json!(reasoning);
    }
    if answer.end == End::Call {
        let function = json!({"name": TOOL, "arguments": ARGUMENTS});
        message["tool_calls"] = json!([{"id": CALL, "type": "function", "function": function}]);
    }
    let mut body = json!({
        "id": id(answer),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(answer.end), "logprobs": null}],
        "usage": usage(answer),
        "system_fingerprint": "fp_mock",
    });
    if answer.dialect.profile == Profile::OpenRouter {
        body["provider"] = json!("Mock");
    }
    body
}

pub(super) fn events(answer: &Answer<'_>, given: Usage) -> Events {
    let mut events = Events::default();
    let id = id(answer);
    let chunk = |choices: Value| {
        json!({
            "id": id, "object": "chat.completion.chunk", "created": CREATED, "model": answer.model,
            "system_fingerprint": "fp_mock", "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    events.data(&delta(json!({"role": "assistant", "content": answer.text.map(|_| "")})));
    if let Some(reasoning) = answer.reasoning {
        events.data(&delta(json!({reasoning_field(answer): reasoning})));
    }
    for piece in pieces(answer.text.unwrap_or_default()) {
        events.data(&delta(json!({"content": piece})));
    }
    match answer.end {
        End::Refusal(words) => events.data(&delta(json!({"refusal": words}))),
        End::Call => {
            let function = json!({"name": TOOL, "arguments": ""});
            let call = json!({"index": 0, "id": CALL, "type": "function", "function": function});
            events.data(&delta(json!({"tool_calls": [call]})));
            for piece in [&ARGUMENTS[..5], &ARGUMENTS[5..]] {
                events.data(&delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})));
            }
        }
        End::Failed => {
            let mut last = chunk(json!([{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]));
            last["error"] = error();
            events.data(&last);
            return events;
        }
        End::Stop | End::Length | End::Filtered | End::Unlisted => {}
    }
    events.data(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish(answer.end)}])));
    if given == Usage::Given {
        let mut last = chunk(json!([]));
        last["usage"] = usage(answer);
        events.data(&last);
    }
    events.done();
    events
}

fn id(answer: &Answer<'_>) -> String {
    format!("chatcmpl-{}", answer.id)
}

/// As gateways report what broke behind them.
fn error() -> Value {
    json!({"code": 502, "message": "Provider returned error", "metadata": {"provider_name": "Mock"}})
}

fn finish(end: End) -> Option<&'static str> {
    match end {
        // Real servers say that a refusal is a normal stop.
        End::Stop | End::Refusal(_) => Some("stop"),
        End::Length => Some("length"),
        End::Filtered => Some("content_filter"),
        End::Call => Some("tool_calls"),
        End::Failed => Some("error"),
        End::Unlisted => None,
    }
}

fn reasoning_field(answer: &Answer<'_>) -> &'static str {
    match answer.dialect.profile {
        Profile::Vllm | Profile::OpenRouter => "reasoning",
        _ => "reasoning_content",
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.tokens;
    let mut usage = json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.total(),
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    });
    match answer.dialect.profile {
        Profile::DeepSeekThinkingOn | Profile::DeepSeekThinkingOff => {
            usage["prompt_cache_hit_tokens"] = json!(tokens.cached);
            usage["prompt_cache_miss_tokens"] = json!(tokens.input - tokens.cached);
        }
        Profile::Kimi => usage["cached_tokens"] = json!(tokens.cached),
        _ => usage["prompt_tokens_details"] = json!({"cached_tokens": tokens.cached}),
    }
    usage
}
