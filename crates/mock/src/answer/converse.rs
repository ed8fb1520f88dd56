//! An answer as a Converse reply.

use serde_json::{Value, json};

use super::{Answer, End, TOOL, UNLISTED};

pub(super) fn body(answer: &Answer<'_>) -> Value {
    if answer.end == End::Failed {
        return json!({"message": "The model produced an error", "originalStatusCode": 500});
    }
    let reasoning = answer
        .reasoning
        .map(|text| json!({"reasoningContent": {"reasoningText": {"text": text, "signature": "c2lnbmF0dXJl"}}}));
    let text = match answer.end {
        End::Refusal(words) => Some(words),
        _ => answer.written(),
    };
    let text = text.map(|text| json!({"text": text}));
    let call = json!({"toolUseId": "tooluse_mock1", "name": TOOL, "input": {"path": "README.md"}});
    let call = (answer.end == End::Call).then(|| json!({"toolUse": call}));
    let content: Vec<Value> = reasoning.into_iter().chain(text).chain(call).collect();
    let tokens = answer.tokens;
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop(answer.end),
        "usage": {
            "inputTokens": tokens.input - tokens.cached,
            "outputTokens": tokens.output,
            "totalTokens": tokens.total(),
            "cacheReadInputTokens": tokens.cached,
            "cacheWriteInputTokens": 0,
        },
        "metrics": {"latencyMs": 1},
    })
}

fn stop(end: End) -> &'static str {
    match end {
        End::Stop => "end_turn",
        End::Length => "max_tokens",
        End::Refusal(_) => "guardrail_intervened",
        End::Filtered => "content_filtered",
        End::Call => "tool_use",
        End::Unlisted | End::Failed => UNLISTED,
    }
}
