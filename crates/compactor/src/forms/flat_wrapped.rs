//! `flat-wrapped`: flattened turns between two tags. The tags are not escaped in the turns, so a tool
//! can close them.

use laundromat_session::MessageRole;

use super::flat::Written;
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    Written::of(from, &from.view.items).request(MessageRole::User)
}
