//! The formats: one file and one row each.

use crate::reader::Reader;

mod agentdojo;
mod atif;
mod canonical;
mod claude_code;
mod cline;
mod codex_rollout;
mod gemini_cli;
mod goose;
mod hermes;
mod inspect_eval;
mod mini_swe_agent;
mod openai_chat;
mod opencode;
mod openhands;
mod pi;
mod swe_agent;
mod tau_bench;

/// All formats, in the order in which equally sure ones are taken.
pub static FORMATS: &[&dyn Reader] = &[
    &canonical::Canonical,
    &claude_code::ClaudeCode,
    &cline::Cline,
    &codex_rollout::CodexRollout,
    &gemini_cli::GeminiCli,
    &goose::Goose,
    &hermes::Hermes,
    &opencode::OpenCode,
    &pi::Pi,
    &openhands::OpenHands,
    &swe_agent::SweAgent,
    &mini_swe_agent::MiniSweAgent,
    &tau_bench::TauBench,
    &agentdojo::AgentDojo,
    &inspect_eval::InspectEval,
    &atif::Atif,
    &openai_chat::OpenAiChat,
];
