//! What harnesses do to a session before they summarize it, without a model: tiers in a fixed order, each
//! one file, each with a typed statement of the turns that it changed.
//!
//! A tier changes no session: it notes edits by turn in a [`Pruning`], so that turns keep their numbers
//! and what is left of their texts keeps its origin.

mod clamp;
mod clear;
mod data;
mod demote;
mod pruning;
mod stub;

pub use clamp::Clamp;
pub use clear::ClearResults;
pub(crate) use data::tiers;
pub use data::{Tier, Tiers};
pub use demote::Demote;
pub use pruning::{Change, Cut, Pruning};
pub use stub::{Stub, Stubs};
