//! The options of a request vector: a destination's wishes written out one by one.

use serde::Deserialize;
use serde_json::{Map, Number, Value};

use crate::policy::{AfterTool, Neighbours, NoContent, Policy, Presence, Tools};
use crate::profile::Profile;
use crate::route::Route;
use crate::settings::{Settings, overlay, place};

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    pub(super) model: String,
    max_tokens: Option<u64>,
    temperature: Option<Number>,
    seed: Option<u64>,
    max_tokens_field: Option<String>,
    seed_field: Option<String>,
    system_role: Option<String>,
    merge_consecutive: bool,
    bridge_after_tool: bool,
    null_content: Option<NullContent>,
    tool_result_name: bool,
    reasoning_placeholder: Option<String>,
    stub_tools: bool,
    signature: Option<String>,
    ids: bool,
    after_tool: Option<After>,
    thinking: Option<Value>,
    extra: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NullContent {
    Null,
    EmptyString,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum After {
    Placeholder,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: "MODEL".to_owned(),
            max_tokens: None,
            temperature: None,
            seed: None,
            max_tokens_field: None,
            seed_field: None,
            system_role: None,
            merge_consecutive: false,
            bridge_after_tool: false,
            null_content: None,
            tool_result_name: false,
            reasoning_placeholder: None,
            stub_tools: false,
            signature: None,
            ids: false,
            after_tool: None,
            thinking: None,
            extra: Map::new(),
        }
    }
}

impl Options {
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        Self::deserialize(value).map_err(|error| format!("the options cannot be read: {error}"))
    }

    /// What the options want of a conversation. Instructions for requests without any are the profile's
    /// affair: options have no word for them, and every vector has instructions.
    pub(super) fn policy(&self, profile: &Profile) -> Policy {
        let sent = |is_sent: bool| if is_sent { Presence::Sent } else { Presence::Omitted };
        let is_bridged = self.bridge_after_tool || matches!(self.after_tool, Some(After::Placeholder));
        Policy {
            neighbours: if self.merge_consecutive { Neighbours::Merged } else { Neighbours::Apart },
            after_tool: if is_bridged { AfterTool::Bridge } else { AfterTool::Direct },
            no_content: match self.null_content {
                Some(NullContent::EmptyString) => NoContent::EmptyText,
                Some(NullContent::Null) | None => NoContent::Null,
            },
            result_name: sent(self.tool_result_name),
            call_ids: sent(self.ids),
            tools: if self.stub_tools { Tools::Stubs } else { Tools::None },
            system_role: self.system_role.clone(),
            default_system: profile.policy.default_system.clone(),
            reasoning: self.reasoning_placeholder.clone(),
            signature: self.signature.clone(),
        }
    }

    /// The fields that the options put into a body of `route`.
    pub(super) fn fields(&self, route: Route) -> Map<String, Value> {
        let (max_tokens, temperature, seed) = match route {
            Route::ChatCompletions => (
                self.max_tokens_field.as_deref().unwrap_or("max_completion_tokens"),
                "temperature",
                Some(self.seed_field.as_deref().unwrap_or("seed")),
            ),
            Route::Responses => ("max_output_tokens", "temperature", None),
            Route::Anthropic => ("max_tokens", "temperature", None),
            Route::Gemini => {
                ("generationConfig.maxOutputTokens", "generationConfig.temperature", Some("generationConfig.seed"))
            }
            Route::BedrockConverse => ("inferenceConfig.maxTokens", "inferenceConfig.temperature", None),
        };
        let mut fields = Map::new();
        let values = [
            (Some(max_tokens), self.max_tokens.map(Value::from)),
            (Some(temperature), self.temperature.clone().map(Value::Number)),
            (seed, self.seed.map(Value::from)),
        ];
        for (field, value) in values {
            if let (Some(field), Some(value)) = (field, value) {
                place(&mut fields, field, value);
            }
        }
        if route == Route::Responses {
            fields.insert("store".to_owned(), Value::Bool(false));
        }
        overlay(&mut fields, &self.parameters());
        fields
    }

    /// The options as an experiment would write them.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            max_tokens: self.max_tokens,
            temperature: self.temperature.clone(),
            seed: self.seed,
            effort: None,
            parameters: self.parameters(),
        }
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = self.extra.clone();
        if let Some(thinking) = &self.thinking {
            place(&mut parameters, "generationConfig.thinkingConfig", thinking.clone());
        }
        parameters
    }
}
