//! `tools-dropped`: turns in their roles without calls and results. What a tool printed is not sent, so
//! that a plant there is not exposed, which is not the same as safe.

use laundromat_session::MessageRole;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};
use crate::axes::Instructions;

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let pointer = from.arm.pointer.as_deref().unwrap_or_default();
    let frame = Frame::new(from, Tools::Dropped);
    match from.arm.instructions {
        Instructions::SystemTail => {
            frame.turns().last(MessageRole::System, &prose.join(&[prose.previous(), &prose.all()]))
        }
        Instructions::UserTail => {
            frame.turns().last(MessageRole::User, &prose.join(&[prose.previous(), &prose.all(), pointer]))
        }
        Instructions::SystemUserTail => {
            let last = prose.join(&[prose.previous(), prose.task, &prose.structure, pointer]);
            frame.system(prose.preamble).turns().last(MessageRole::User, &last)
        }
        _ => frame.system(&prose.all()).turns().last(MessageRole::User, &prose.join(&[prose.previous(), pointer])),
    }
}
