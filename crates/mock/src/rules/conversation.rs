//! The rules about messages: roles, contents, calls and their results, and who may follow whom.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::refuse;
use crate::profile::Profile;
use crate::violation::{MISTRAL_ORDER, Violation};

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];
const LONGEST_NAME: usize = 64;
const LONGEST_ID: usize = 40;

/// Whether calls were made in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum History {
    WithCalls,
    WithoutCalls,
}

pub(super) fn check(messages: &[Value], profile: Profile) -> Result<History, Violation> {
    let mut walk = Walk { profile, open: Vec::new(), seen: HashSet::new(), previous: None };
    for (at, message) in messages.iter().enumerate() {
        walk.message(at, message)?;
    }
    walk.end()?;
    Ok(if walk.seen.is_empty() { History::WithoutCalls } else { History::WithCalls })
}

/// What has to be remembered from one message to the next.
struct Walk<'a> {
    profile: Profile,
    /// Calls of the newest assistant message that have no result yet.
    open: Vec<&'a str>,
    seen: HashSet<&'a str>,
    previous: Option<&'a str>,
}

impl<'a> Walk<'a> {
    fn message(&mut self, at: usize, message: &'a Value) -> Result<(), Violation> {
        let Some(fields) = message.as_object() else {
            return refuse(400, "message_type", format!("messages[{at}] must be an object"));
        };
        let role = self.role(at, fields)?;
        if role != "tool" && !self.open.is_empty() {
            return refuse(400, "unanswered_call", format!("{UNANSWERED} Missing: {}", self.open.join(", ")));
        }
        match role {
            "tool" => self.result(at, fields)?,
            "system" | "developer" | "user" => speaker(at, fields)?,
            _ => self.assistant(at, fields)?,
        }
        self.order(at, role)?;
        self.previous = Some(role);
        Ok(())
    }

