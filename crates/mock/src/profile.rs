//! Whose rules apply: the families of servers that speak the routes and differ in what they refuse.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::error::MockError;
use crate::route::Route;

/// A family of servers with the same rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Profile {
    /// OpenAI, models that take sampling parameters; chat and Responses.
    #[default]
    OpenAi,
    /// OpenAI, reasoning models; chat and Responses.
    OpenAiReasoning,
    /// A compatible server that takes `max_tokens` and any further field.
    GenericMaxTokens,
    /// Groq.
    Groq,
    /// Mistral: strict order, ids of nine characters, no unknown fields.
    Mistral,
    /// DeepSeek while thinking.
    DeepSeekThinkingOn,
    /// The same with thinking switched off.
    DeepSeekThinkingOff,
    /// Kimi while thinking: recorded reasoning is asked for as DeepSeek asks for it.
    Kimi,
    /// A local server whose chat template demands alternating roles.
    AlternatingTemplate,
    /// vLLM: parses argument strings.
    Vllm,
    /// llama.cpp: parses argument strings and answers 500 when the template refuses.
    LlamaCpp,
    /// Ollama's compatible route: what does not fit is cut off in silence, oldest first.
    Ollama,
    /// OpenRouter.
    OpenRouter,
    /// A gateway that wants tools declared when the history holds calls; chat and Anthropic.
    GatewayStubTools,
    /// The Responses route as Codex reaches it.
    CodexBackend,
    /// Anthropic, models that refuse to go on from an assistant turn. The request's header names the version.
    Anthropic,
    /// Anthropic, older models that go on from one.
    AnthropicPrefill,
    /// Gemini up to 2.x.
    Gemini2,
    /// Gemini 3: calls after the last user text carry a signature.
    Gemini3,
    /// Bedrock Converse.
    Converse,
}

/// Every profile with the names it goes by; the first is the canonical one.
pub const NAMES: &[(Profile, &[&str])] = &[
    (Profile::OpenAi, &["openai"]),
    (Profile::OpenAiReasoning, &["openai-reasoning"]),
    (Profile::GenericMaxTokens, &["generic-max-tokens", "generic", "together", "xai", "cerebras", "zai"]),
    (Profile::Groq, &["groq"]),
    (Profile::Mistral, &["mistral"]),
    (Profile::DeepSeekThinkingOn, &["deepseek-thinking-on", "deepseek-thinking"]),
    (Profile::DeepSeekThinkingOff, &["deepseek-thinking-off"]),
    (Profile::Kimi, &["kimi", "moonshot"]),
    (Profile::AlternatingTemplate, &["alternating-template", "alternating"]),
    (Profile::Vllm, &["vllm"]),
    (Profile::LlamaCpp, &["llamacpp", "llama.cpp"]),
    (Profile::Ollama, &["ollama"]),
    (Profile::OpenRouter, &["openrouter"]),
    (Profile::GatewayStubTools, &["gateway-stub-tools", "v2026-10-21-stub-tools"]),
    (Profile::CodexBackend, &["codex-backend"]),
    (Profile::Anthropic, &["anthropic", "v2023-06-01", "v2026-10-21", "v2026-10-21-thinking-off"]),
    (Profile::AnthropicPrefill, &["anthropic-prefill", "prefill-allowed"]),
    (Profile::Gemini2, &["gemini-2x", "gemini-placeholder"]),
    (Profile::Gemini3, &["gemini-3x", "gemini-3x-sentinel"]),
    (Profile::Converse, &["converse", "converse-stub-tools"]),
];

