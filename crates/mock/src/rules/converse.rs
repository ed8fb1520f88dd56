//! What a Converse request is refused for.

use serde_json::{Map, Value};

use super::{is_blank, is_plain, list, refuse, text};
use crate::violation::Violation;

const LONGEST: usize = 64;

pub(super) fn check(fields: &Map<String, Value>) -> Result<(), Violation> {
    let messages = match fields.get("messages").and_then(Value::as_array) {
        Some(messages) if !messages.is_empty() => messages,
        _ => return refuse(400, "messages_empty", "The conversation must have at least one message."),
    };
    if text(&messages[0], "role") != Some("user") {
        return refuse(
            400,
            "first_user",
            "A conversation must start with a user message. Try again with a conversation that starts with a user \
             message.",
        );
    }
    let mut open: Vec<&str> = Vec::new();
    let mut tools = false;
    let mut previous = None;
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        if !matches!(role, "user" | "assistant") {
            return refuse(400, "role", format!("messages.{at}.role must be one of user, assistant"));
        }
        if previous.replace(role) == Some(role) {
            let message = "A conversation must alternate between user and assistant roles.";
            return refuse(400, "alternation", message);
        }
        let (uses, results) = content(at, message)?;
        tools |= !uses.is_empty() || !results.is_empty();
        if role == "user" {
            answered(at, &open, results)?;
        }
        open = uses;
    }
    if !open.is_empty() {
        return refuse(400, "unanswered_call", "Expected toolResult blocks");
    }
    let declared = fields.get("toolConfig").is_some_and(|config| !list(config, "tools").is_empty());
    match tools && !declared {
        true => refuse(
            400,
            "tool_config",
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        ),
        false => Ok(()),
    }
}

/// The ids of a message's calls and results.
fn content(at: usize, message: &Value) -> Result<(Vec<&str>, Vec<&str>), Violation> {
    let blocks = list(message, "content");
    if blocks.is_empty() {
        let message = format!("The content field in the Message object at messages.{at} is empty.");
        return refuse(400, "content_empty", message);
    }
    let (mut uses, mut results) = (Vec::new(), Vec::new());
    for block in blocks {
        if block.get("text").is_some() && is_blank(block, "text") {
            let message = format!("The text field in the ContentBlock object at messages.{at}.content.0 is blank.");
            return refuse(400, "text_blank", message);
        }
        if let Some(call) = block.get("toolUse") {
            uses.push(tool_use(call)?);
        }
        if let Some(result) = block.get("toolResult") {
            results.push(text(result, "toolUseId").unwrap_or_default());
        }
    }
    Ok((uses, results))
}

/// One call; its id comes back.
fn tool_use(call: &Value) -> Result<&str, Violation> {
    if !text(call, "name").is_some_and(|name| is_plain(name, b"_-", LONGEST)) {
        return refuse(400, "tool_name", "toolUse.name failed to satisfy constraint: [a-zA-Z0-9_-]+");
    }
    let id = text(call, "toolUseId").unwrap_or_default();
    if !is_plain(id, b"_.:-", LONGEST) {
        return refuse(400, "tool_use_id", "toolUse.toolUseId failed to satisfy constraint");
    }
    if !call.get("input").is_some_and(Value::is_object) {
        let message = "The format of the value at toolUse.input is invalid. Provide a json object.";
        return refuse(400, "tool_use_input", message);
    }
    Ok(id)
}

/// A user message answers exactly the calls of the message before it.
fn answered(at: usize, open: &[&str], mut results: Vec<&str>) -> Result<(), Violation> {
    let orphan = results.iter().any(|id| !open.contains(id));
    let mut expected = open.to_vec();
    expected.sort_unstable();
    results.sort_unstable();
    if expected == results {
        return Ok(());
    }
    let rule = if orphan { "orphan_tool_result" } else { "unanswered_call" };
    refuse(400, rule, format!("Expected toolResult blocks at messages.{at}.content for the following Ids"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::{Dialect, Profile};
    use crate::route::Route;
    use crate::rules::check;

    fn rule(messages: &Value) -> &'static str {
        let tool = json!({"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}});
        let body = json!({"messages": messages, "toolConfig": {"tools": [tool]}});
        check(&body, Dialect::new(Route::Converse, Profile::Converse))
            .err()
            .map_or("accepted", |violation| violation.rule)
    }

    fn called(field: &str, value: &Value, results: &Value) -> Value {
        let mut call = json!({"toolUseId": "c", "name": "f", "input": {}});
        call[field] = value.clone();
        json!([{"role": "user", "content": [{"text": "x"}]}, {"role": "assistant", "content": [{"toolUse": call}]},
            {"role": "user", "content": results}])
    }

    #[test]
    fn shapes_that_no_vector_covers() {
        let result = |id: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": "x"}]}});
        for (messages, expected) in [
            (json!([]), "messages_empty"),
            (json!([{"role": "user", "content": []}]), "content_empty"),
            (
                json!([{"role": "user", "content": [{"text": "x"}]}, {"role": "system", "content": [{"text": "x"}]}]),
                "role",
            ),
            (called("toolUseId", &json!("a b"), &json!([result("a b")])), "tool_use_id"),
            (called("name", &json!("f"), &json!([result("c"), result("d")])), "orphan_tool_result"),
            (called("name", &json!("f"), &json!([result("c"), result("c")])), "unanswered_call"),
            (called("name", &json!("f"), &json!([result("c"), {"text": "go on"}])), "accepted"),
        ] {
            assert_eq!(rule(&messages), expected, "{messages}");
        }
        let mut open = called("name", &json!("f"), &json!([]));
        open.as_array_mut().unwrap().pop();
        assert_eq!(rule(&open), "unanswered_call");
    }
}
