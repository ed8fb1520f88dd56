//! From an experiment file to stored trials. The runner walks each trial along the one way through
//! laundromat: import, inject, compact, send, judge, store.
//!
//! experiment file -> [`experiment`] -> [`inputs`] -> [`plan`] -> [`run`] -> store
//!
//! * [`build`]: one session's cells, made on rayon; `desk`: asking, once; [`score`]: from a reply to a trial's row;
//! * [`exec`]: arms that are a harness's own program, run once a trial;
//! * [`rejudge`]: another judge over a run's stored replies;
//! * [`keeper`]: the store behind the call log, with group commits; [`events`]: what a terminal may show.
//!
//! It may use every crate below it and starts nothing on its own. A new key of the experiment file
//! goes to [`experiment`], a new kind of progress to [`events`].

pub mod build;
mod desk;
pub mod error;
pub mod events;
pub mod exec;
pub mod experiment;
pub mod inputs;
pub mod keeper;
pub mod plan;
pub mod rejudge;
pub mod run;
pub mod score;

pub use error::RunError;
pub use events::{Event, Finished};
pub use experiment::Experiment;
pub use inputs::Inputs;
pub use plan::{Estimate, Plan};
pub use rejudge::rejudge;
pub use run::{Growth, Options, run};
