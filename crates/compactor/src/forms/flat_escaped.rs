//! `flat-escaped`: flattened turns in markup that session text cannot write: all of it is escaped, or
//! the harness's own tags are.

use laundromat_session::MessageRole;

use super::flat::{Transcript, block};
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    block(from.view, Transcript::of(from.arm)).request(from, MessageRole::User)
}
