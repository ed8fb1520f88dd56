//! The formats: one file and one row each.

use crate::reader::Reader;

mod adk_session;
mod agentdojo;
mod anthropic_messages;
mod atif;
mod canonical;
mod claude_code;
mod cline;
mod codex_rollout;
mod gemini_cli;
mod gemini_contents;
mod goose;
mod hermes;
mod inspect_eval;
mod langchain;
mod mini_swe_agent;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod otel_genai;
mod pi;
mod pydantic_ai;
mod sharegpt;
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
    &adk_session::AdkSession,
    &pydantic_ai::PydanticAi,
    &langchain::LangChain,
    &sharegpt::ShareGpt,
    &otel_genai::OtelGenAi,
    &gemini_contents::GeminiContents,
    &openai_responses::OpenAiResponses,
    &anthropic_messages::AnthropicMessages,
    &openai_chat::OpenAiChat,
];
