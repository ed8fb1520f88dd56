//! `typed`: turns in their own roles. Tool text goes out only as a tool result, harness rows as
//! assistant text, and the last message is a user message that points at what stands before it.

use laundromat_session::MessageRole;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};
use crate::axes::Instructions;

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let pointer = from.arm.pointer.as_deref().unwrap_or_default();
    let (system, last) = match from.arm.instructions {
        Instructions::SystemUserTail => {
            (prose.preamble.to_owned(), prose.join(&[prose.previous(), pointer, prose.task, &prose.structure]))
        }
        _ => (prose.all(), prose.join(&[prose.previous(), pointer])),
    };
    Frame::new(from, Tools::Roles).system(&system).turns().last(MessageRole::User, &last)
}
