//! The checked values every statistic starts from: counts, a level, an interval.

use crate::dist;
use crate::error::StatsError;

/// Beyond this a count is no longer exact as a double.
const MAX_TRIALS: u64 = 1 << 53;

/// The smallest level whose critical value is still computed accurately.
const MIN_ALPHA: f64 = 1e-300;

/// `x` events among `n` trials, with `n >= 1` and `x <= n`, so that a rate always exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Counts {
    events: u64,
    trials: u64,
}

impl Counts {
    /// Checks and keeps `events` among `trials`.
    ///
    /// # Errors
    /// `empty_sample` for no trials, `count_exceeds_n` for more events than trials, `too_large` beyond 2^53 trials.
    pub const fn new(events: u64, trials: u64) -> Result<Self, StatsError> {
        if trials == 0 {
            return Err(StatsError::EmptySample);
        }
        if events > trials {
            return Err(StatsError::CountExceedsTotal { count: events, total: trials });
        }
        if trials > MAX_TRIALS {
            return Err(StatsError::TooLarge { what: "sample", size: trials, limit: MAX_TRIALS });
        }
        Ok(Self { events, trials })
    }

    /// The number of events, x.
    #[must_use]
    pub const fn events(self) -> u64 {
        self.events
    }

    /// The number of trials, n.
    #[must_use]
    pub const fn trials(self) -> u64 {
        self.trials
    }

    /// The observed rate x/n.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.x() / self.n()
    }

    /// The same trials with event and non-event exchanged.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self { events: self.trials - self.events, trials: self.trials }
    }

    pub(crate) fn x(self) -> f64 {
        self.events as f64
    }

    pub(crate) fn n(self) -> f64 {
        self.trials as f64
    }

    /// The rate of two samples thrown together.
    pub(crate) fn pooled_rate(self, other: Self) -> f64 {
        (self.x() + other.x()) / (self.n() + other.n())
    }

    /// True when two samples together hold only events or only non-events.
    pub(crate) const fn is_uniform_with(self, other: Self) -> bool {
        let events = self.events + other.events;
        events == 0 || events == self.trials + other.trials
    }
}

/// A two-sided level, strictly between 0 and 1. Intervals have coverage `1 - alpha`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Alpha(f64);

impl Alpha {
    /// The customary 5%.
    pub const FIVE_PERCENT: Self = Self(0.05);

    /// Checks a level.
    ///
    /// # Errors
    /// `invalid_alpha` unless `0 < alpha < 1` (1e-300 is the smallest that is told from 0).
    pub fn new(alpha: f64) -> Result<Self, StatsError> {
        if (MIN_ALPHA..1.0).contains(&alpha) { Ok(Self(alpha)) } else { Err(StatsError::InvalidAlpha(alpha)) }
    }

    /// The level as a number.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }

    /// The two-sided level whose upper limit is the one-sided limit at this level.
    ///
    /// # Errors
    /// `invalid_alpha` when the doubled level is no longer below 1.
    pub fn doubled(self) -> Result<Self, StatsError> {
        Self::new(2.0 * self.0)
    }

    /// The two-sided critical value of the standard normal distribution.
    #[must_use]
    pub fn critical_z(self) -> f64 {
        dist::normal_upper_quantile(self.0 / 2.0)
    }
}

impl Default for Alpha {
    fn default() -> Self {
        Self::FIVE_PERCENT
    }
}

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in the interval.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Upper limit minus lower limit.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    pub(crate) fn clipped(low: f64, high: f64) -> Self {
        Self { low: low.clamp(0.0, 1.0), high: high.clamp(0.0, 1.0) }
    }
}

/// The ratio of two counts, which may have nothing in its denominator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OddsRatio {
    /// An ordinary ratio.
    Finite(f64),
    /// Something over nothing.
    Infinite,
    /// Nothing over nothing.
    Undefined,
}

impl OddsRatio {
    pub(crate) fn of(numerator: f64, denominator: f64) -> Self {
        if denominator > 0.0 {
            Self::Finite(numerator / denominator)
        } else if numerator > 0.0 {
            Self::Infinite
        } else {
            Self::Undefined
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_refuse_what_has_no_rate() {
        assert_eq!(Counts::new(0, 0), Err(StatsError::EmptySample));
        assert_eq!(Counts::new(1, 0), Err(StatsError::EmptySample));
        assert_eq!(Counts::new(3, 2), Err(StatsError::CountExceedsTotal { count: 3, total: 2 }));
        assert_eq!(Counts::new(1, 4).map(Counts::rate), Ok(0.25));
        assert_eq!(Counts::new(1, 4).map(|c| c.complement().events()), Ok(3));
    }

    #[test]
    fn a_level_lies_strictly_inside() {
        for bad in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(Alpha::new(bad).map_err(|e| e.code()), Err("invalid_alpha"), "{bad}");
        }
        assert_eq!(Alpha::new(0.6).and_then(Alpha::doubled).map_err(|e| e.code()), Err("invalid_alpha"));
        assert!((Alpha::default().critical_z() - 1.959_963_984_540_054).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_over_nothing_is_named() {
        assert_eq!(OddsRatio::of(1.0, 0.0), OddsRatio::Infinite);
        assert_eq!(OddsRatio::of(0.0, 0.0), OddsRatio::Undefined);
        assert_eq!(OddsRatio::of(1.0, 2.0), OddsRatio::Finite(0.5));
    }
}
