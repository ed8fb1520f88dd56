//! What the Messages API refuses. It joins neighbouring turns of one role before it looks at pairs.

use std::collections::HashSet;

use laundromat_session::normal_form::is_blank;
use serde_json::Value;

use super::json::{self, Fields};
use super::{Broken, EndRule, Rules, VersionRule, names};

const KNOWN: &[&str] = &[
    "model",
    "max_tokens",
    "messages",
    "system",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
    "metadata",
    "thinking",
    "tools",
    "tool_choice",
    "service_tier",
    "container",
    "context_management",
    "output_config",
    "cache_control",
    "inference_geo",
    "user_profile_id",
];
const OTHER_BLOCKS: [&str; 4] = ["redacted_thinking", "image", "document", "search_result"];
const LEAST_THINKING: u64 = 1024;

pub(super) fn check(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    parameters(rules, body)?;
    let Some(messages @ [_, ..]) = json::list(body, "messages") else {
        return Broken::err("messages_empty", "there are no messages");
    };
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let message = json::object(message, "role", || format!("messages[{index}]"))?;
        let turn = turn(index, index + 1 == messages.len(), message)?;
        match turns.last_mut() {
            Some(last) if last.role == turn.role => last.blocks.extend(turn.blocks),
            _ => turns.push(turn),
        }
    }
    pairs(&turns)?;
    end(rules, &turns)
}

fn parameters(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    json::only(body, KNOWN, "unknown_param", || "the body".to_owned())?;
    if let Some(missing) = ["model", "max_tokens", "messages"].iter().find(|key| !body.contains_key(**key)) {
        return Broken::err("required", format!("{missing} is missing"));
    }
    let Some(cap) = body["max_tokens"].as_u64().filter(|cap| *cap > 0) else {
        return Broken::err("max_tokens", "max_tokens is no number from 1 on");
    };
    if rules.version == Some(VersionRule::V2026) {
        if let Some(field) = ["temperature", "top_p", "top_k"].iter().find(|key| body.contains_key(**key)) {
            return Broken::err("sampling_param", format!("{field} is not taken by this version"));
        }
    } else if body.get("temperature").is_some_and(|it| !it.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it))) {
        return Broken::err("temperature_range", "temperature is outside 0 to 1");
    }
    let thinking = body.get("thinking").and_then(Value::as_object);
    if let Some(thinking) = thinking.filter(|thinking| json::text(thinking, "type") == Some("enabled")) {
        let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
        if !(LEAST_THINKING..cap).contains(&budget) {
            return Broken::err(
                "thinking_budget",
                format!("budget_tokens is not from {LEAST_THINKING} up to max_tokens"),
            );
        }
    }
    match body.get("system") {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => {
            let says = |block: &Value| block["text"].as_str().is_some_and(|text| !is_blank(text));
            if blocks.iter().all(says) { Ok(()) } else { Broken::err("system_blank", "a block of system is blank") }
        }
        Some(_) => Broken::err("system_type", "system is no text"),
    }
}

/// A turn with what its pairs are found by.
struct Turn<'b> {
    role: &'b str,
    blocks: Vec<Block<'b>>,
}

enum Block<'b> {
    Text(&'b str),
    Use(&'b str),
    Result(&'b str),
    Other,
}

fn turn<'b>(index: usize, is_last: bool, message: &'b Fields) -> Result<Turn<'b>, Broken> {
    let place = || format!("messages[{index}]");
    let role = json::text(message, "role").unwrap_or_default();
    if !["user", "assistant"].contains(&role) {
        return Broken::err("role", format!("{} has the unknown role \"{}\"", place(), role.escape_debug()));
    }
    json::only(message, &["role", "content"], "unknown_param", place)?;
    let blocks = match message.get("content") {
        Some(Value::String(text)) => vec![words(text)?],
        Some(Value::Array(blocks)) if !blocks.is_empty() || (is_last && role == "assistant") => blocks
            .iter()
            .map(|it| json::object(it, "block_type", place).and_then(|it| block(&place(), role, it)))
            .collect::<Result<_, _>>()?,
        _ => return Broken::err("content_empty", format!("{} has no content", place())),
    };
    Ok(Turn { role, blocks })
}

