//! What every route makes a body of.

use laundromat_session::Message;
use serde_json::{Map, Value};

use super::{anthropic, bedrock_converse, chat_completions, gemini, responses};
use crate::policy::Policy;
use crate::route::Route;

/// What a body is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<'a> {
    /// The model's name, for routes that have it in the body.
    pub(crate) model: &'a str,
    /// The conversation.
    pub(crate) messages: &'a [Message],
    /// What the destination wants of it.
    pub(crate) policy: &'a Policy,
    /// Settings in the destination's words.
    pub(crate) fields: &'a Map<String, Value>,
}

/// The body's bytes.
pub(crate) fn write(route: Route, shape: &Shape<'_>) -> Vec<u8> {
    let size: usize = shape.messages.iter().map(|message| message.text.len() + 128).sum();
    let mut bytes = Vec::with_capacity(size + size / 8);
    let written = match route {
        Route::ChatCompletions => serde_json::to_writer(&mut bytes, &chat_completions::wire(shape)),
        Route::Responses => serde_json::to_writer(&mut bytes, &responses::wire(shape)),
        Route::Anthropic => serde_json::to_writer(&mut bytes, &anthropic::wire(shape)),
        Route::Gemini => serde_json::to_writer(&mut bytes, &gemini::wire(shape)),
        Route::BedrockConverse => serde_json::to_writer(&mut bytes, &bedrock_converse::wire(shape)),
    };
    // Writing text to memory cannot fail.
    written.unwrap_or_default();
    bytes
}
