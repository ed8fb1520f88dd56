//! What a Messages request is refused for.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{is_blank, is_plain, refuse, text, unknown_field};
use crate::profile::{Dialect, Profile, Version};
use crate::violation::Violation;

const FIELDS: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user_profile_id",
];

/// The least that may be thought.
const SMALLEST_BUDGET: u64 = 1024;
const LONGEST_NAME: usize = 200;
const LONGEST_DECLARED_NAME: usize = 128;
const MOST_MESSAGES: usize = 100_000;

pub(super) fn check(fields: &Map<String, Value>, dialect: Dialect) -> Result<(), Violation> {
    if let Some(key) = unknown_field(fields, FIELDS) {
        return refuse(400, "unknown_param", format!("{key}: Extra inputs are not permitted"));
    }
    if let Some(name) = ["model", "max_tokens", "messages"].iter().find(|name| !fields.contains_key(**name)) {
        return refuse(400, "required", format!("{name}: Field required"));
    }
    let cap = match fields["max_tokens"].as_u64() {
        Some(cap) if cap > 0 => cap,
        _ => return refuse(400, "max_tokens", "max_tokens: Input should be greater than or equal to 1"),
    };
    sampling(fields, dialect.version)?;
    thinking(fields, cap)?;
    system(fields)?;
    let declared = tools(fields)?;
    let turns = turns(&fields["messages"])?;
    let calls = pairs(&turns)?;
    if dialect.profile == Profile::GatewayStubTools && calls && !declared {
        return refuse(400, "tools_undeclared", "messages hold `tool_use` blocks, but no `tools` are declared");
    }
    end(&turns, dialect.profile)
}

fn sampling(fields: &Map<String, Value>, version: Version) -> Result<(), Violation> {
    if version == Version::V2026 {
        return match ["temperature", "top_p", "top_k"].iter().find(|name| fields.contains_key(**name)) {
            Some(name) => refuse(400, "sampling_param", format!("{name}: Extra inputs are not permitted")),
            None => Ok(()),
        };
    }
    match fields.get("temperature") {
        Some(value) if !value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)) => {
            refuse(400, "temperature_range", "temperature: range: 0..1")
        }
        _ => Ok(()),
    }
}

fn thinking(fields: &Map<String, Value>, cap: u64) -> Result<(), Violation> {
    let Some(thinking) = fields.get("thinking").filter(|thinking| text(thinking, "type") == Some("enabled")) else {
        return Ok(());
    };
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
    match (SMALLEST_BUDGET..cap).contains(&budget) {
        true => Ok(()),
        false => refuse(400, "thinking_budget", "`max_tokens` must be greater than `thinking.budget_tokens`"),
    }
}

fn system(fields: &Map<String, Value>) -> Result<(), Violation> {
    match fields.get("system") {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) if blocks.iter().all(|block| !is_blank(block, "text")) => Ok(()),
        Some(Value::Array(_)) => refuse(400, "system_blank", "system: text content blocks must be non-empty"),
        Some(_) => refuse(400, "system_type", "system: Input should be a valid string or list"),
    }
}

/// Whether tools are declared.
fn tools(fields: &Map<String, Value>) -> Result<bool, Violation> {
    let declared = fields.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for tool in declared {
        let name = text(tool, "name").unwrap_or_default();
        if !(1..=LONGEST_DECLARED_NAME).contains(&name.chars().count()) {
            return refuse(400, "tool_use_name", "tools.0.name: String should have at most 128 characters");
        }
    }
    Ok(!declared.is_empty())
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// One turn: neighbouring messages of one role are joined before pairs are looked at.
struct Turn<'a> {
    role: Role,
    blocks: Vec<Block<'a>>,
}

/// As much of a block as the rules about turns need.
enum Block<'a> {
    Text(&'a str),
    Use(&'a str),
    Result(&'a str),
    Other,
}

fn turns(messages: &Value) -> Result<Vec<Turn<'_>>, Violation> {
    let messages = match messages.as_array() {
        Some(messages) if !messages.is_empty() => messages,
        _ => return refuse(400, "messages_empty", "messages: at least one message is required"),
    };
    if messages.len() > MOST_MESSAGES {
        return refuse(400, "messages_many", format!("messages: at most {MOST_MESSAGES} messages are allowed"));
    }
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = match text(message, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            role => {
                let message = format!("messages.{at}.role: Unexpected role \"{}\".", role.unwrap_or_default());
                return refuse(400, "role", message);
            }
        };
        let fields = message.as_object().map(|fields| unknown_field(fields, &["role", "content"]));
        if fields.flatten().is_some() {
            return refuse(400, "unknown_param", format!("messages.{at}: Extra inputs are not permitted"));
        }
        let optional = at + 1 == messages.len() && role == Role::Assistant;
        let blocks = blocks(at, role, message, optional)?;
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.extend(blocks),
            None => turns.push(Turn { role, blocks }),
        }
    }
    Ok(turns)
}

