//! What chat completions servers refuse.

use std::collections::HashSet;

use serde_json::Value;

use super::json::{self, Fields};
use super::{
    Broken, CallIdRule, EmptyToolsRule, EndRule, OrderRule, ParameterRule, ReasoningRule, RoleRule, Rules,
    SamplingRule, TextRule, names,
};

const OPENAI: &[&str] = &[
    "model",
    "messages",
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
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
const MISTRAL: &[&str] = &[
    "model",
    "messages",
    "temperature",
    "top_p",
    "max_tokens",
    "stream",
    "stop",
    "random_seed",
    "metadata",
    "response_format",
    "tools",
    "tool_choice",
    "presence_penalty",
    "frequency_penalty",
    "n",
    "prediction",
    "parallel_tool_calls",
    "prompt_mode",
    "prompt_cache_key",
    "reasoning_effort",
    "guardrails",
    "safe_prompt",
    "service_tier",
];
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn check(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    if json::text(body, "model").is_none_or(str::is_empty) {
        return Broken::err("model", "there is no model");
    }
    let Some(messages @ [_, ..]) = json::list(body, "messages") else {
        return Broken::err("messages_empty", "there are no messages");
    };
    parameters(rules, body)?;
    let mut talk = Talk { rules, open: Vec::new(), seen: HashSet::new(), before: None };
    for (index, message) in messages.iter().enumerate() {
        talk.add(index, json::object(message, "role", || format!("messages[{index}]"))?)?;
    }
    talk.end()
}

fn parameters(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    let place = || "the body".to_owned();
    match rules.parameters {
        ParameterRule::OpenAi => json::only(body, OPENAI, "unknown_param", place)?,
        ParameterRule::Mistral => json::only(body, MISTRAL, "unknown_param", place)?,
        ParameterRule::OfRoute | ParameterRule::Codex => {}
    }
    if rules.sampling == SamplingRule::Fixed {
        if body.contains_key("max_tokens") {
            return Broken::err("max_tokens_name", "max_tokens is called max_completion_tokens here");
        }
        if body.get("temperature").is_some_and(|temperature| temperature.as_f64() != Some(1.0)) {
            return Broken::err("temperature", "only the default temperature is taken");
        }
    }
    let tools = body.get("tools");
    let no_tools = tools.and_then(Value::as_array).is_none_or(Vec::is_empty);
    if tools.is_some() && no_tools && rules.empty_tools == EmptyToolsRule::Refused {
        return Broken::err("tools_empty", "tools is an empty list");
    }
    if body.contains_key("tool_choice") && no_tools {
        return Broken::err("tool_choice_alone", "tool_choice stands without tools");
    }
    Ok(())
}

/// The conversation so far.
struct Talk<'b> {
    rules: &'b Rules,
    /// Ids that still wait for a result.
    open: Vec<&'b str>,
    /// Ids of all calls.
    seen: HashSet<&'b str>,
    before: Option<&'b str>,
}

impl<'b> Talk<'b> {
    fn add(&mut self, index: usize, message: &'b Fields) -> Result<(), Broken> {
        let role = json::text(message, "role").unwrap_or_default();
        if !ROLES.contains(&role) || (role == "developer" && self.rules.developer == RoleRule::Refused) {
            return Broken::err("role", format!("messages[{index}] has the unknown role \"{}\"", role.escape_debug()));
        }
        if role != "tool" && !self.open.is_empty() {
            return Broken::err(
                "unanswered_call",
                format!("messages[{index}] comes before the results of {:?}", self.open),
            );
        }
        match role {
            "tool" => self.result(index, message)?,
            "assistant" => self.assistant(index, message)?,
            _ => content(index, message)?,
        }
        self.order(index, role)?;
        self.before = Some(role);
        Ok(())
    }

    fn result(&mut self, index: usize, message: &Fields) -> Result<(), Broken> {
        let id = json::text(message, "tool_call_id");
        let Some(at) = self.open.iter().position(|open| Some(*open) == id) else {
            return Broken::err("orphan_tool", format!("messages[{index}] answers no open call"));
        };
        self.open.remove(at);
        match message.get("content") {
            Some(Value::String(_) | Value::Array(_)) => Ok(()),
            _ => Broken::err("content_type", format!("messages[{index}].content is no text")),
        }
    }

