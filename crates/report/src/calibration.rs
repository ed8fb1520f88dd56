//! A judge's error, measured on a gold set: the figures, the file they are kept in, and what may be made of them.
//!
//! * [`figures`]: sensitivity, specificity and agreement of one class or stratum;
//! * [`file`](mod@file): the calibration file, read and written;
//! * [`table`]: the figures in words; [`drift`]: whether a judge has moved since an earlier file;
//! * [`transport`]: whether a calibration is of the run's judge at all; [`corrected`]: rates corrected by it.
//!
//! *Laundered* is a gold label of `user` or `unattributed`: what counts towards a laundering rate. Intervals take items as
//! independent; several items share a statement, so they are rather too narrow than too wide.

pub mod corrected;
pub mod drift;
pub mod figures;
pub mod file;
pub mod rules;
pub mod table;
pub mod transport;

pub use figures::{Figures, Judged};
pub use file::{CalibrationFile, GoldInfo, JudgeInfo};
