//! An answer as a GenerateContentResponse.

use serde_json::{Value, json};

use super::{Answer, End, TOOL};
use crate::sse::{Events, pieces};

pub(super) fn body(answer: &Answer<'_>) -> Value {
    match answer.end {
        End::Failed => error(),
        End::Refusal(_) => refused(answer),
        _ => {
            let parts: Vec<Value> = thought(answer).into_iter().chain(answer.written().map(text)).collect();
            chunk(answer, parts.into_iter().chain(call(answer)).collect(), Some(finish(answer.end)))
        }
    }
}

pub(super) fn events(answer: &Answer<'_>) -> Events {
    let mut events = Events::default();
    if let End::Refusal(_) = answer.end {
        events.data(&refused(answer));
        return events;
    }
    if let Some(thought) = thought(answer) {
        events.data(&chunk(answer, vec![thought], None));
    }
    let mut written = pieces(answer.text.unwrap_or_default()).peekable();
    while let Some(piece) = written.next() {
        let last = written.peek().is_none() && answer.end != End::Failed;
        events.data(&chunk(answer, vec![text(piece)], last.then(|| finish(answer.end))));
    }
    if answer.end == End::Failed {
        events.data(&error());
    } else if answer.written().is_none() {
        events.data(&chunk(answer, call(answer).into_iter().collect(), Some(finish(answer.end))));
    }
    events
}

fn error() -> Value {
    json!({"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}})
}

/// The prompt itself is refused: there is no candidate.
fn refused(answer: &Answer<'_>) -> Value {
    let input = answer.tokens.input;
    json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []},
        "usageMetadata": {"promptTokenCount": input, "totalTokenCount": input},
        "modelVersion": answer.model,
        "responseId": answer.id,
    })
}

fn chunk(answer: &Answer<'_>, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut content = json!({"role": "model"});
    if !parts.is_empty() {
        content["parts"] = Value::from(parts);
    }
    let mut candidate = json!({"index": 0, "content": content});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let tokens = answer.tokens;
    let mut usage = json!({
        "promptTokenCount": tokens.input,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "totalTokenCount": tokens.total(),
    });
    if tokens.reasoning > 0 {
        usage["thoughtsTokenCount"] = json!(tokens.reasoning);
    }
    if tokens.cached > 0 {
        usage["cachedContentTokenCount"] = json!(tokens.cached);
    }
    json!({
        "candidates": [candidate], "usageMetadata": usage, "modelVersion": answer.model, "responseId": answer.id,
    })
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn thought(answer: &Answer<'_>) -> Option<Value> {
    answer.reasoning.map(|text| json!({"text": text, "thought": true}))
}

fn call(answer: &Answer<'_>) -> Option<Value> {
    let call = json!({"name": TOOL, "args": {"path": "README.md"}});
    (answer.end == End::Call).then(|| json!({"functionCall": call, "thoughtSignature": "c2lnbmF0dXJl"}))
}

fn finish(end: End) -> &'static str {
    match end {
        // A call is a normal stop there; the part says what it is.
        End::Stop | End::Call => "STOP",
        End::Length => "MAX_TOKENS",
        End::Refusal(_) | End::Filtered => "SAFETY",
        End::Unlisted | End::Failed => "FINISH_REASON_UNSPECIFIED",
    }
}
