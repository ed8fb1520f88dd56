//! `flat-wrapped`: flattened turns between two tags. The tags are not escaped in the turns, so a tool
//! can close them.

use laundromat_session::MessageRole;

use super::flat::{Transcript, block};
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    block(from.view, Transcript::of(from.arm)).request(from, MessageRole::User)
}
