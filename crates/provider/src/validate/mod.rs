//! What a destination would refuse, found before anything is sent. The rules are those of the wire
//! reference; the code is apart from the mock's, so that one checks the other.

mod anthropic;
mod bedrock_converse;
mod broken;
mod chat_completions;
mod gemini;
mod json;
mod names;
mod request;
mod responses;
mod rules;

pub use broken::Broken;
pub use request::{body, headers, request};
pub use rules::Rules;
pub(crate) use rules::{
    AuthRule, CallIdRule, EmptyToolsRule, EndRule, OrderRule, ParameterRule, ReasoningRule, RoleRule, SamplingRule,
    SignatureRule, TextRule, VersionRule,
};
