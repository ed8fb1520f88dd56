//! Chat Completions, of OpenAI and of all who copy it.

use std::time::SystemTime;

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::classify::ErrorReply;
use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape, object, plain};
use crate::parsed::{Parsed, Problem};
use crate::reply::{Finish, Served, Usage};
use crate::route::Route;

pub(crate) fn parse(body: &Object) -> Result<Parsed, Shape> {
    let usage = usage(body)?;
    let served = Served {
        model: body.label("model").unwrap_or_default().to_owned(),
        provider: body.label("provider").map(str::to_owned),
        fingerprint: body.label("system_fingerprint").map(str::to_owned),
        request_id: None,
    };
    let Some(choice) = body.list("choices")?.first() else {
        return Ok(Parsed { usage, served, ..Parsed::failed(Problem::protocol(&"the reply has no choices")) });
    };
    let choice = object("choices", choice)?;
    let nothing = Object::new();
    let message = choice.object("message")?.unwrap_or(&nothing);
    let reason = choice.reason("finish_reason")?;
    let text = text(message)?;
    let has_reasoning = has_reasoning(message, usage);
    if choice.get("error").is_some_and(Value::is_object) {
        let failed = failed_choice(choice);
        return Ok(Parsed { reason, text, has_reasoning, usage, served, ..failed });
    }
    let refusal = message.said("refusal").map(plain);
    let calls = message.said("tool_calls").is_some() || message.said("function_call").is_some();
    let ending = match ending(reason.as_deref()) {
        _ if refusal.is_some() => Ok(Finish::Blocked),
        Ok(Finish::Complete | Finish::Unknown) if calls => Ok(Finish::ToolCall),
        ending => ending,
    };
    Ok(Parsed { ending, reason, text, refusal, has_reasoning, usage, served })
}

/// What the finish reason alone says; providers that copy the route have added words of their own.
fn ending(reason: Option<&str>) -> Result<Finish, Problem> {
    match reason {
        Some("stop" | "end" | "eos" | "end_turn" | "stop_sequence") => Ok(Finish::Complete),
        Some("length" | "max_tokens" | "model_length" | "model_context_window_exceeded") => Ok(Finish::Truncated),
        Some("content_filter" | "sensitive" | "refusal") => Ok(Finish::Blocked),
        Some("tool_calls" | "function_call" | "tool_use") => Ok(Finish::ToolCall),
        Some("insufficient_system_resource") => Err(Problem::ended_with(FailureKind::Overloaded, reason)),
        Some("error" | "network_error" | "abort") => Err(Problem::ended_with(FailureKind::Server, reason)),
        _ => Ok(Finish::Unknown),
    }
}

/// OpenRouter reports what failed after the reply had begun inside the choice.
fn failed_choice(choice: &Object) -> Parsed {
    let headers = HeaderMap::new();
    let reply = ErrorReply { route: Route::ChatCompletions, status: 200, headers: &headers, clock: None::<SystemTime> };
    reply.read_json(&json!({"error": choice.get("error")}))
}

/// The visible text of a message or of a delta: a string, or the text parts of a list. Mistral's list has thinking parts as well.
pub(crate) fn text(message: &Object) -> Result<String, Shape> {
    if !message.get("content").is_some_and(Value::is_array) {
        return message.text("content").map(str::to_owned);
    }
    let mut text = String::new();
    for part in message.objects("content")? {
        if matches!(part.label("type"), Some("text" | "output_text")) {
            text.push_str(part.text("text")?);
        }
    }
    Ok(text)
}

fn has_reasoning(message: &Object, usage: Option<Usage>) -> bool {
    let fields = ["reasoning_content", "reasoning", "reasoning_details"];
    let is_thinking = |part: &Value| part.get("type").and_then(Value::as_str) == Some("thinking");
    fields.iter().any(|field| message.said(field).is_some())
        || message.get("content").and_then(Value::as_array).is_some_and(|parts| parts.iter().any(is_thinking))
        || usage.and_then(|usage| usage.reasoning).is_some_and(|tokens| tokens > 0)
}

fn usage(body: &Object) -> Result<Option<Usage>, Shape> {
    let Some(usage) = body.get("usage").and_then(Value::as_object) else { return Ok(None) };
    let (input, output) = (usage.object("prompt_tokens_details")?, usage.object("completion_tokens_details")?);
    let of_input = |name: &str| input.and_then(|details| details.count(name));
    // OpenAI, DeepSeek and Moonshot each have a place of their own; a 0 in one may stand beside a count
    // in another.
    let cached = [of_input("cached_tokens"), usage.count("prompt_cache_hit_tokens"), usage.count("cached_tokens")];
    Ok(Some(Usage {
        input: usage.count("prompt_tokens"),
        cached: cached.into_iter().flatten().find(|count| *count > 0).or(cached.into_iter().flatten().next()),
        cache_write: of_input("cache_write_tokens"),
        output: usage.count("completion_tokens"),
        reasoning: output.and_then(|details| details.count("reasoning_tokens")),
    }))
}
