//! What a destination wants of a conversation beyond its route's syntax. Every switch is data: a
//! profile sets it, and a wire vector may set it differently.

use serde::Deserialize;

/// How a conversation is fitted to its final destination. The default asks for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Neighbouring turns of one role (chat completions).
    pub neighbours: Neighbours,
    /// A person's words directly after a result.
    pub after_tool: AfterTool,
    /// The content of a message that has none (chat completions).
    pub no_content: NoContent,
    /// The tool's name beside its result (chat completions).
    pub result_name: Presence,
    /// The ids of calls and results (Gemini, which pairs them by place).
    pub call_ids: Presence,
    /// Declarations of the tools that the conversation used.
    pub tools: Tools,
    /// The role of instructions where it is not `system` (chat completions).
    pub system_role: Option<String>,
    /// Instructions for requests that have none.
    pub default_system: Option<String>,
    /// What stands for the reasoning behind recorded calls (chat completions).
    pub reasoning: Option<String>,
    /// What stands for the signature of a turn's first call (Gemini).
    pub signature: Option<String>,
}

/// What becomes of neighbouring turns of one role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// They stay apart.
    #[default]
    Apart,
    /// They become one, a blank line between them.
    Merged,
}

/// What stands between a result and a person's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterTool {
    /// Nothing.
    #[default]
    Direct,
    /// An assistant turn with a fixed text.
    Bridge,
}

/// How no content is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoContent {
    /// `null`.
    #[default]
    Null,
    /// `""`.
    EmptyText,
}

/// Whether an optional field is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// Left out.
    #[default]
    Omitted,
    /// Sent.
    Sent,
}

/// Which tools are declared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tools {
    /// None. (Bedrock cannot do without and always gets stubs.)
    #[default]
    None,
    /// One without parameters for each name used, and the word that none may be called.
    Stubs,
}
