//! `typed-syshead`: the instructions in a system message, turns in their roles, and nothing behind
//! them: the model may go on with the conversation instead.

use super::form::{Built, Material};
use super::turns::{Frame, Tools};

pub(super) fn build(from: Material<'_>) -> Built {
    let prose = from.prose;
    let system = prose.join(&[&prose.all(), prose.previous()]);
    Frame::new(from, Tools::Roles).system(&system).turns().done()
}
