//! `typed-self`: the agent summarizes itself. Its own system prompt stays, the turns stand in their
//! roles, and the instructions are one more user message.

use laundromat_session::MessageRole;

use super::form::{Built, Material};
use super::turns::{Frame, Tools};

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let last = prose.join(&[prose.previous(), &prose.all()]);
    Frame::new(from, Tools::Roles).own_system().turns().last(MessageRole::User, &last)
}