    fn assistant(&mut self, index: usize, message: &'b Fields) -> Result<(), Broken> {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let is_empty = calls.is_none_or(Vec::is_empty);
        if is_empty && message.get("content").is_none_or(Value::is_null) {
            return Broken::err("assistant_empty", format!("messages[{index}] has neither content nor calls"));
        }
        if calls.is_some() && is_empty {
            return Broken::err("tool_calls_empty", format!("messages[{index}].tool_calls is an empty list"));
        }
        for call in calls.into_iter().flatten() {
            self.call(index, call)?;
        }
        match self.rules.reasoning_content {
            ReasoningRule::Required if !is_empty && !json::says_something(message, "reasoning_content") => {
                Broken::err("reasoning_content", format!("messages[{index}] has calls and no reasoning_content"))
            }
            ReasoningRule::Refused if message.contains_key("reasoning_content") => {
                Broken::err("unknown_message_field", format!("messages[{index}].reasoning_content is not known here"))
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, index: usize, call: &'b Value) -> Result<(), Broken> {
        let place = || format!("a call of messages[{index}]");
        let call = json::object(call, "call_type", place)?;
        if call.get("type").is_some_and(|kind| kind != "function") {
            return Broken::err("call_type", format!("{} is not of the type function", place()));
        }
        let function = call.get("function").and_then(Value::as_object);
        let name = function.and_then(|function| json::text(function, "name")).unwrap_or_default();
        if !names::is_plain(name) {
            return Broken::err("tool_name", format!("{} has the name \"{}\"", place(), name.escape_debug()));
        }
        if name.len() > 64 {
            return Broken::err("tool_name_length", format!("{} has a name of more than 64 characters", place()));
        }
        let Some(arguments) = function.and_then(|function| json::text(function, "arguments")) else {
            return Broken::err("arguments_type", format!("{} has arguments that are no text", place()));
        };
        if self.rules.arguments == TextRule::Object && serde_json::from_str::<Fields>(arguments).is_err() {
            return Broken::err("arguments_json", format!("{} has arguments that are no JSON object", place()));
        }
        let id = json::text(call, "id").unwrap_or_default();
        if id.is_empty() || id.chars().count() > 40 {
            return Broken::err("call_id_length", format!("{} has an id outside 1 to 40 characters", place()));
        }
        if self.rules.call_ids == CallIdRule::Nine && !names::is_nine(id) {
            return Broken::err("call_id_format", format!("{} has an id that is not nine letters and digits", place()));
        }
        if !self.seen.insert(id) {
            return Broken::err("duplicate_call_id", format!("{} has the id of another call", place()));
        }
        self.open.push(id);
        Ok(())
    }

    fn order(&self, index: usize, role: &str) -> Result<(), Broken> {
        match self.rules.order {
            OrderRule::NoUserAfterTool if self.before == Some("tool") && !matches!(role, "assistant" | "tool") => {
                Broken::err("user_after_tool", format!("messages[{index}] follows a result and is no assistant's"))
            }
            OrderRule::Alternating => {
                let is_right = match role {
                    "user" => !matches!(self.before, Some("user" | "tool")),
                    "assistant" => matches!(self.before, Some("user" | "tool")),
                    "system" => index == 0,
                    _ => true,
                };
                if is_right {
                    Ok(())
                } else {
                    Broken::err("alternation", format!("messages[{index}]: user and assistant have to take turns"))
                }
            }
            OrderRule::NoUserAfterTool | OrderRule::Free => Ok(()),
        }
    }

    fn end(self) -> Result<(), Broken> {
        if !self.open.is_empty() {
            return Broken::err("unanswered_call", format!("the results of {:?} are missing", self.open));
        }
        if self.rules.end == EndRule::NotAssistant && self.before == Some("assistant") {
            return Broken::err("last_assistant", "the last message is the assistant's");
        }
        Ok(())
    }
}

fn content(index: usize, message: &Fields) -> Result<(), Broken> {
    match message.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => Ok(()),
        _ => Broken::err("content_type", format!("messages[{index}].content is no text")),
    }
}
