//! `flat-split`: the same instructions in a system message, only the flattened turns in a user message.

use laundromat_session::MessageRole;

use super::flat::{Transcript, block};
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    block(from.view, Transcript::of(from.arm)).request(from, MessageRole::User)
}
