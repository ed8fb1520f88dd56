//! The only SQL of a run: one SQLite file with the manifest, every call and every trial.
//!
//! * [`manifest`]: what was planned and frozen; [`rows`]: calls and trials as rows;
//! * `observed`: what the programs of exec arms did;
//! * [`writer`]: appending in group commits; [`reader`]: reading a run back for reports and resume.
//!
//! It may use `session` and nothing else of laundromat. Another kind of record is one struct in
//! [`rows`], one table in `schema.sql` and one arm of [`writer::Write`].

pub mod error;
pub mod manifest;
mod observed;
pub mod reader;
pub mod rows;
pub mod writer;

pub use error::StoreError;
pub use manifest::{
    ArmInfo, Asks, AttackInfo, Manifest, PrimaryContrast, SessionInfo, SummarizerInfo, SummarizerKind, TemplateInfo,
    TurnsOf,
};
pub use reader::Run;
pub use rows::{Call, CallKey, Captured, Cell, Observed, Returned, Spent, Trial, TrialId};
pub use writer::{Store, Write};
