//! `flat-noroles`: flattened turns whose labels do not say who spoke: the least that a summarizer can
//! know about provenance.

use laundromat_session::MessageRole;

use super::flat::Written;
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    Written::of(from, &from.view.items).request(MessageRole::User)
}