impl Profile {
    /// The canonical name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(profile, _)| *profile == self).map_or("", |(_, names)| names[0])
    }

    /// The profile that a server under this one shows on `route`: itself where it has rules for that route, else
    /// the route's plain one.
    pub fn on(self, route: Route) -> Self {
        let own = match self {
            Self::OpenAi | Self::OpenAiReasoning => matches!(route, Route::Chat | Route::Azure | Route::Responses),
            Self::CodexBackend => route == Route::Codex,
            Self::Anthropic | Self::AnthropicPrefill => route == Route::Anthropic,
            Self::Gemini2 | Self::Gemini3 => route == Route::Gemini,
            Self::Converse => route == Route::Converse,
            Self::GatewayStubTools => matches!(route, Route::Chat | Route::Azure | Route::Anthropic),
            _ => matches!(route, Route::Chat | Route::Azure),
        };
        match route {
            _ if own => self,
            Route::Chat | Route::Azure | Route::Responses => Self::OpenAi,
            Route::Codex => Self::CodexBackend,
            Route::Anthropic => Self::Anthropic,
            Route::Gemini => Self::Gemini2,
            Route::Converse => Self::Converse,
        }
    }

    /// Whether a request without a key is refused; local servers take any.
    pub(crate) fn wants_key(self) -> bool {
        !matches!(self, Self::Ollama | Self::AlternatingTemplate | Self::LlamaCpp | Self::Vllm)
    }

    /// Whether chat is served without `/v1` as well.
    pub(crate) fn serves_at_root(self) -> bool {
        matches!(self, Self::DeepSeekThinkingOn | Self::DeepSeekThinkingOff)
    }

    /// Whether the server reads argument strings as JSON before the model sees them.
    pub(crate) fn parses_arguments(self) -> bool {
        matches!(self, Self::Vllm | Self::LlamaCpp | Self::Ollama | Self::Mistral | Self::AlternatingTemplate)
    }

    /// Whether role `developer` exists.
    pub(crate) fn knows_developer(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiReasoning | Self::OpenRouter)
    }

    /// Whether recorded reasoning must come back with the calls that it led to.
    pub(crate) fn wants_reasoning(self) -> bool {
        matches!(self, Self::DeepSeekThinkingOn | Self::Kimi)
    }

    /// Whether a conversation may end with the assistant.
    pub(crate) fn takes_final_assistant(self) -> bool {
        !matches!(self, Self::Mistral | Self::AlternatingTemplate | Self::LlamaCpp | Self::DeepSeekThinkingOn)
    }
}

impl FromStr for Profile {
    type Err = MockError;

    /// Underscores do as well as hyphens.
    fn from_str(name: &str) -> Result<Self, MockError> {
        let wanted = name.replace('_', "-");
        NAMES.iter().find(|(_, names)| names.contains(&wanted.as_str())).map(|(profile, _)| *profile).ok_or_else(|| {
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

/// The version of the Anthropic API that a request names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// `2023-06-01`.
    #[default]
    V2023,
    /// `2026-10-21`: no sampling parameters.
    V2026,
}

impl Version {
    /// The version of that name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "2023-06-01" => Some(Self::V2023),
            "2026-10-21" => Some(Self::V2026),
            _ => None,
        }
    }
}

/// All that decides which rules and which error envelope a request meets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The wire shape.
    pub route: Route,
    /// The family of servers; one that has rules for the route.
    pub profile: Profile,
    /// The version, which only Anthropic has.
    pub version: Version,
}

impl Dialect {
    /// What a server under `profile` speaks on `route`.
    pub fn new(route: Route, profile: Profile) -> Self {
        Self { route, profile: profile.on(route), version: Version::default() }
    }

    /// The same under another version.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Profile};
    use crate::route::Route;

    #[test]
    fn every_name_leads_back_to_its_profile() {
        for (profile, names) in NAMES {
            assert_eq!(profile.name(), names[0]);
            for name in *names {
                assert_eq!(name.parse::<Profile>().unwrap(), *profile);
                assert_eq!(name.replace('-', "_").parse::<Profile>().unwrap(), *profile);
            }
        }
        let error = "gpt".parse::<Profile>().unwrap_err().to_string();
        assert!(error.contains("openai-reasoning"), "{error}");
    }

    #[test]
    fn a_profile_holds_on_its_routes_and_leaves_the_others_plain() {
        for (profile, _) in NAMES {
            assert!(Route::ALL.iter().any(|route| profile.on(*route) == *profile), "{profile}");
            for route in Route::ALL {
                assert_eq!(profile.on(*route).on(*route), profile.on(*route), "{profile} {}", route.name());
            }
        }
        assert_eq!(Profile::Mistral.on(Route::Gemini), Profile::Gemini2);
        assert_eq!(Profile::OpenAiReasoning.on(Route::Responses), Profile::OpenAiReasoning);
    }
}
