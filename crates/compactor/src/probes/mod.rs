//! Questions about an arm that need no model: what becomes of turns, secrets, marks and requests.
//!
//! Each probe is one file with a pure function and a typed result; [`Probe::run`] asks one by its name.
//! A new probe is a file here and a variant of [`Probe`].

pub mod conservation;
pub mod constraint;
pub mod control_markers;
pub mod current_request;
pub mod exposure;
pub mod incomplete_summary;
pub mod pair_integrity;
mod probe;
pub mod prompt_hole;
pub mod redaction_leak;
pub mod role_gain;
mod rounds;
mod stage;

pub use probe::{Finding, Probe, Verdict};
pub use stage::{session, tool_loop, turns_and_request};
