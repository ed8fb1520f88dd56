//! `flat-escaped`: flattened turns in markup that session text cannot write: all of it is escaped, or
//! the harness's own tags are.

use laundromat_session::MessageRole;

use super::flat::Written;
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    Written::of(from, &from.view.items).request(MessageRole::User)
}
