//! Bedrock `Converse`.

use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape};
use crate::parsed::{Parsed, Problem};
use crate::reply::{Finish, Served, Usage, sum};

pub(crate) fn parse(body: &Object) -> Result<Parsed, Shape> {
    let usage = usage(body)?;
    let message = body.object("output")?.map(|output| output.object("message")).transpose()?.flatten();
    let blocks = message.map(|message| message.objects("content")).transpose()?.unwrap_or_default();
    let has_block = |kind: &str| blocks.iter().any(|block| block.contains_key(kind));
    let mut text = String::new();
    for block in &blocks {
        text.push_str(block.text("text")?);
    }
    let reason = body.reason("stopReason")?;
    let ending = match ending(reason.as_deref()) {
        Ok(Finish::Complete | Finish::Unknown) if has_block("toolUse") => Ok(Finish::ToolCall),
        ending => ending,
    };
    Ok(Parsed {
        ending,
        reason,
        text,
        refusal: None,
        has_reasoning: has_block("reasoningContent"),
        usage: Some(usage),
        // Converse does not say which model answered.
        served: Served::default(),
    })
}

fn ending(reason: Option<&str>) -> Result<Finish, Problem> {
    match reason {
        Some("end_turn" | "stop_sequence") => Ok(Finish::Complete),
        Some("max_tokens" | "model_context_window_exceeded") => Ok(Finish::Truncated),
        Some("guardrail_intervened" | "content_filtered") => Ok(Finish::Blocked),
        Some("tool_use" | "malformed_tool_use") => Ok(Finish::ToolCall),
        Some("malformed_model_output") => Err(Problem::ended_with(FailureKind::Server, reason).for_good()),
        _ => Ok(Finish::Unknown),
    }
}

/// The input count leaves out what a cache served or took; here it is the whole input, as on every route.
fn usage(body: &Object) -> Result<Usage, Shape> {
    let Some(usage) = body.object("usage")? else { return Ok(Usage::default()) };
    let (cached, cache_write) = (usage.count("cacheReadInputTokens"), usage.count("cacheWriteInputTokens"));
    Ok(Usage {
        input: sum([usage.count("inputTokens"), cached, cache_write]),
        cached,
        cache_write,
        output: usage.count("outputTokens"),
        reasoning: None,
    })
}
