//! `typed-systail`: turns in their roles, then the instructions in a final system message.

use laundromat_session::MessageRole;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let last = prose.join(&[prose.previous(), &prose.all()]);
    Frame::new(from, Tools::Roles).turns().last(MessageRole::System, &last)
}