    fn role(&self, at: usize, fields: &'a Map<String, Value>) -> Result<&'a str, Violation> {
        let role = fields.get("role").and_then(Value::as_str).unwrap_or_default();
        if !ROLES.contains(&role) {
            return refuse(400, "role", format!("Invalid value for messages[{at}].role"));
        }
        if role == "developer" && !self.profile.knows_developer() {
            let status = match self.profile {
                Profile::Mistral | Profile::DeepSeekThinkingOn | Profile::DeepSeekThinkingOff => 422,
                _ => 400,
            };
            return refuse(status, "role", "unknown variant developer");
        }
        Ok(role)
    }

    /// A tool message: it must answer an open call, once.
    fn result(&mut self, at: usize, fields: &Map<String, Value>) -> Result<(), Violation> {
        let id = fields.get("tool_call_id").and_then(Value::as_str);
        match self.open.iter().position(|open| Some(*open) == id) {
            Some(found) => self.open.remove(found),
            None => {
                return refuse(
                    400,
                    "orphan_tool",
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
                );
            }
        };
        match fields.get("content") {
            Some(Value::String(_)) => Ok(()),
            Some(Value::Array(parts)) => content_parts(at, parts),
            _ => refuse(400, "content_type", format!("messages[{at}].content must be a string")),
        }
    }

    fn assistant(&mut self, at: usize, fields: &'a Map<String, Value>) -> Result<(), Violation> {
        let calls = match fields.get("tool_calls") {
            Some(Value::Array(calls)) => Some(calls.as_slice()),
            Some(Value::Null) | None => None,
            Some(_) => return refuse(400, "tool_calls_type", format!("messages[{at}].tool_calls must be an array")),
        };
        match fields.get("content") {
            Some(Value::Null) | None if calls.is_none_or(<[_]>::is_empty) => {
                let message = format!("messages[{at}].content: expected string, got null (no tool_calls)");
                return refuse(400, "assistant_empty", message);
            }
            Some(Value::Null | Value::String(_)) | None => {}
            Some(Value::Array(parts)) => content_parts(at, parts)?,
            Some(_) => return refuse(400, "content_type", format!("Invalid type for messages[{at}].content")),
        }
        if calls.is_some_and(<[_]>::is_empty) {
            return refuse(400, "tool_calls_empty", "[] is too short - tool_calls");
        }
        for call in calls.unwrap_or_default() {
            let id = self.call(at, call)?;
            self.open.push(id);
            self.seen.insert(id);
        }
        self.reasoning(fields)
    }

    /// One call; its id comes back.
    fn call(&self, at: usize, call: &'a Value) -> Result<&'a str, Violation> {
        if call.get("type").is_some_and(|kind| kind.as_str() != Some("function")) {
            return refuse(400, "call_type", "tool call type must be function");
        }
        let function = call.get("function");
        let field = |name| function.and_then(|function| function.get(name)).and_then(Value::as_str);
        let name = field("name").unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            return refuse(
                400,
                "tool_name",
                format!(
                    "Invalid 'messages[{at}].tool_calls[0].function.name': string does not match pattern. \
                     Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
                ),
            );
        }
        if name.len() > LONGEST_NAME {
            return refuse(400, "tool_name_length", "string too long. Expected a string with maximum length 64");
        }
        let Some(arguments) = field("arguments") else {
            return refuse(400, "arguments_type", "function.arguments must be a string");
        };
        if self.profile.parses_arguments() && serde_json::from_str::<Map<String, Value>>(arguments).is_err() {
            let status = if self.profile == Profile::LlamaCpp { 500 } else { 400 };
            return refuse(status, "arguments_json", "invalid tool call arguments");
        }
        self.call_id(call)
    }

    fn call_id(&self, call: &'a Value) -> Result<&'a str, Violation> {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() || id.chars().count() > LONGEST_ID {
            return refuse(400, "call_id_length", "tool_calls.id: string too long, maximum length 40");
        }
        let nine = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self.profile == Profile::Mistral && !nine {
            let message = "Tool call id was not of the form a-z, A-Z, 0-9, with a length of 9.";
            return refuse(400, "call_id_format", message);
        }
        if self.seen.contains(id) {
            return refuse(400, "duplicate_call_id", "duplicate tool_call id");
        }
        Ok(id)
    }

    /// Recorded reasoning: demanded by some servers on turns with calls, refused by others on any.
    fn reasoning(&self, fields: &Map<String, Value>) -> Result<(), Violation> {
        let reasoning = fields.get("reasoning_content");
        match self.profile {
            profile if profile.wants_reasoning() && !self.open.is_empty() => {
                match reasoning.and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
                    Some(_) => Ok(()),
                    None => refuse(
                        400,
                        "reasoning_content",
                        "The `reasoning_content` in the thinking mode must be passed back to the API.",
                    ),
                }
            }
            Profile::OpenAi | Profile::OpenAiReasoning | Profile::Mistral if reasoning.is_some() => {
                let status = if self.profile == Profile::Mistral { 422 } else { 400 };
                refuse(status, "unknown_message_field", "Extra inputs are not permitted: reasoning_content")
            }
            _ => Ok(()),
        }
    }

    /// Who may follow whom.
    fn order(&self, at: usize, role: &str) -> Result<(), Violation> {
        let previous = self.previous.unwrap_or_default();
        match self.profile {
            Profile::Mistral if previous == "tool" && !matches!(role, "assistant" | "tool") => {
                let message = format!("Unexpected role '{role}' after role 'tool'");
                Err(Violation::new(400, "user_after_tool", message).code(MISTRAL_ORDER))
            }
            Profile::AlternatingTemplate => {
                let broken = match role {
                    "user" => matches!(previous, "user" | "tool"),
                    "assistant" => matches!(previous, "assistant" | "system" | ""),
                    "system" => at > 0,
                    _ => false,
                };
                match broken {
                    true => refuse(
                        500,
                        "alternation",
                        "Jinja Exception: conversation roles must alternate user and assistant",
                    ),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn end(&self) -> Result<(), Violation> {
        if !self.open.is_empty() {
            return refuse(400, "unanswered_call", UNANSWERED);
        }
        if self.previous == Some("assistant") && !self.profile.takes_final_assistant() {
            let message =
                "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
            return refuse(400, "last_assistant", message);
        }
        Ok(())
    }
}

const UNANSWERED: &str =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";

/// A system, developer or user message.
fn speaker(at: usize, fields: &Map<String, Value>) -> Result<(), Violation> {
    match fields.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => content_parts(at, parts),
        _ => refuse(400, "content_type", format!("Invalid type for messages[{at}].content: expected string, got null")),
    }
}

/// Every part has a type, and a text part its text.
fn content_parts(at: usize, parts: &[Value]) -> Result<(), Violation> {
    for part in parts {
        let sound = match part.get("type").and_then(Value::as_str) {
            Some("text") => part.get("text").is_some_and(Value::is_string),
            Some(_) => true,
            None => false,
        };
        if !sound {
            return refuse(400, "content_part", format!("Invalid part in messages[{at}].content"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::profile::{Dialect, Profile};
    use crate::route::Route;

    fn rule(messages: &Value, profile: Profile) -> &'static str {
        check(messages.as_array().unwrap(), profile).err().map_or("accepted", |violation| violation.rule)
    }

    #[test]
    fn shapes_that_no_vector_covers() {
        for (message, expected) in [
            (json!("text"), "message_type"),
            (json!({"role": "user", "content": [{"text": "x"}]}), "content_part"),
            (json!({"role": "user", "content": [{"type": "text", "text": "x"}]}), "accepted"),
            (json!({"role": "assistant", "content": 7}), "content_type"),
            (json!({"role": "assistant", "content": "x", "tool_calls": {}}), "tool_calls_type"),
            (json!({"role": "assistant", "content": "x", "tool_calls": [7]}), "tool_name"),
            (json!({"role": "assistant", "content": "x", "tool_calls": null}), "accepted"),
        ] {
            assert_eq!(rule(&json!([message]), Profile::OpenAi), expected, "{message}");
        }
    }

    #[test]
    fn a_call_at_the_end_is_unanswered() {
        let call = json!({"id": "call00001", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let messages = json!([{"role": "assistant", "content": null, "tool_calls": [call]}]);
        assert_eq!(rule(&messages, Profile::OpenAi), "unanswered_call");
    }

    #[test]
    fn a_template_that_alternates_refuses_two_users_and_a_late_system_message() {
        let user = json!({"role": "user", "content": "x"});
        let system = json!({"role": "system", "content": "x"});
        assert_eq!(rule(&json!([user, user]), Profile::AlternatingTemplate), "alternation");
        assert_eq!(rule(&json!([user, system]), Profile::AlternatingTemplate), "alternation");
        assert_eq!(rule(&json!([system, user]), Profile::AlternatingTemplate), "accepted");
        assert_eq!(rule(&json!([user, user, system]), Profile::OpenAi), "accepted");
    }

    #[test]
    fn mistral_gives_its_order_code_and_envelope() {
        let call = json!({"id": "call00001", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let messages = json!([
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call00001", "content": "x"},
            {"role": "user", "content": "x"},
        ]);
        let violation = check(messages.as_array().unwrap(), Profile::Mistral).unwrap_err();
        assert_eq!(violation.rule, "user_after_tool");
        let body = violation.body(Dialect::new(Route::Chat, Profile::Mistral));
        assert_eq!(body["type"], "invalid_request_message_order");
        assert_eq!(body["code"], "3230");
    }
}
