//! Whose rules apply: the families of servers that speak chat completions and differ in what they refuse.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::error::MockError;

/// A family of servers with the same rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Profile {
    /// OpenAI, models that take sampling parameters.
    #[default]
    OpenAi,
    /// OpenAI, reasoning models.
    OpenAiReasoning,
    /// A compatible server that takes `max_tokens` and any further field.
    GenericMaxTokens,
    /// Mistral: strict order, ids of nine characters, no unknown fields.
    Mistral,
    /// DeepSeek or Kimi while thinking.
    DeepSeekThinkingOn,
    /// The same with thinking switched off.
    DeepSeekThinkingOff,
    /// A local server whose chat template demands alternating roles.
    AlternatingTemplate,
    /// vLLM: parses argument strings.
    Vllm,
    /// llama.cpp: parses argument strings and answers 500 when the template refuses.
    LlamaCpp,
    /// Ollama's compatible route.
    Ollama,
    /// OpenRouter.
    OpenRouter,
    /// A gateway that wants tools declared when the history holds calls.
    GatewayStubTools,
}

/// Every profile with the names it goes by; the first is the canonical one.
pub const NAMES: &[(Profile, &[&str])] = &[
    (Profile::OpenAi, &["openai"]),
    (Profile::OpenAiReasoning, &["openai-reasoning"]),
    (Profile::GenericMaxTokens, &["generic-max-tokens", "generic"]),
    (Profile::Mistral, &["mistral"]),
    (Profile::DeepSeekThinkingOn, &["deepseek-thinking-on", "deepseek-thinking"]),
    (Profile::DeepSeekThinkingOff, &["deepseek-thinking-off"]),
    (Profile::AlternatingTemplate, &["alternating-template", "alternating"]),
    (Profile::Vllm, &["vllm"]),
    (Profile::LlamaCpp, &["llamacpp", "llama.cpp"]),
    (Profile::Ollama, &["ollama"]),
    (Profile::OpenRouter, &["openrouter"]),
    (Profile::GatewayStubTools, &["gateway-stub-tools"]),
];

impl Profile {
    /// The canonical name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(profile, _)| *profile == self).map_or("", |(_, names)| names[0])
    }

    /// Whether a request without a key is refused; local servers take any.
    pub(crate) fn wants_key(self) -> bool {
        !matches!(self, Self::Ollama | Self::AlternatingTemplate | Self::LlamaCpp | Self::Vllm)
    }

    /// Whether the server reads argument strings as JSON before the model sees them.
    pub(crate) fn parses_arguments(self) -> bool {
        matches!(self, Self::Vllm | Self::LlamaCpp | Self::Ollama | Self::Mistral | Self::AlternatingTemplate)
    }

    /// Whether role `developer` exists.
    pub(crate) fn knows_developer(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiReasoning | Self::OpenRouter)
    }

    /// Whether a conversation may end with the assistant.
    pub(crate) fn takes_final_assistant(self) -> bool {
        !matches!(self, Self::Mistral | Self::AlternatingTemplate | Self::LlamaCpp | Self::DeepSeekThinkingOn)
    }
}

impl FromStr for Profile {
    type Err = MockError;

    fn from_str(name: &str) -> Result<Self, MockError> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(profile, _)| *profile).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
            let problem = format!("unknown profile \"{name}\", known are {}", known.join(", "));
            MockError::script("profile", problem, "use one of these")
        })
    }
}

impl TryFrom<String> for Profile {
    type Error = MockError;

    fn try_from(name: String) -> Result<Self, MockError> {
        name.parse()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Profile};

    #[test]
    fn every_name_leads_back_to_its_profile() {
        for (profile, names) in NAMES {
            assert_eq!(profile.name(), names[0]);
            for name in *names {
                assert_eq!(name.parse::<Profile>().unwrap(), *profile);
            }
        }
        let error = "gpt".parse::<Profile>().unwrap_err().to_string();
        assert!(error.contains("openai-reasoning"), "{error}");
    }
}
