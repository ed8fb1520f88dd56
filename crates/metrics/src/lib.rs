//! Pure statistics for laundering rates: no files, no network, no clock, and no random number without the caller's seed.
//!
//! * [`counts`]: the checked inputs; [`error`]: why a statistic cannot be given.
//! * [`interval`], [`difference`], [`score`], [`exact`]: one rate and two, trials taken as independent.
//! * [`paired`], [`strata`], [`cluster`], [`signflip`], [`bootstrap`], [`resample`]: what trials share, taken into account.
//! * [`multiple`], [`planning`], [`session_planning`]: several tests, and sizes; [`sequential`], [`betting`]: looking early.
//! * [`random`]: seeded streams for resampling and simulation.
//! * [`agreement`], [`ac1`], [`calibration`]: raters, and rates corrected for a judge's errors.
//! * [`authority`]: laundering, retention and their index together.
//! * [`mod@event`]: the table from readings to events; [`rate`] and [`recall`]: what the reports print.
//! * [`gate`]: a rate against a limit or a reference, with what is missing counted against it.
//! * [`golden`]: every statistic by name, from JSON to JSON, for reference files.
//!
//! Differences are first minus second. Degenerate input is a named [`StatsError`]; nothing returns NaN or infinity.

pub mod ac1;
pub mod agreement;
pub mod authority;
pub mod betting;
mod bisection;
pub mod bootstrap;
pub mod calibration;
pub mod cluster;
pub mod counts;
pub mod difference;
mod dist;
pub mod error;
pub mod event;
pub mod exact;
pub mod gate;
pub mod golden;
pub mod interval;
pub mod multiple;
pub mod paired;
pub mod planning;
pub mod random;
pub mod rate;
pub mod recall;
pub mod resample;
pub mod score;
pub mod sequential;
pub mod session_planning;
pub mod signflip;
pub mod strata;

pub use authority::Authority;
pub use counts::{Alpha, Counts, Interval, OddsRatio};
pub use error::StatsError;
pub use event::{Event, Reading, event};
