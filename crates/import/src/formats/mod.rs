//! The formats: one file and one row each.

use crate::reader::Reader;

mod canonical;
mod claude_code;
mod openai_chat;

/// All formats, in the order in which equally sure ones are taken.
pub static FORMATS: &[&dyn Reader] = &[&canonical::Canonical, &claude_code::ClaudeCode, &openai_chat::OpenAiChat];
