//! What a Responses request is refused for, on OpenAI's route and on the one that Codex uses.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{is_plain, list, refuse, text, unknown_field};
use crate::profile::{Dialect, Profile};
use crate::route::Route;
use crate::violation::Violation;

/// The fields OpenAI knows.
const FIELDS: &[&str] = &[
    "background",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
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

/// The fields the Codex backend knows.
const CODEX_FIELDS: &[&str] = &[
    "include",
    "input",
    "instructions",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning",
    "service_tier",
    "store",
    "stream",
    "text",
    "tool_choice",
    "tools",
];

const ROLES: &[&str] = &["user", "assistant", "system", "developer"];
const LONGEST_ID: usize = 64;
const SMALLEST_CAP: u64 = 16;

pub(super) fn check(fields: &Map<String, Value>, dialect: Dialect) -> Result<(), Violation> {
    if dialect.route == Route::Codex {
        codex(fields)?;
    } else if let Some(key) = unknown_field(fields, FIELDS) {
        return refuse(400, "unknown_param", format!("Unknown parameter: '{key}'."));
    }
    if fields.get("max_output_tokens").is_some_and(|cap| cap.as_u64().is_none_or(|cap| cap < SMALLEST_CAP)) {
        let message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16";
        return refuse(400, "max_output_tokens", message);
    }
    let plain = fields.get("temperature").is_none_or(|value| value.as_f64() == Some(1.0));
    if dialect.profile == Profile::OpenAiReasoning && !plain {
        let message = "Unsupported parameter: 'temperature' is not supported with this model.";
        return refuse(400, "temperature", message);
    }
    match fields.get("input") {
        Some(Value::String(_)) => {}
        Some(Value::Array(items)) if !items.is_empty() => input(items, dialect.profile)?,
        _ => {
            let message =
                "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.";
            return refuse(400, "input_empty", message);
        }
    }
    match fields.get("model").and_then(Value::as_str) {
        None | Some("") => refuse(400, "model", "Missing required parameter: 'model'."),
        Some(_) => Ok(()),
    }
}

fn codex(fields: &Map<String, Value>) -> Result<(), Violation> {
    if let Some(key) = unknown_field(fields, CODEX_FIELDS) {
        return refuse(400, "unknown_param", format!("Unsupported parameter: {key}"));
    }
    if fields.get("store") != Some(&Value::Bool(false)) {
        return refuse(400, "store", "Store must be set to false");
    }
    if fields.get("stream") != Some(&Value::Bool(true)) {
        return refuse(400, "stream", "Stream must be set to true");
    }
    match fields.get("instructions").and_then(Value::as_str) {
        Some(instructions) if !instructions.trim().is_empty() => Ok(()),
        _ => refuse(400, "instructions", "Instructions are required"),
    }
}

fn input(items: &[Value], profile: Profile) -> Result<(), Violation> {
    // Whether each call has its output.
    let mut calls = Vec::new();
    let mut answered = HashMap::new();
    let mut reasoned = false;
    for (at, item) in items.iter().enumerate() {
        match item.get("type").map_or(Some("message"), Value::as_str) {
            Some("message") => message(at, item)?,
            Some("function_call") => {
                let id = call(at, item, profile, reasoned)?;
                if answered.insert(id, false).is_some() {
                    return refuse(400, "duplicate_call_id", format!("Duplicate function call id {id}"));
                }
                calls.push(id);
            }
            Some("function_call_output") => output(at, item, &mut answered)?,
            Some("reasoning") => reasoned = true,
            Some("item_reference" | "compaction") => {}
            other => {
                let message = format!("Invalid value: '{}' for input[{at}].type", other.unwrap_or_default());
                return refuse(400, "item_type", message);
            }
        }
    }
    match calls.into_iter().find(|id| !answered[id]) {
        Some(id) => refuse(400, "unanswered_call", format!("No tool output found for function call {id}.")),
        None => Ok(()),
    }
}

fn message(at: usize, item: &Value) -> Result<(), Violation> {
    let role = text(item, "role").unwrap_or_default();
    if !ROLES.contains(&role) {
        let message =
            format!("Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.");
        return refuse(400, "role", message);
    }
    if !matches!(item.get("content"), Some(Value::String(_) | Value::Array(_))) {
        return refuse(400, "content_type", format!("Invalid type for 'input[{at}].content'"));
    }
    let (wanted, named): (&[&str], _) = match role {
        "assistant" => (&["output_text", "refusal"], "('output_text', 'refusal')"),
        _ => (&["input_text", "input_image", "input_file"], "('input_text', 'input_image', 'input_file')"),
    };
    for part in list(item, "content") {
        let kind = text(part, "type").unwrap_or_default();
        if !wanted.contains(&kind) {
            let message = format!("Invalid value: '{kind}'. Supported values are: {named}");
            return refuse(400, "content_part_type", message);
        }
        if kind.ends_with("_text") && text(part, "text").is_none() {
            return refuse(400, "content_part", format!("Missing required parameter: 'input[{at}].content[0].text'."));
        }
    }
    Ok(())
}

/// One call; its id comes back.
fn call(at: usize, item: &Value, profile: Profile, reasoned: bool) -> Result<&str, Violation> {
    if let Some(id) = item.get("id") {
        let id = id.as_str().unwrap_or_default();
        if !id.starts_with("fc") {
            let message = format!("Invalid 'input[{at}].id': Expected an ID that begins with 'fc'.");
            return refuse(400, "item_id", message);
        }
        if profile == Profile::OpenAiReasoning && !reasoned {
            let message =
                format!("Item '{id}' of type 'function_call' was provided without its required 'reasoning' item");
            return refuse(400, "reasoning_item_missing", message);
        }
    }
    let id = text(item, "call_id").unwrap_or_default();
    if !(1..=LONGEST_ID).contains(&id.chars().count()) {
        let message =
            format!("Invalid 'input[{at}].call_id': string too long. Expected a string with maximum length 64");
        return refuse(400, "call_id_length", message);
    }
    if !text(item, "name").is_some_and(|name| is_plain(name, b"_-", usize::MAX)) {
        let message = format!("Invalid 'input[{at}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.");
        return refuse(400, "tool_name", message);
    }
    if text(item, "arguments").is_none() {
        return refuse(400, "arguments_type", format!("Invalid type for 'input[{at}].arguments': expected a string"));
    }
    Ok(id)
}

/// One output: of a call that came before it, and the only one.
fn output(at: usize, item: &Value, answered: &mut HashMap<&str, bool>) -> Result<(), Violation> {
    let id = text(item, "call_id").unwrap_or_default();
    let Some(done) = answered.get_mut(id) else {
        let message = format!("No tool call found for function call output with call_id {id}.");
        return refuse(400, "orphan_output", message);
    };
    if !matches!(item.get("output"), Some(Value::String(_) | Value::Array(_))) {
        return refuse(400, "output_type", format!("Invalid type for 'input[{at}].output'"));
    }
    if std::mem::replace(done, true) {
        return refuse(400, "duplicate_output", "Duplicate function call output");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::{Dialect, Profile};
    use crate::route::Route;
    use crate::rules::check;

    fn rule(input: &Value, profile: Profile) -> &'static str {
        let body = json!({"model": "m", "input": input});
        check(&body, Dialect::new(Route::Responses, profile)).err().map_or("accepted", |violation| violation.rule)
    }

    fn item(field: &str, value: Value) -> Value {
        let mut item = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
        item[field] = value;
        item
    }

    #[test]
    fn shapes_that_no_vector_covers() {
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "x"});
        for (input, expected) in [
            (json!("text"), "accepted"),
            (json!(7), "input_empty"),
            (json!([{"role": "user", "content": "x"}]), "accepted"),
            (json!([{"role": "tool", "content": "x"}]), "role"),
            (json!([{"role": "user"}]), "content_type"),
            (json!([{"role": "user", "content": [{"type": "input_text"}]}]), "content_part"),
            (json!([{"type": "web"}]), "item_type"),
            (json!([item("name", json!("a b"))]), "tool_name"),
            (json!([item("arguments", json!({}))]), "arguments_type"),
            (json!([item("call_id", json!(""))]), "call_id_length"),
            (json!([item("x", json!(1)), item("x", json!(2))]), "duplicate_call_id"),
            (json!([item("x", json!(1)), output, output]), "duplicate_output"),
            (json!([item("x", json!(1)), {"type": "function_call_output", "call_id": "c"}]), "output_type"),
            (json!([item("x", json!(1)), output]), "accepted"),
        ] {
            assert_eq!(rule(&input, Profile::OpenAi), expected, "{input}");
        }
    }

    #[test]
    fn a_replayed_item_needs_its_reasoning_on_reasoning_models() {
        let output = json!({"type": "function_call_output", "call_id": "c", "output": "x"});
        let bare = json!([item("id", json!("fc_1")), output]);
        assert_eq!(rule(&bare, Profile::OpenAiReasoning), "reasoning_item_missing");
        assert_eq!(rule(&bare, Profile::OpenAi), "accepted");
        let whole = json!([{"type": "reasoning", "id": "rs_1"}, item("id", json!("fc_1")), output]);
        assert_eq!(rule(&whole, Profile::OpenAiReasoning), "accepted");
    }

    #[test]
    fn the_codex_backend_wants_instructions_and_every_route_a_model() {
        let mut body = json!({"model": "m", "input": "x", "store": false, "stream": true});
        let rule = |body: &Value| {
            let dialect = Dialect::new(Route::Codex, Profile::OpenAi);
            check(body, dialect).err().map_or("accepted", |violation| violation.rule)
        };
        assert_eq!(rule(&body), "instructions");
        body["instructions"] = json!("x");
        assert_eq!(rule(&body), "accepted");
        body["model"] = json!("");
        assert_eq!(rule(&body), "model");
    }
}
