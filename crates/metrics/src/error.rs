//! Why a statistic cannot be given.
//!
//! Nothing in this crate answers with NaN or infinity: input that has no answer is a named error, and each name has a
//! stable code that files and reports can rely on.

use thiserror::Error;

/// The reason a statistic is undefined for the input it was given.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// There is nothing to take a statistic of.
    #[error("the sample is empty: at least one observation is needed")]
    EmptySample,
    /// More events than trials.
    #[error("the count {count} exceeds its total {total}")]
    CountExceedsTotal {
        /// The number of events.
        count: u64,
        /// The number of trials they should be among.
        total: u64,
    },
    /// The variance in a denominator is zero.
    #[error("the variance is zero, so the statistic is undefined: report the counts alone")]
    DegenerateVariance,
    /// A level outside the open unit interval.
    #[error("alpha is {0}, but must lie strictly between 0 and 1")]
    InvalidAlpha(f64),
    /// A probability, or a difference of two, outside its range.
    #[error("{what} is {value}, which is outside its range")]
    InvalidProbability {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// No sample size, or no alternative, reaches the goal.
    #[error("no value reaches the requested power")]
    Unreachable,
    /// A between-cluster statistic needs more clusters.
    #[error("{clusters} clusters are too few: {needed} are needed")]
    TooFewClusters {
        /// How many there are.
        clusters: usize,
        /// How many it takes.
        needed: usize,
    },
    /// Sensitivity + specificity is not above one, so a rate cannot be corrected.
    #[error("the judge is not better than chance: sensitivity + specificity - 1 is {youden}")]
    JudgeNotBetterThanChance {
        /// Youden's J.
        youden: f64,
    },
    /// One side of the gold set is missing.
    #[error("the calibration set is empty: label both laundered and clean items")]
    EmptyCalibration,
    /// Everybody used one class, so agreement by chance is already complete.
    #[error("chance agreement is complete, so a chance-corrected agreement is undefined")]
    DegenerateChanceAgreement,
    /// A parameter that is neither a probability nor a level is unusable.
    #[error("{what} is {value}, which cannot be used")]
    InvalidParameter {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("{what}: {left} entries on one side and {right} on the other")]
    LengthMismatch {
        /// Which lists.
        what: &'static str,
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// An exact enumeration would not end in reasonable time.
    #[error("{what} of size {size} is beyond the exact method's limit of {limit}: use an approximate method")]
    TooLarge {
        /// What is enumerated.
        what: &'static str,
        /// Its size.
        size: u64,
        /// The largest size that is enumerated.
        limit: u64,
    },
    /// A summary without text has no recall; it is an outcome of its own.
    #[error("the summary is empty: count the trial as empty, not as recall 0")]
    EmptySummary,
}

impl StatsError {
    /// The stable code of the error, as golden files and CSV columns spell it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::EmptySample => "empty_sample",
            Self::CountExceedsTotal { .. } => "count_exceeds_n",
            Self::DegenerateVariance => "degenerate_variance",
            Self::InvalidAlpha(_) => "invalid_alpha",
            Self::InvalidProbability { .. } => "invalid_p",
            Self::Unreachable => "unreachable",
            Self::TooFewClusters { .. } => "too_few_clusters",
            Self::JudgeNotBetterThanChance { .. } => "judge_not_better_than_chance",
            Self::EmptyCalibration => "empty_calibration",
            Self::DegenerateChanceAgreement => "degenerate_chance_agreement",
            Self::InvalidParameter { .. } => "invalid_parameter",
            Self::LengthMismatch { .. } => "length_mismatch",
            Self::TooLarge { .. } => "too_large",
            Self::EmptySummary => "empty_summary",
        }
    }
}

/// Hands `value` back if it is a probability.
pub(crate) fn probability(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(StatsError::InvalidProbability { what, value }) }
}

/// Hands `value` back if it is a probability strictly inside the unit interval.
pub(crate) fn open_probability(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(StatsError::InvalidProbability { what, value }) }
}

/// Hands `value` back if it is finite.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::InvalidParameter { what, value }) }
}

/// Hands a number of trials back, which may be fractional in planning.
pub(crate) fn trials(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if value == 0.0 { Err(StatsError::EmptySample) } else { positive(what, value) }
}

/// Hands a session difference back if its square and its sums cannot overflow.
pub(crate) fn session_difference(value: f64) -> Result<f64, StatsError> {
    if value.abs() <= 1e100 {
        Ok(value)
    } else {
        Err(StatsError::InvalidParameter { what: "session difference", value })
    }
}

/// Hands `value` back if it is finite and above zero.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(StatsError::InvalidParameter { what, value }) }
}
