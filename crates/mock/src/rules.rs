//! What a chat-completions request is refused for. Pure: a body and a profile in, the first violation out.
//!
//! The ids are those of the wire notes. The order of the checks is part of the behaviour: a body with two
//! faults is refused for the one that real servers look at first.

mod conversation;

use serde_json::{Map, Value};

use crate::profile::Profile;
use crate::violation::Violation;

/// The fields OpenAI knows.
const OPENAI_FIELDS: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// The fields Mistral knows.
const MISTRAL_FIELDS: &[&str] = &[
    "frequency_penalty",
    "guardrails",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_mode",
    "random_seed",
    "reasoning_effort",
    "response_format",
    "safe_prompt",
    "service_tier",
    "stop",
    "stream",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
];

/// Checks a request's body.
///
/// # Errors
/// The first rule that the body breaks under `profile`.
pub fn check(body: &Value, profile: Profile) -> Result<(), Violation> {
    let Some(fields) = body.as_object() else {
        return refuse(400, "body_type", "the request body must be a JSON object");
    };
    if fields.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return refuse(400, "model", "you must provide a model parameter");
    }
    let messages = match fields.get("messages").and_then(Value::as_array) {
        Some(messages) if !messages.is_empty() => messages,
        _ => return refuse(400, "messages_empty", "[] is too short - 'messages'"),
    };
    unknown_fields(fields, profile)?;
    sampling(fields, profile)?;
    tools(fields, profile)?;
    conversation::check(messages, profile)?;
    output_cap(fields)
}

/// Checks the `Authorization` header: `expected` is the key the script asks for.
///
/// # Errors
/// Rule `auth` when the key is missing where the profile wants one, or is another one.
pub fn check_key(header: Option<&str>, expected: &str, profile: Profile) -> Result<(), Violation> {
    if !profile.wants_key() {
        return Ok(());
    }
    match header.and_then(|value| value.strip_prefix("Bearer ")) {
        None | Some("") => refuse(401, "auth", "missing credentials"),
        Some(key) if key != expected => {
            Err(Violation::new(401, "auth", "Incorrect API key provided.").code("invalid_api_key"))
        }
        Some(_) => Ok(()),
    }
}

fn refuse<T>(status: u16, rule: &'static str, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(status, rule, message))
}

fn unknown_fields(fields: &Map<String, Value>, profile: Profile) -> Result<(), Violation> {
    let unknown = |known: &[&str]| fields.keys().find(|key| !known.contains(&key.as_str()));
    match profile {
        Profile::OpenAi | Profile::OpenAiReasoning => match unknown(OPENAI_FIELDS) {
            Some(key) => refuse(400, "unknown_param", format!("Unrecognized request argument supplied: {key}")),
            None => Ok(()),
        },
        Profile::Mistral => match unknown(MISTRAL_FIELDS) {
            Some(key) => refuse(422, "unknown_param", format!("Extra inputs are not permitted: {key}")),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn sampling(fields: &Map<String, Value>, profile: Profile) -> Result<(), Violation> {
    if profile != Profile::OpenAiReasoning {
        return Ok(());
    }
    if fields.contains_key("max_tokens") {
        return refuse(
            400,
            "max_tokens_name",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
    }
    if fields.get("temperature").is_some_and(|value| value.as_f64() != Some(1.0)) {
        let message = "Unsupported value: 'temperature' does not support this value with this model. \
                       Only the default (1) value is supported.";
        return Err(Violation::new(400, "temperature", message).param("temperature").code("unsupported_value"));
    }
    Ok(())
}

fn output_cap(fields: &Map<String, Value>) -> Result<(), Violation> {
    for name in ["max_tokens", "max_completion_tokens"] {
        if let Some(value) = fields.get(name).filter(|value| !value.is_null())
            && value.as_u64().is_none_or(|cap| cap == 0)
        {
            return refuse(400, "max_tokens_value", format!("Invalid '{name}': expected an integer of at least 1"));
        }
    }
    Ok(())
}

fn tools(fields: &Map<String, Value>, profile: Profile) -> Result<(), Violation> {
    let declared = match fields.get("tools") {
        Some(Value::Array(tools)) => !tools.is_empty(),
        Some(Value::Null) | None => false,
        Some(_) => true,
    };
    if fields.contains_key("tools") && !declared && profile != Profile::Ollama {
        return refuse(400, "tools_empty", "[] is too short - 'tools'");
    }
    if fields.contains_key("tool_choice") && !declared {
        return refuse(400, "tool_choice_alone", "'tool_choice' is only allowed when 'tools' are specified.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{check, check_key};
    use crate::profile::Profile;

    fn rule(body: &Value, profile: Profile) -> &'static str {
        check(body, profile).err().map_or("accepted", |violation| violation.rule)
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
        body[field] = value;
        body
    }

    #[test]
    fn fields_of_the_body_that_no_vector_covers() {
        assert_eq!(rule(&json!([]), Profile::OpenAi), "body_type");
        assert_eq!(rule(&with("max_completion_tokens", json!(0)), Profile::OpenAi), "max_tokens_value");
        assert_eq!(rule(&with("max_completion_tokens", json!(64)), Profile::OpenAi), "accepted");
        assert_eq!(rule(&with("tool_choice", json!("none")), Profile::Vllm), "tool_choice_alone");
        assert_eq!(rule(&with("tools", json!([])), Profile::Ollama), "accepted");
        assert_eq!(rule(&with("top_k", json!(5)), Profile::Vllm), "accepted");
    }

    #[test]
    fn a_reasoning_model_takes_only_the_default_temperature_and_says_so_by_code() {
        assert_eq!(rule(&with("temperature", json!(1.0)), Profile::OpenAiReasoning), "accepted");
        let refused = check(&with("temperature", json!(0)), Profile::OpenAiReasoning).unwrap_err();
        assert_eq!((refused.rule, refused.code), ("temperature", Some("unsupported_value")));
    }

    #[test]
    fn keys() {
        let refused = |header| check_key(header, "k", Profile::OpenAi).unwrap_err();
        assert_eq!(refused(None).code, None);
        assert_eq!(refused(Some("Basic k")).code, None);
        assert_eq!(refused(Some("Bearer other")).code, Some("invalid_api_key"));
        assert_eq!(check_key(Some("Bearer k"), "k", Profile::OpenAi), Ok(()));
        assert_eq!(check_key(None, "k", Profile::Vllm), Ok(()));
    }
}
