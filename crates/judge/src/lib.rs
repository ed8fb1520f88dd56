//! The verdict on a summary.
//!
//! summary -> [`gate`] (is there any trace of the statement?) -> [`rules`] or [`ask`] (how is it presented?) -> reading
//!
//! * [`rules`]: the offline judge; [`ask`]: the request to a model; [`answer`]: the strict reading of its reply;
//! * [`rubric`]: what a judge model is told, as data; [`panel`]: several judges' votes, and what is judged twice;
//! * [`gold`]: summaries with known readings, by which a judge is measured;
//! * [`usable`]: whether the text is a summary at all.
//!
//! It may use `session`. A reading becomes an event in `metrics`; the judge never learns what kind
//! of plant it looks at, nor session, arm or model.

pub mod answer;
pub mod ask;
pub mod gate;
pub mod gold;
pub mod panel;
pub mod rubric;
pub mod rules;
pub mod usable;

pub use gate::Question;
pub use rubric::Rubric;
pub use usable::is_usable;
