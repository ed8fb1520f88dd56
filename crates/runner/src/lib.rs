//! From an experiment file to stored trials. The runner walks each trial along the one way through
//! laundromat: import, inject, compact, send, judge, store.
//!
//! experiment file -> [`experiment`] -> [`inputs`] -> [`plan`] -> [`run`] -> store -> [`record`]
//!
//! * [`build`]: one session's cells, made on rayon; `desk`: asking, once; [`score`]: from a reply to a trial's row;
//! * [`identity`]: what decides the trials of an experiment; [`advice`]: what a plan cannot answer;
//! * [`walk`]: arms that ask several times, or make something of the reply; [`in_place`]: arms that ask nobody;
//! * [`supplied`]: real prompts in place of paraphrases; [`turns`]: whose turn plants are in for a model;
//! * `ledger`: what calls cost and the budget; [`forecast`]: what they will cost;
//! * [`exec`]: arms that are a harness's own program, run once a trial;
//! * [`classes`]: what of an arm decides what a plant is to it;
//! * [`doctor`]: whether the models can be asked, before a run asks them;
//! * [`audit`](mod@audit): second looks by a run's own judge; [`panel`](mod@panel): the majority of several judges' runs;
//! * [`rejudge`]: another judge over a run's stored replies; [`calibrate`](mod@calibrate): a judge over a gold set;
//! * [`keeper`]: the store behind the call log, with group commits; [`events`]: what a terminal may show.
//!
//! It may use every crate below it and starts nothing on its own. A new key of the experiment file
//! goes to [`experiment`], one of a model to `model_table`, a new kind of progress to [`events`].

pub mod advice;
mod arm_files;
mod asker;
pub mod audit;
pub mod build;
pub mod calibrate;
pub mod classes;
mod desk;
pub mod doctor;
pub mod error;
pub mod events;
pub mod exec;
pub mod experiment;
pub mod forecast;
pub mod identity;
pub mod in_place;
pub mod inputs;
pub mod keeper;
mod ledger;
mod model_table;
pub mod panel;
pub mod plan;
pub mod record;
pub mod rejudge;
pub mod run;
pub mod score;
pub mod supplied;
pub mod turns;
pub mod walk;

pub use advice::advice;
pub use audit::audit;
pub use calibrate::{Calibrated, Rated, calibrate};
pub use error::RunError;
pub use events::{Event, Finished};
pub use experiment::Experiment;
pub use forecast::{Forecast, forecast};
pub use inputs::Inputs;
pub use panel::panel;
pub use plan::{Estimate, Plan};
pub use record::{may_record, record};
pub use rejudge::rejudge;
pub use run::{Growth, Options, run};
