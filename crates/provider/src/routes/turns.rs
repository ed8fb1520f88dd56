//! A conversation as turns that alternate, each with blocks: what Anthropic and Bedrock share. Results
//! are blocks of their own kind in a user turn, before the person's words.

use laundromat_session::normal_form::is_blank;
use laundromat_session::{Message, MessageRole, SentCall};

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Assistant,
}

impl Side {
    pub(super) fn role(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A part of a turn.
pub(super) enum Block<'a> {
    Text(&'a str),
    Call(&'a SentCall),
    Result { id: &'a str, text: &'a str },
}

/// A turn.
pub(super) struct Turn<'a> {
    pub(super) side: Side,
    pub(super) blocks: Vec<Block<'a>>,
}

/// The turns of the conversation, instructions left out.
pub(super) fn of(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        let text = Block::Text(&message.text);
        match message.role {
            MessageRole::System => {}
            MessageRole::User => add(&mut turns, Side::User, text),
            MessageRole::Assistant => {
                if !is_blank(&message.text) || message.calls.is_empty() {
                    add(&mut turns, Side::Assistant, text);
                }
                for call in &message.calls {
                    add(&mut turns, Side::Assistant, Block::Call(call));
                }
            }
            MessageRole::Tool => {
                let id = message.call_id.as_deref().unwrap_or_default();
                add(&mut turns, Side::User, Block::Result { id, text: &message.text });
            }
        }
    }
    turns
}

fn add<'a>(turns: &mut Vec<Turn<'a>>, side: Side, block: Block<'a>) {
    match turns.last_mut() {
        Some(last) if last.side == side => last.blocks.push(block),
        _ => turns.push(Turn { side, blocks: vec![block] }),
    }
}
