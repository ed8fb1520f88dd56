//! OpenAI Responses and the Codex backend.

use std::time::SystemTime;

use reqwest::header::HeaderMap;
use serde_json::json;

use crate::classify::{ErrorReply, is_policy};
use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape};
use crate::parsed::{Parsed, Problem};
use crate::reply::{Finish, Served, Usage};
use crate::route::Route;

pub(crate) fn parse(body: &Object) -> Result<Parsed, Shape> {
    let usage = usage(body)?;
    let served = Served { model: body.label("model").unwrap_or_default().to_owned(), ..Served::default() };
    let items = body.objects("output")?;
    let Said { text, refusal } = said(&items)?;
    let ends_with = |end: &str| items.iter().any(|item| item.label("type").is_some_and(|kind| kind.ends_with(end)));
    let has_reasoning =
        ends_with("reasoning") || usage.and_then(|usage| usage.reasoning).is_some_and(|tokens| tokens > 0);
    let status = body.reason("status")?;
    let (ending, reason, refusal) = match status.as_deref() {
        Some("failed") => {
            let (ending, reason) = failed(body)?;
            (ending, Some(reason), None)
        }
        Some("cancelled") => {
            (Err(Problem::ended_with(FailureKind::Server, status.as_deref()).for_good()), status, None)
        }
        Some("incomplete") => {
            let (ending, reason) = incomplete(body)?;
            let ending = if refusal.is_some() { Ok(Finish::Blocked) } else { ending };
            (ending, Some(reason), refusal)
        }
        _ if refusal.is_some() => (Ok(Finish::Blocked), status, refusal),
        _ if ends_with("_call") => (Ok(Finish::ToolCall), status, None),
        Some("completed") => (Ok(Finish::Complete), status, None),
        _ => (Ok(Finish::Unknown), status, None),
    };
    Ok(Parsed { ending, reason, text, refusal, has_reasoning, usage, served })
}

/// What the message items say.
struct Said {
    text: String,
    refusal: Option<String>,
}

/// Where a reply tells commentary from its final answer, only the final answer is the reply.
fn said(items: &[&Object]) -> Result<Said, Shape> {
    let is_final = |item: &Object| item.label("phase") == Some("final_answer");
    let messages = || items.iter().filter(|item| item.label("type") == Some("message"));
    let has_final = messages().any(|item| is_final(item));
    let (mut text, mut refusal) = (String::new(), String::new());
    for item in messages() {
        if has_final && !is_final(item) && item.get("phase").is_some_and(|phase| !phase.is_null()) {
            continue;
        }
        for part in item.objects("content")? {
            match part.label("type") {
                Some("output_text") => text.push_str(part.text("text")?),
                Some("refusal") => refusal.push_str(part.text("refusal")?),
                _ => {}
            }
        }
    }
    Ok(Said { text, refusal: Some(refusal).filter(|refusal| !refusal.is_empty()) })
}

fn failed(body: &Object) -> Result<(Result<Finish, Problem>, String), Shape> {
    let nothing = Object::new();
    let error = body.object("error")?.unwrap_or(&nothing);
    let code = Some(error.text("code")?).filter(|code| !code.is_empty()).unwrap_or("unknown");
    let reason = format!("failed:{code}");
    if is_policy(code) {
        let said = error.label("message").unwrap_or_default();
        return Ok((Err(Problem::new(FailureKind::Blocked, crate::envelope::quote(said))), reason));
    }
    let headers = HeaderMap::new();
    let reply = ErrorReply { route: Route::Responses, status: 200, headers: &headers, clock: None::<SystemTime> };
    Ok((reply.read_json(&json!({"error": error})).ending, reason))
}

fn incomplete(body: &Object) -> Result<(Result<Finish, Problem>, String), Shape> {
    let details = body.object("incomplete_details")?;
    let why = details.map(|details| details.text("reason")).transpose()?.filter(|why| !why.is_empty());
    let reason = format!("incomplete:{}", why.unwrap_or("unknown"));
    let ending = match why {
        Some("max_output_tokens" | "max_messages") => Ok(Finish::Truncated),
        Some("content_filter") => Ok(Finish::Blocked),
        Some("steered") => Err(Problem::ended_with(FailureKind::Server, Some(&reason)).for_good()),
        _ => Ok(Finish::Unknown),
    };
    Ok((ending, reason))
}

fn usage(body: &Object) -> Result<Option<Usage>, Shape> {
    let Some(usage) = body.get("usage").and_then(serde_json::Value::as_object) else { return Ok(None) };
    let (input, output) = (usage.object("input_tokens_details")?, usage.object("output_tokens_details")?);
    Ok(Some(Usage {
        input: usage.count("input_tokens"),
        cached: input.and_then(|details| details.count("cached_tokens")),
        cache_write: input.and_then(|details| details.count("cache_write_tokens")),
        output: usage.count("output_tokens"),
        reasoning: output.and_then(|details| details.count("reasoning_tokens")),
    }))
}
