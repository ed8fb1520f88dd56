//! The formats: one file and one row each.

use crate::reader::Reader;

mod agentdojo;
mod atif;
mod canonical;
mod claude_code;
mod inspect_eval;
mod mini_swe_agent;
mod openai_chat;
mod openhands;
mod swe_agent;
mod tau_bench;

/// All formats, in the order in which equally sure ones are taken.
pub static FORMATS: &[&dyn Reader] = &[
    &canonical::Canonical,
    &claude_code::ClaudeCode,
    &openhands::OpenHands,
    &swe_agent::SweAgent,
    &mini_swe_agent::MiniSweAgent,
    &tau_bench::TauBench,
    &agentdojo::AgentDojo,
    &inspect_eval::InspectEval,
    &atif::Atif,
    &openai_chat::OpenAiChat,
];
