//! `typed-toolasuser`: turns in their roles, but calls are text of the assistant's and results are text
//! of the user's. It looks typed on the wire and has no border around tool output.

use laundromat_session::MessageRole;
use laundromat_session::labels::STYLES;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};
use crate::axes::Instructions;

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let pointer = from.arm.pointer.as_deref().unwrap_or_default();
    let labels = from.arm.labels.unwrap_or(&STYLES[0]);
    let (system, last) = match from.arm.instructions {
        Instructions::UserTail => (String::new(), prose.join(&[prose.previous(), &prose.all(), pointer])),
        Instructions::SystemUserTail => {
            (prose.preamble.to_owned(), prose.join(&[prose.previous(), prose.task, &prose.structure, pointer]))
        }
        _ => (prose.all(), prose.join(&[prose.previous(), pointer])),
    };
    Frame::new(from, Tools::AsText(labels)).system(&system).turns().last(MessageRole::User, &last)
}
