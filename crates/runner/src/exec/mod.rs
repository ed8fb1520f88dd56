//! Exec arms: a harness's own compaction code, run unchanged as a command for each trial.
//!
//! * [`arm`]: the arm as data; [`alike`]: whether two of one harness differ in more than they declare;
//! * [`protocol`]: what goes to the program's standard input and comes back on its standard output;
//! * [`environment`] and [`process`]: what the program sees, and how it ends; [`checkout`]: git refs;
//! * [`sighting`]: where the plant stands in what it sent; [`summary`]: what is new in the context it gave back;
//!   [`bounded`]: the summarizer within the client's own bound on the reply;
//!   [`current`]: what that context makes of the request being answered;
//! * [`ending`]: the outcome, from all of that; [`programs`]: what the trials of a run share; [`trial`]: one of them.
//!
//! [`alone`] is the gateway without a run, for agents that are no arms.
//!
//! The program asks its summarizer through a gateway of `provider`; see `docs/exec-arms.md`.

pub(crate) mod alike;
pub mod alone;
pub mod arm;
mod bounded;
mod checkout;
mod current;
mod ending;
mod environment;
pub mod process;
pub(crate) mod programs;
pub mod protocol;
pub mod sighting;
mod summary;
pub(crate) mod trial;

pub use arm::ExecArm;
pub use sighting::{Planted, Seen};
