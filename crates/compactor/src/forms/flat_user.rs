//! `flat-user`: instructions and flattened turns in one user message.

use laundromat_session::MessageRole;

use super::flat::Written;
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    Written::of(from, &from.view.items).request(MessageRole::User)
}