fn words(text: &str) -> Result<Block<'_>, Broken> {
    if text.is_empty() {
        return Broken::err("text_empty", "a text block is empty");
    }
    if is_blank(text) {
        return Broken::err("text_whitespace", "a text block is white space");
    }
    Ok(Block::Text(text))
}

fn block<'b>(place: &str, role: &str, block: &'b Fields) -> Result<Block<'b>, Broken> {
    match json::text(block, "type").unwrap_or_default() {
        "text" => words(json::text(block, "text").unwrap_or_default()),
        "tool_use" => {
            if role != "assistant" {
                return Broken::err("tool_use_role", format!("{place} has a tool_use that is not the assistant's"));
            }
            let id = json::text(block, "id").unwrap_or_default();
            if !names::is_plain(id) {
                return Broken::err("tool_use_id", format!("{place} has a tool_use with a bad id"));
            }
            if !(1..=200).contains(&json::text(block, "name").map_or(0, |name| name.chars().count())) {
                return Broken::err("tool_use_name", format!("{place} has a name outside 1 to 200 characters"));
            }
            if !block.get("input").is_some_and(Value::is_object) {
                return Broken::err("tool_use_input", format!("{place} has an input that is no object"));
            }
            Ok(Block::Use(id))
        }
        "tool_result" => {
            if role != "user" {
                return Broken::err("tool_result_role", format!("{place} has a tool_result that is not the user's"));
            }
            if !matches!(block.get("content"), None | Some(Value::String(_) | Value::Array(_))) {
                return Broken::err("tool_result_content", format!("{place} has a tool_result that is no text"));
            }
            Ok(Block::Result(json::text(block, "tool_use_id").unwrap_or_default()))
        }
        "thinking" if !json::says_something(block, "signature") => {
            Broken::err("thinking_signature", format!("{place} has thinking without a signature"))
        }
        "thinking" => Ok(Block::Other),
        other if OTHER_BLOCKS.contains(&other) => Ok(Block::Other),
        other => {
            Broken::err("block_type", format!("{place} has a block of the unknown type \"{}\"", other.escape_debug()))
        }
    }
}

fn pairs(turns: &[Turn<'_>]) -> Result<(), Broken> {
    let mut used: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for turn in turns {
        if turn.role == "assistant" {
            open.clear();
            for block in &turn.blocks {
                if let Block::Use(id) = block {
                    if !used.insert(id) {
                        return Broken::err("tool_use_unique", format!("the id {id:?} is used twice"));
                    }
                    open.push(id);
                }
            }
            continue;
        }
        results(&turn.blocks, &open)?;
        open.clear();
    }
    if open.is_empty() {
        Ok(())
    } else {
        Broken::err("unanswered_call", format!("the results of {open:?} are missing"))
    }
}

/// The results of a user turn against the calls of the turn before it.
fn results(blocks: &[Block<'_>], open: &[&str]) -> Result<(), Broken> {
    let mut answered: Vec<&str> = Vec::new();
    for block in blocks {
        if let Block::Result(id) = block {
            if answered.contains(id) {
                return Broken::err("tool_result_duplicate", format!("{id:?} is answered twice"));
            }
            answered.push(id);
        }
    }
    if let Some(id) = answered.iter().find(|id| !open.contains(id)) {
        return Broken::err("orphan_tool_result", format!("{id:?} is no call of the turn before"));
    }
    if let Some(id) = open.iter().find(|id| !answered.contains(id)) {
        return Broken::err("unanswered_call", format!("the result of {id:?} is missing"));
    }
    if blocks.iter().take(answered.len()).all(|block| matches!(block, Block::Result(_))) {
        Ok(())
    } else {
        Broken::err("tool_result_first", "something stands before the results of a turn")
    }
}

fn end(rules: &Rules, turns: &[Turn<'_>]) -> Result<(), Broken> {
    let Some(last) = turns.last().filter(|turn| turn.role == "assistant") else { return Ok(()) };
    if rules.end != EndRule::Prefill {
        return Broken::err("prefill", "the last turn is the assistant's");
    }
    match last.blocks.last() {
        Some(Block::Text(text)) if text.ends_with(char::is_whitespace) => {
            Broken::err("trailing_whitespace", "the last text ends in white space")
        }
        _ => Ok(()),
    }
}