fn blocks(at: usize, role: Role, message: &Value, optional: bool) -> Result<Vec<Block<'_>>, Violation> {
    match message.get("content") {
        Some(Value::String(text)) => Ok(vec![written(text)?]),
        Some(Value::Array(blocks)) if optional || !blocks.is_empty() => {
            blocks.iter().map(|value| block(at, role, value)).collect()
        }
        _ => refuse(
            400,
            "content_empty",
            format!(
                "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
            ),
        ),
    }
}

/// A text that says something.
fn written(text: &str) -> Result<Block<'_>, Violation> {
    if text.is_empty() {
        return refuse(400, "text_empty", "messages: text content blocks must be non-empty");
    }
    if text.trim().is_empty() {
        return refuse(400, "text_whitespace", "messages: text content blocks must contain non-whitespace text");
    }
    Ok(Block::Text(text))
}

fn block(at: usize, role: Role, value: &Value) -> Result<Block<'_>, Violation> {
    match text(value, "type").unwrap_or_default() {
        "text" => written(text(value, "text").unwrap_or_default()),
        "tool_use" => tool_use(at, role, value),
        "tool_result" => tool_result(at, role, value),
        "thinking" if is_blank(value, "signature") => {
            refuse(400, "thinking_signature", format!("messages.{at}.content.0.thinking.signature: Field required"))
        }
        "thinking" | "redacted_thinking" | "image" | "document" | "search_result" => Ok(Block::Other),
        tag => refuse(
            400,
            "block_type",
            format!(
                "messages.{at}.content.0: Input tag '{tag}' found using 'type' does not match any of the expected tags"
            ),
        ),
    }
}

fn tool_use(at: usize, role: Role, value: &Value) -> Result<Block<'_>, Violation> {
    let place = format!("messages.{at}.content.0.tool_use");
    if role != Role::Assistant {
        let message = format!("messages.{at}: `tool_use` blocks can only be in `assistant` messages");
        return refuse(400, "tool_use_role", message);
    }
    let id = text(value, "id").unwrap_or_default();
    if !is_plain(id, b"_-", usize::MAX) {
        return refuse(400, "tool_use_id", format!("{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    if !text(value, "name").is_some_and(|name| (1..=LONGEST_NAME).contains(&name.chars().count())) {
        return refuse(400, "tool_use_name", format!("{place}.name: String should have at most 200 characters"));
    }
    if !value.get("input").is_some_and(Value::is_object) {
        return refuse(400, "tool_use_input", format!("{place}.input: Input should be a valid dictionary"));
    }
    Ok(Block::Use(id))
}

fn tool_result(at: usize, role: Role, value: &Value) -> Result<Block<'_>, Violation> {
    if role != Role::User {
        let message = format!("messages.{at}: `tool_result` blocks can only be in `user` messages");
        return refuse(400, "tool_result_role", message);
    }
    match value.get("content") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            for part in parts.iter().filter(|part| text(part, "type") == Some("text")) {
                written(text(part, "text").unwrap_or_default())?;
            }
        }
        Some(_) => {
            let message = "tool_result.content: Input should be a valid string or list";
            return refuse(400, "tool_result_content", message);
        }
    }
    Ok(Block::Result(text(value, "tool_use_id").unwrap_or_default()))
}

/// Calls and their results; whether there were any.
fn pairs(turns: &[Turn<'_>]) -> Result<bool, Violation> {
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        if turn.role == Role::User {
            answered(at, turn, &open)?;
            open.clear();
            continue;
        }
        for block in &turn.blocks {
            if let Block::Use(id) = block {
                open.push(id);
                if !seen.insert(*id) {
                    return refuse(400, "tool_use_unique", "messages: `tool_use` ids must be unique");
                }
            }
        }
    }
    match open.is_empty() {
        true => Ok(!seen.is_empty()),
        false => refuse(400, "unanswered_call", format!("{UNANSWERED}{}", open.join(", "))),
    }
}

const UNANSWERED: &str = "`tool_use` ids were found without `tool_result` blocks immediately after: ";

