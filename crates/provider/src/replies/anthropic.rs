//! Anthropic Messages.

use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape};
use crate::parsed::{Parsed, Problem};
use crate::reply::{Finish, Served, Usage, sum};

pub(crate) fn parse(body: &Object) -> Result<Parsed, Shape> {
    let usage = usage(body)?;
    let served = Served { model: body.label("model").unwrap_or_default().to_owned(), ..Served::default() };
    let blocks = body.objects("content")?;
    let has_block = |kind: &str| blocks.iter().any(|block| block.label("type") == Some(kind));
    let mut text = String::new();
    for block in blocks.iter().filter(|block| block.label("type") == Some("text")) {
        text.push_str(block.text("text")?);
    }
    let reason = body.reason("stop_reason")?;
    let ending = match ending(reason.as_deref()) {
        Ok(Finish::Complete | Finish::Unknown) if has_block("tool_use") => Ok(Finish::ToolCall),
        ending => ending,
    };
    let refusal = match ending {
        Ok(Finish::Blocked) => body.object("stop_details")?.and_then(|details| details.label("category")),
        _ => None,
    };
    let has_reasoning =
        has_block("thinking") || has_block("redacted_thinking") || usage.reasoning.is_some_and(|tokens| tokens > 0);
    Ok(Parsed { ending, reason, text, refusal: refusal.map(str::to_owned), has_reasoning, usage: Some(usage), served })
}

fn ending(reason: Option<&str>) -> Result<Finish, Problem> {
    match reason {
        Some("end_turn" | "stop_sequence") => Ok(Finish::Complete),
        Some("max_tokens" | "model_context_window_exceeded") => Ok(Finish::Truncated),
        Some("refusal") => Ok(Finish::Blocked),
        Some("tool_use") => Ok(Finish::ToolCall),
        // Both belong to features that no request here asks for.
        Some("pause_turn" | "compaction") => Err(Problem::ended_with(FailureKind::Protocol, reason).for_good()),
        _ => Ok(Finish::Unknown),
    }
}

/// The input count leaves out what a cache served or took; here it is the whole input, as on every route.
fn usage(body: &Object) -> Result<Usage, Shape> {
    let Some(usage) = body.object("usage")? else { return Ok(Usage::default()) };
    let (cached, cache_write) = (usage.count("cache_read_input_tokens"), usage.count("cache_creation_input_tokens"));
    let details = usage.object("output_tokens_details")?;
    Ok(Usage {
        input: sum([usage.count("input_tokens"), cached, cache_write]),
        cached,
        cache_write,
        output: usage.count("output_tokens"),
        reasoning: details.and_then(|details| details.count("thinking_tokens")),
    })
}
