//! What tells the destinations of one route apart. The default is the least that all of them refuse.

use serde::Deserialize;

/// The rules of a destination beyond those of its route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rules {
    pub(crate) auth: AuthRule,
    pub(crate) parameters: ParameterRule,
    pub(crate) sampling: SamplingRule,
    pub(crate) arguments: TextRule,
    pub(crate) call_ids: CallIdRule,
    pub(crate) order: OrderRule,
    pub(crate) end: EndRule,
    pub(crate) reasoning_content: ReasoningRule,
    pub(crate) developer: RoleRule,
    pub(crate) empty_tools: EmptyToolsRule,
    pub(crate) version: Option<VersionRule>,
    pub(crate) signature: SignatureRule,
}

impl Rules {
    /// What the destination refuses beyond its route, one fragment each.
    pub fn refusals(&self) -> Vec<&'static str> {
        let refusals = [
            (self.parameters == ParameterRule::OpenAi, "fields it does not know"),
            (self.parameters == ParameterRule::Mistral, "fields it does not know"),
            (self.parameters == ParameterRule::Codex, "most fields; `store` and `stream` other than false and true"),
            (self.sampling == SamplingRule::Fixed, "a temperature"),
            (self.version == Some(VersionRule::V2026), "sampling fields"),
            (self.arguments == TextRule::Object, "arguments that are no JSON object"),
            (self.call_ids == CallIdRule::Nine, "call ids that are not nine letters and digits"),
            (self.order == OrderRule::NoUserAfterTool, "a user turn after a result"),
            (self.order == OrderRule::Alternating, "user and assistant out of turn"),
            (self.end == EndRule::NotAssistant, "a final assistant turn"),
            (self.reasoning_content == ReasoningRule::Required, "calls without `reasoning_content`"),
            (self.reasoning_content == ReasoningRule::Refused, "`reasoning_content`"),
            (self.signature == SignatureRule::Checked, "unsigned calls behind the last user text"),
        ];
        refusals.into_iter().filter(|(is_refused, _)| *is_refused).map(|(_, words)| words).collect()
    }
}

/// Whether a request needs credentials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AuthRule {
    #[default]
    Required,
    Optional,
}

/// Which top-level fields are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ParameterRule {
    /// Whatever the route has; on chat completions anything.
    #[default]
    OfRoute,
    #[serde(rename = "openai")]
    OpenAi,
    Mistral,
    Codex,
}

/// Whether a temperature and the old name of the cap are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SamplingRule {
    #[default]
    Free,
    /// As OpenAI's reasoning models have it.
    Fixed,
}

/// What the arguments of a call have to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TextRule {
    /// Any text.
    #[default]
    Any,
    /// The text of a JSON object, since the server parses it.
    Object,
}

/// What the id of a call has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallIdRule {
    /// Up to 40 characters.
    #[default]
    Short,
    /// Nine letters and digits.
    Nine,
}

/// Which turns may follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderRule {
    #[default]
    Free,
    NoUserAfterTool,
    Alternating,
}

/// What a conversation may end with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EndRule {
    /// What the route's own rules say.
    #[default]
    OfRoute,
    NotAssistant,
    /// With an assistant turn that the model goes on with.
    Prefill,
}

/// Whether an assistant turn has reasoning beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReasoningRule {
    #[default]
    Free,
    /// Where it has calls, it must.
    Required,
    /// It must not.
    Refused,
}

/// Whether the role `developer` is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RoleRule {
    #[default]
    Refused,
    Taken,
}

/// Whether an empty list of tools is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EmptyToolsRule {
    #[default]
    Refused,
    Taken,
}

/// A version of the Anthropic API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum VersionRule {
    #[serde(rename = "2023-06-01")]
    V2023,
    #[serde(rename = "2026-10-21")]
    V2026,
}

/// Whether calls after the last words of a person need a signature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SignatureRule {
    #[default]
    Free,
    Checked,
}
