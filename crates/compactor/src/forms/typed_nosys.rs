//! `typed-nosys`: turns in their roles and the instructions in a final user message; no system message.

use laundromat_session::MessageRole;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let last = prose.join(&[prose.previous(), &prose.all()]);
    Frame::new(from, Tools::Roles).turns().last(MessageRole::User, &last)
}
