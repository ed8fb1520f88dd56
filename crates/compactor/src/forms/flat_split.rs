//! `flat-split`: the same instructions in a system message, only the flattened turns in a user message.

use laundromat_session::labels::STYLES;
use laundromat_session::{Message, MessageRole};

use super::flat::block;
use crate::arm::Arm;
use crate::prompt::Prompt;
use crate::request::Request;
use crate::view::{SEPARATOR, View};

pub(super) fn build(view: &View, arm: &Arm, prompt: &Prompt, structure: &str) -> Request {
    let system = [prompt.preamble.as_str(), &prompt.task, structure].join(SEPARATOR);
    let (before, behind) = prompt.around_turns();
    let (text, carried) = block(view, arm.labels.unwrap_or(&STYLES[0])).placed(before, behind, 1);
    Request {
        messages: vec![Message::text(MessageRole::System, system), Message::text(MessageRole::User, text)],
        carried,
    }
}
