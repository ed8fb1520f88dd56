//! `clear-only`: no model is asked. The turns stay in their roles, and all tool results but the newest
//! make way for a placeholder.

use super::form::{Built, Material};
use super::turns::{Frame, Tools};

pub(super) fn build(from: Material<'_>) -> Built {
    Frame::new(from, Tools::Roles).own_system().turns().done()
}
