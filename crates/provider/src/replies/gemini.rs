//! Gemini `generateContent`.

use crate::failure::FailureKind;
use crate::members::{Members, Object, Shape, object};
use crate::parsed::{Parsed, Problem};
use crate::reply::{Finish, Served, Usage, sum};

pub(crate) fn parse(body: &Object) -> Result<Parsed, Shape> {
    let usage = usage(body)?;
    let served = Served { model: body.label("modelVersion").unwrap_or_default().to_owned(), ..Served::default() };
    let Some(candidate) = body.list("candidates")?.first() else {
        return without_candidate(body, usage, served);
    };
    let candidate = object("candidates", candidate)?;
    let reason = candidate.reason("finishReason")?;
    let parts = candidate.object("content")?.map(|content| content.objects("parts")).transpose()?.unwrap_or_default();
    let is_thought = |part: &Object| part.said("thought").is_some();
    let mut text = String::new();
    for part in parts.iter().filter(|part| !is_thought(part)) {
        text.push_str(part.text("text")?);
    }
    let ending = match ending(reason.as_deref()) {
        // A call ends with STOP here.
        Ok(Finish::Complete | Finish::Unknown) if parts.iter().any(|part| part.contains_key("functionCall")) => {
            Ok(Finish::ToolCall)
        }
        ending => ending,
    };
    let has_reasoning = parts.iter().any(|part| is_thought(part))
        || usage.and_then(|usage| usage.reasoning).is_some_and(|tokens| tokens > 0);
    Ok(Parsed { ending, reason, text, refusal: None, has_reasoning, usage, served })
}

fn without_candidate(body: &Object, usage: Option<Usage>, served: Served) -> Result<Parsed, Shape> {
    let blocked = body.object("promptFeedback")?.map(|feedback| feedback.text("blockReason")).transpose()?;
    Ok(match blocked.filter(|reason| !reason.is_empty()) {
        Some(reason) => Parsed {
            ending: Ok(Finish::Blocked),
            reason: Some(format!("prompt:{reason}")),
            text: String::new(),
            refusal: None,
            has_reasoning: false,
            usage,
            served,
        },
        None => Parsed { usage, served, ..Parsed::failed(Problem::protocol(&"the reply has no candidates")) },
    })
}

fn ending(reason: Option<&str>) -> Result<Finish, Problem> {
    match reason {
        Some("STOP") => Ok(Finish::Complete),
        Some("MAX_TOKENS") => Ok(Finish::Truncated),
        Some(
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "LANGUAGE"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION",
        ) => Ok(Finish::Blocked),
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => Ok(Finish::ToolCall),
        Some(
            "OTHER"
            | "IMAGE_OTHER"
            | "NO_IMAGE"
            | "MISSING_THOUGHT_SIGNATURE"
            | "MALFORMED_RESPONSE"
            | "ESCALATION"
            | "PUP_LIMITED_DISABLED",
        ) => Err(Problem::ended_with(FailureKind::Server, reason).for_good()),
        _ => Ok(Finish::Unknown),
    }
}

fn usage(body: &Object) -> Result<Option<Usage>, Shape> {
    let Some(usage) = body.object("usageMetadata")? else { return Ok(None) };
    let thoughts = usage.count("thoughtsTokenCount");
    Ok(Some(Usage {
        input: sum([usage.count("promptTokenCount"), usage.count("toolUsePromptTokenCount")]),
        cached: usage.count("cachedContentTokenCount"),
        cache_write: None,
        output: sum([usage.count("candidatesTokenCount"), thoughts]),
        reasoning: thoughts,
    }))
}
