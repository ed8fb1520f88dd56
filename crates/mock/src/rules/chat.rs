//! What a chat-completions request is refused for, beside its messages.

use serde_json::{Map, Value};

use super::{conversation, refuse, unknown_field};
use crate::profile::{Dialect, Profile};
use crate::route::Route;
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

pub(super) fn check(fields: &Map<String, Value>, dialect: Dialect) -> Result<(), Violation> {
    let profile = dialect.profile;
    // An Azure deployment is named by the path.
    if dialect.route != Route::Azure && fields.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return refuse(400, "model", "you must provide a model parameter");
    }
    let messages = match fields.get("messages").and_then(Value::as_array) {
        Some(messages) if !messages.is_empty() => messages,
        _ => return refuse(400, "messages_empty", "[] is too short - 'messages'"),
    };
    unknown_fields(fields, profile)?;
    sampling(fields, profile)?;
    let declared = tools(fields, profile)?;
    let history = conversation::check(messages, profile)?;
    if profile == Profile::GatewayStubTools && history == conversation::History::WithCalls && !declared {
        return refuse(400, "tools_undeclared", "the history holds tool calls, but no 'tools' are declared");
    }
    output_cap(fields)
}

fn unknown_fields(fields: &Map<String, Value>, profile: Profile) -> Result<(), Violation> {
    let (status, known, message) = match profile {
        Profile::OpenAi | Profile::OpenAiReasoning => (400, OPENAI_FIELDS, "Unrecognized request argument supplied: "),
        Profile::Mistral => (422, MISTRAL_FIELDS, "Extra inputs are not permitted: "),
        _ => return Ok(()),
    };
    match unknown_field(fields, known) {
        Some(key) => refuse(status, "unknown_param", format!("{message}{key}")),
        None => Ok(()),
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

/// Whether tools are declared.
fn tools(fields: &Map<String, Value>, profile: Profile) -> Result<bool, Violation> {
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
    Ok(declared)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::{Dialect, Profile};
    use crate::route::Route;
    use crate::rules::check;

    fn on(route: Route, body: &Value, profile: Profile) -> &'static str {
        check(body, Dialect::new(route, profile)).err().map_or("accepted", |violation| violation.rule)
    }

    fn rule(body: &Value, profile: Profile) -> &'static str {
        on(Route::Chat, body, profile)
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
        let dialect = Dialect::new(Route::Chat, Profile::OpenAiReasoning);
        let refused = check(&with("temperature", json!(0)), dialect).unwrap_err();
        assert_eq!((refused.rule, refused.code), ("temperature", Some("unsupported_value")));
    }

    #[test]
    fn an_azure_deployment_needs_no_model_in_the_body() {
        let body = json!({"messages": [{"role": "user", "content": "x"}]});
        assert_eq!(on(Route::Azure, &body, Profile::OpenAi), "accepted");
        assert_eq!(on(Route::Chat, &body, Profile::OpenAi), "model");
    }

    #[test]
    fn a_gateway_wants_the_tools_of_the_history_declared() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let mut body = with(
            "messages",
            json!([
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "x"},
            ]),
        );
        assert_eq!(rule(&body, Profile::GatewayStubTools), "tools_undeclared");
        assert_eq!(rule(&body, Profile::GenericMaxTokens), "accepted");
        body["tools"] = json!([{"type": "function", "function": {"name": "f"}}]);
        assert_eq!(rule(&body, Profile::GatewayStubTools), "accepted");
        assert_eq!(rule(&with("temperature", json!(0)), Profile::GatewayStubTools), "accepted");
    }
}
