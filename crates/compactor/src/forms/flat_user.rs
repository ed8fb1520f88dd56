//! `flat-user`: instructions and flattened turns in one user message.

use laundromat_session::labels::STYLES;
use laundromat_session::{Message, MessageRole};

use super::flat::block;
use crate::arm::Arm;
use crate::prompt::Prompt;
use crate::request::Request;
use crate::view::{SEPARATOR, View};

pub(super) fn build(view: &View, arm: &Arm, prompt: &Prompt, structure: &str) -> Request {
    let (before, behind) = prompt.around_turns();
    let before = [prompt.preamble.as_str(), &prompt.task, before].join(SEPARATOR);
    let behind = format!("{behind}{SEPARATOR}{structure}");
    let (text, carried) = block(view, arm.labels.unwrap_or(&STYLES[0])).placed(&before, &behind, 0);
    Request { messages: vec![Message::text(MessageRole::User, text)], carried }
}
