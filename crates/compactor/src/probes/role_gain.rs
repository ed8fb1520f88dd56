//! Does the summary come back with more authority than what it was made of? A claim that stood in a tool
//! result gains the role of the message that the summary is put in.

use laundromat_session::Role;

use super::probe::Verdict;
use super::stage::placed;
use crate::axes::Placement;
use crate::compactor::Compactor;

/// The role that a tool's claim has afterwards; `None` where the arm does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleGain {
    /// The role.
    pub to: Option<Role>,
    /// Whether a frame says where the text is from.
    pub is_framed: bool,
}

/// Looks where the summary goes.
pub fn probe(compactor: &Compactor) -> RoleGain {
    let after = compactor.arm().after.as_ref();
    RoleGain { to: after.map(placed), is_framed: after.is_some_and(|after| after.placement == Placement::FramedUser) }
}

impl RoleGain {
    pub(super) fn told(&self) -> (Verdict, String) {
        let Some(to) = &self.to else { return (Verdict::NotKnown, "the arm has no [after]".to_owned()) };
        let frame = if self.is_framed { ", in a frame" } else { "" };
        (Verdict::broken_if(*to == Role::System), format!("tool -> {}{frame}", to.as_str()))
    }
}
