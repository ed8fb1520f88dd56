//! The ground that every other crate of laundromat stands on: the types they all share.
//!
//! * [`turn`]: a session as typed turns; [`canonical`]: the same on disk; [`counts`]: what it holds.
//! * [`normal_form`]: one conversation that every route accepts; [`message`]: what is sent.
//! * [`labels`]: how harnesses mark turns in flattened text, the only place with label text.
//! * [`plant`]: what was planted, where, and how much of it was sent.
//! * [`verdict`]: what became of a trial.
//! * [`identifiers`]: the names whose recall is measured; [`tokens`]: estimates.
//! * [`seed`]: seeded choices.
//! * [`fault`], [`fields`], [`json_fields`], [`holes`] and [`utf8`]: faults of files, each with its place.
//!
//! It knows no other crate, does no I/O and starts no thread. A type goes here when two crates
//! need it; a new label style is one row of [`labels::STYLES`].

pub mod canonical;
pub mod counts;
pub mod fault;
pub mod fields;
pub mod holes;
pub mod identifiers;
pub mod json_fields;
pub mod labels;
pub mod message;
pub mod normal_form;
pub mod plant;
pub mod seed;
pub mod tokens;
pub mod turn;
pub mod utf8;
pub mod verdict;

pub use counts::Counts;
pub use fault::{Fault, Place};
pub use message::{Message, MessageRole, SentCall};
pub use plant::{CapClass, Exposure, KeptEnds, PartSpan, Plant, PlantKind};
pub use turn::{Call, Part, Role, Session, Source, Turn};
pub use verdict::{CurrentRequest, Outcome, Reading};
