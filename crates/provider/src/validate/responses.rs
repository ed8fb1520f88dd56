//! What the Responses API and the Codex backend refuse.

use std::collections::HashSet;

use serde_json::Value;

use super::json::{self, Fields};
use super::{Broken, ParameterRule, Rules, SamplingRule, names};

const OPENAI: &[&str] = &[
    "model",
    "input",
    "instructions",
    "background",
    "context_management",
    "conversation",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
const CODEX: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "store",
    "stream",
    "include",
    "service_tier",
    "prompt_cache_key",
    "text",
];
const LEAST_OUTPUT_TOKENS: u64 = 16;

pub(super) fn check(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    parameters(rules, body)?;
    let items = match body.get("input") {
        Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(items)) if !items.is_empty() => items,
        _ => return Broken::err("input_empty", "there is no input"),
    };
    let mut talk = Talk { rules, calls: HashSet::new(), answered: HashSet::new(), has_reasoning: false };
    for (index, item) in items.iter().enumerate() {
        talk.add(index, json::object(item, "item_type", || format!("input[{index}]"))?)?;
    }
    match talk.calls.difference(&talk.answered).min() {
        Some(id) => Broken::err("unanswered_call", format!("the output of {id:?} is missing")),
        None => Ok(()),
    }
}

fn parameters(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    let is_codex = rules.parameters == ParameterRule::Codex;
    json::only(body, if is_codex { CODEX } else { OPENAI }, "unknown_param", || "the body".to_owned())?;
    if is_codex {
        if body.get("store") != Some(&Value::Bool(false)) {
            return Broken::err("store", "store is not false");
        }
        if body.get("stream") != Some(&Value::Bool(true)) {
            return Broken::err("stream", "stream is not true");
        }
        if !json::says_something(body, "instructions") {
            return Broken::err("instructions", "there are no instructions");
        }
    }
    let is_enough = |cap: &Value| cap.as_u64().is_some_and(|cap| cap >= LEAST_OUTPUT_TOKENS);
    if body.get("max_output_tokens").is_some_and(|cap| !is_enough(cap)) {
        return Broken::err(
            "max_output_tokens",
            format!("max_output_tokens is no number from {LEAST_OUTPUT_TOKENS} on"),
        );
    }
    let is_default = |temperature: &Value| temperature.as_f64() == Some(1.0);
    if rules.sampling == SamplingRule::Fixed && body.get("temperature").is_some_and(|it| !is_default(it)) {
        return Broken::err("temperature", "no temperature is taken");
    }
    Ok(())
}

/// The items so far.
struct Talk<'b> {
    rules: &'b Rules,
    calls: HashSet<&'b str>,
    answered: HashSet<&'b str>,
    has_reasoning: bool,
}

impl<'b> Talk<'b> {
    fn add(&mut self, index: usize, item: &'b Fields) -> Result<(), Broken> {
        match item.get("type").map_or("message", |kind| kind.as_str().unwrap_or_default()) {
            "message" => message(index, item),
            "function_call" => self.call(index, item),
            "function_call_output" => self.output(index, item),
            "reasoning" => {
                self.has_reasoning = true;
                Ok(())
            }
            "item_reference" | "compaction" => Ok(()),
            other => {
                Broken::err("item_type", format!("input[{index}] is of the unknown type \"{}\"", other.escape_debug()))
            }
        }
    }

    fn call(&mut self, index: usize, item: &'b Fields) -> Result<(), Broken> {
        if let Some(id) = item.get("id") {
            if !id.as_str().is_some_and(|id| id.starts_with("fc")) {
                return Broken::err("item_id", format!("input[{index}].id does not begin with fc; leave it out"));
            }
            if self.rules.sampling == SamplingRule::Fixed && !self.has_reasoning {
                return Broken::err(
                    "reasoning_item_missing",
                    format!("input[{index}] names an id without its reasoning"),
                );
            }
        }
        let id = json::text(item, "call_id").unwrap_or_default();
        if id.is_empty() || id.chars().count() > 64 {
            return Broken::err("call_id_length", format!("input[{index}].call_id is outside 1 to 64 characters"));
        }
        if self.calls.contains(&id) {
            return Broken::err("duplicate_call_id", format!("input[{index}] has the id of another call"));
        }
        let name = json::text(item, "name").unwrap_or_default();
        if !names::is_plain(name) {
            return Broken::err("tool_name", format!("input[{index}] has the name \"{}\"", name.escape_debug()));
        }
        if json::text(item, "arguments").is_none() {
            return Broken::err("arguments_type", format!("input[{index}].arguments is no text"));
        }
        self.calls.insert(id);
        Ok(())
    }

    fn output(&mut self, index: usize, item: &'b Fields) -> Result<(), Broken> {
        let id = json::text(item, "call_id").unwrap_or_default();
        if !self.calls.contains(&id) {
            return Broken::err("orphan_output", format!("input[{index}] answers no call before it"));
        }
        if !matches!(item.get("output"), Some(Value::String(_) | Value::Array(_))) {
            return Broken::err("output_type", format!("input[{index}].output is no text"));
        }
        if !self.answered.insert(id) {
            return Broken::err("duplicate_output", format!("input[{index}] answers a call a second time"));
        }
        Ok(())
    }
}

fn message(index: usize, item: &Fields) -> Result<(), Broken> {
    let role = json::text(item, "role").unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role) {
        return Broken::err("role", format!("input[{index}] has the unknown role \"{}\"", role.escape_debug()));
    }
    let wanted: &[&str] =
        if role == "assistant" { &["output_text", "refusal"] } else { &["input_text", "input_image", "input_file"] };
    match item.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) => {
            let is_wanted = |part: &Value| part["type"].as_str().is_some_and(|kind| wanted.contains(&kind));
            if parts.iter().all(is_wanted) {
                Ok(())
            } else {
                Broken::err(
                    "content_part_type",
                    format!("input[{index}] has a part that is none of {}", wanted.join(", ")),
                )
            }
        }
        _ => Broken::err("content_type", format!("input[{index}].content is no text")),
    }
}
