//! `flat-noroles`: flattened turns whose labels do not say who spoke: the least that a summarizer can
//! know about provenance.

use laundromat_session::MessageRole;

use super::flat::{Transcript, block};
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    block(from.view, Transcript::of(from.arm)).request(from, MessageRole::User)
}