/// A user turn answers exactly the calls of the assistant turn before it, and does so before it says anything.
fn answered(at: usize, turn: &Turn<'_>, open: &[&str]) -> Result<(), Violation> {
    let results: Vec<&str> = turn
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Result(id) => Some(*id),
            _ => None,
        })
        .collect();
    if results.iter().collect::<HashSet<_>>().len() != results.len() {
        let message = format!(
            "messages.{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id"
        );
        return refuse(400, "tool_result_duplicate", message);
    }
    if let Some(id) = results.iter().find(|id| !open.contains(id)) {
        let message = format!(
            "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
             block must have a corresponding `tool_use` block in the previous message."
        );
        return refuse(400, "orphan_tool_result", message);
    }
    let missing: Vec<&str> = open.iter().filter(|id| !results.contains(id)).copied().collect();
    let first = turn.blocks.iter().take(results.len()).all(|block| matches!(block, Block::Result(_)));
    if !missing.is_empty() || !first {
        let (rule, ids) = match missing.is_empty() {
            true => ("tool_result_first", open),
            false => ("unanswered_call", missing.as_slice()),
        };
        return refuse(400, rule, format!("messages.{at}: {UNANSWERED}{}", ids.join(", ")));
    }
    Ok(())
}

/// Who may speak last, and how.
fn end(turns: &[Turn<'_>], profile: Profile) -> Result<(), Violation> {
    let Some(last) = turns.last().filter(|turn| turn.role == Role::Assistant) else {
        return Ok(());
    };
    if profile != Profile::AnthropicPrefill {
        let message = "This model does not support assistant message prefill. The conversation must end with a user \
                       message.";
        return refuse(400, "prefill", message);
    }
    match last.blocks.last() {
        Some(Block::Text(text)) if text.trim_end() != *text => {
            refuse(400, "trailing_whitespace", "messages: final assistant content cannot end with trailing whitespace")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::{Dialect, Profile};
    use crate::route::Route;
    use crate::rules::check;

    fn rule(body: &Value, profile: Profile) -> &'static str {
        check(body, Dialect::new(Route::Anthropic, profile)).err().map_or("accepted", |violation| violation.rule)
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = json!({"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "x"}]});
        body[field] = value;
        body
    }

    fn called(results: &Value) -> Value {
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]},
            {"role": "user", "content": results}])
    }

    #[test]
    fn shapes_that_no_vector_covers() {
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        for (field, value, expected) in [
            ("top", json!(1), "unknown_param"),
            ("max_tokens", json!(0), "max_tokens"),
            ("system", json!(7), "system_type"),
            ("system", json!([{"type": "text", "text": " "}]), "system_blank"),
            ("system", json!([{"type": "text", "text": "s"}]), "accepted"),
            ("messages", json!([]), "messages_empty"),
            ("messages", json!([{"role": "user", "content": "x", "name": "n"}]), "unknown_param"),
            ("messages", json!([{"role": "user", "content": [{"type": "video"}]}]), "block_type"),
            ("messages", called(&json!([result("a"), result("a")])), "tool_result_duplicate"),
            (
                "messages",
                called(&json!([{"type": "tool_result", "tool_use_id": "a", "content": 7}])),
                "tool_result_content",
            ),
            ("messages", called(&json!([result("a"), {"type": "text", "text": "go on"}])), "accepted"),
            ("tools", json!([{"name": "n".repeat(129)}]), "tool_use_name"),
        ] {
            let body = with(field, value);
            assert_eq!(rule(&body, Profile::Anthropic), expected, "{body}");
        }
    }

    #[test]
    fn neighbours_of_one_role_are_one_turn() {
        let mut messages = called(&json!([{"type": "tool_result", "tool_use_id": "a", "content": "x"}]));
        messages.as_array_mut().unwrap().push(json!({"role": "user", "content": "go on"}));
        assert_eq!(rule(&with("messages", messages), Profile::Anthropic), "accepted");
    }

    #[test]
    fn a_gateway_wants_the_tools_of_the_history_declared() {
        let results = json!([{"type": "tool_result", "tool_use_id": "a", "content": "x"}]);
        let mut body = with("messages", called(&results));
        assert_eq!(rule(&body, Profile::GatewayStubTools), "tools_undeclared");
        body["tools"] = json!([{"name": "f", "input_schema": {"type": "object"}}]);
        assert_eq!(rule(&body, Profile::GatewayStubTools), "accepted");
    }
}
