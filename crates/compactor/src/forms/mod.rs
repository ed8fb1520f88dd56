//! Forms: how a view becomes messages. One file each; the choice is made here and nowhere else.

mod flat;
mod flat_split;
mod flat_user;
mod typed;

use crate::arm::Arm;
use crate::prompt::Prompt;
use crate::request::Request;
use crate::view::View;

pub use flat::{Block, block};

/// The shape of a summarizer request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Instructions and flattened turns in one user message.
    FlatUser,
    /// Instructions in a system message, flattened turns in a user message.
    FlatSplit,
    /// Instructions in a system message, turns in their roles, a final user message that points at them.
    Typed,
}

impl Form {
    /// Every form.
    pub const ALL: &'static [Self] = &[Self::FlatUser, Self::FlatSplit, Self::Typed];

    /// The identifier used in arm files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::FlatUser => "flat-user",
            Self::FlatSplit => "flat-split",
            Self::Typed => "typed",
        }
    }

    /// The form with this identifier.
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|form| form.id() == id)
    }

    /// Builds the request.
    pub(crate) fn build(self, view: &View, arm: &Arm, prompt: &Prompt, structure: &str) -> Request {
        match self {
            Self::FlatUser => flat_user::build(view, arm, prompt, structure),
            Self::FlatSplit => flat_split::build(view, arm, prompt, structure),
            Self::Typed => typed::build(view, arm, prompt, structure),
        }
    }
}
