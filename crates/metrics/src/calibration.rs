//! Correcting a rate for the judge's errors, from a gold set: Rogan-Gladen, and prediction-powered inference.
//!
//! A judge that errs alike in both arms shrinks an effect and never creates one. Whether it errs alike is for the gold
//! set to show.

use crate::counts::{Alpha, Counts, Interval};
use crate::error::{StatsError, finite, probability};

/// A judge against the gold labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calibration {
    negatives: Counts,
    positives: Counts,
}

impl Calibration {
    /// `true_negatives` of the `m0` clean gold items and `true_positives` of the `m1` laundered ones were judged right.
    ///
    /// # Errors
    /// `empty_calibration` when a side has no item, `count_exceeds_n`.
    pub fn new(true_negatives: u64, m0: u64, true_positives: u64, m1: u64) -> Result<Self, StatsError> {
        let side = |right, items| match Counts::new(right, items) {
            Err(StatsError::EmptySample) => Err(StatsError::EmptyCalibration),
            other => other,
        };
        Ok(Self { negatives: side(true_negatives, m0)?, positives: side(true_positives, m1)? })
    }

    /// Sp, the share of clean items judged clean.
    #[must_use]
    pub fn specificity(&self) -> f64 {
        self.negatives.rate()
    }

    /// Se, the share of laundered items judged laundered.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        self.positives.rate()
    }
}

/// A rate corrected for the judge's errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The rate as judged.
    pub naive: f64,
    /// The corrected rate in [0, 1].
    pub theta: f64,
    /// Before clipping. Outside [0, 1] the calibration does not fit the campaign: warn.
    pub theta_unclipped: f64,
    /// Delta-method standard error.
    pub se_delta: f64,
    /// The adjusted interval. Degenerate (both limits 0, or both 1) when the unclipped rate is far outside.
    pub interval: Interval,
}

/// What the correction needs; the interval uses it a second time with shrunken numbers.
struct Corrected {
    theta: f64,
    variance: f64,
    from_specificity: f64,
    from_sensitivity: f64,
}

/// A proportion and what it is out of.
struct Share {
    p: f64,
    n: f64,
}

impl Share {
    fn variance(&self) -> f64 {
        self.p * (1.0 - self.p) / self.n
    }
}

fn correct(rate: &Share, specificity: &Share, sensitivity: &Share) -> Result<Corrected, StatsError> {
    let youden = youden(specificity.p, sensitivity.p)?;
    let theta = (rate.p + specificity.p - 1.0) / youden;
    let (from_specificity, from_sensitivity) = (specificity.variance(), sensitivity.variance());
    let variance = (rate.variance() + (1.0 - theta).powi(2) * from_specificity + theta.powi(2) * from_sensitivity)
        / (youden * youden);
    Ok(Corrected { theta, variance, from_specificity, from_sensitivity })
}

fn youden(specificity: f64, sensitivity: f64) -> Result<f64, StatsError> {
    let youden = sensitivity + specificity - 1.0;
    // A sum that is 1 on paper may be a hair above it here.
    if youden > 1e-12 { Ok(youden) } else { Err(StatsError::JudgeNotBetterThanChance { youden }) }
}

/// Rogan and Gladen's corrected rate, `(p + Sp - 1)/(Se + Sp - 1)` clipped to [0, 1].
///
/// Variance `[p(1-p)/n + (1-theta)^2 Sp(1-Sp)/m0 + theta^2 Se(1-Se)/m1] / (Se+Sp-1)^2`. The interval repeats this with p
/// shrunk by z^2/2 of z^2, Se and Sp by 1 of 2, and shifts its centre by
/// `2 z^2 [theta Se(1-Se)/m1 - (1-theta) Sp(1-Sp)/m0]`.
///
/// # Errors
/// `judge_not_better_than_chance` unless Se + Sp > 1.
///
/// Source: Rogan and Gladen (1978); interval of Lee et al. (2025), arXiv 2511.21140.
pub fn rogan_gladen(counts: Counts, judge: &Calibration, alpha: Alpha) -> Result<CorrectedRate, StatsError> {
    let exact = |c: Counts| Share { p: c.rate(), n: c.n() };
    let plain = correct(&exact(counts), &exact(judge.negatives), &exact(judge.positives))?;
    let z = alpha.critical_z();
    let shrunk = |c: Counts, extra: f64| Share { p: (c.x() + extra / 2.0) / (c.n() + extra), n: c.n() + extra };
    let adjusted = correct(&shrunk(counts, z * z), &shrunk(judge.negatives, 2.0), &shrunk(judge.positives, 2.0))?;
    let shift =
        2.0 * z * z * (adjusted.theta * adjusted.from_sensitivity - (1.0 - adjusted.theta) * adjusted.from_specificity);
    let (centre, half) = (adjusted.theta + shift, z * adjusted.variance.sqrt());
    Ok(CorrectedRate {
        naive: counts.rate(),
        theta: plain.theta.clamp(0.0, 1.0),
        theta_unclipped: plain.theta,
        se_delta: plain.variance.sqrt(),
        interval: Interval::clipped(centre - half, centre + half),
    })
}

/// The difference of two corrected rates when the judge errs alike in both arms: `(p1 - p2)/(Se + Sp - 1)`, not clipped.
///
/// # Errors
/// `invalid_p` for an argument outside [0, 1], `judge_not_better_than_chance` unless Se + Sp > 1.
///
/// Source: Rogan and Gladen (1978).
pub fn rogan_gladen_difference(p1: f64, p2: f64, specificity: f64, sensitivity: f64) -> Result<f64, StatsError> {
    let (p1, p2) = (probability("p1", p1)?, probability("p2", p2)?);
    let youden = youden(probability("specificity", specificity)?, probability("sensitivity", sensitivity)?)?;
    Ok((p1 - p2) / youden)
}

/// Gold labels with the judge's values for the same items, and the judge's values for the rest of the campaign.
#[derive(Debug, Clone, Copy)]
pub struct PpiData<'a> {
    gold: &'a [f64],
    judge_on_gold: &'a [f64],
    judge_unlabeled: &'a [f64],
}

impl<'a> PpiData<'a> {
    /// Checks and keeps the three lists.
    ///
    /// # Errors
    /// `empty_calibration` for no gold item, `empty_sample` for no other item, `length_mismatch` when the judge has not
    /// judged each gold item, `invalid_parameter` for a value that is not finite.
    pub fn new(gold: &'a [f64], judge_on_gold: &'a [f64], judge_unlabeled: &'a [f64]) -> Result<Self, StatsError> {
        if gold.is_empty() {
            return Err(StatsError::EmptyCalibration);
        }
        if gold.len() != judge_on_gold.len() {
            return Err(StatsError::LengthMismatch {
                what: "gold labels and judge values",
                left: gold.len(),
                right: judge_on_gold.len(),
            });
        }
        if judge_unlabeled.is_empty() {
            return Err(StatsError::EmptySample);
        }
        for value in gold.iter().chain(judge_on_gold).chain(judge_unlabeled) {
            finite("label", *value)?;
        }
        Ok(Self { gold, judge_on_gold, judge_unlabeled })
    }
}

/// A prediction-powered mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiMean {
    /// The estimate.
    pub theta: f64,
    /// Its standard error.
    pub se: f64,
    /// The normal interval, not clipped.
    pub interval: Interval,
}

/// The prediction-powered mean with weight `lambda` on the judge: `lambda mean(f_U) + mean(Y - lambda f_L)`, variance
/// `lambda^2 var(f_U)/N + var(Y - lambda f_L)/n`, variances over the number of items.
///
/// Preferable to [`rogan_gladen`] when the gold items are a random sample of the campaign itself.
///
/// # Errors
/// `invalid_parameter` unless lambda is finite.
///
/// Source: Angelopoulos et al. (2023).
pub fn ppi_mean(data: &PpiData<'_>, lambda: f64, alpha: Alpha) -> Result<PpiMean, StatsError> {
    let lambda = finite("lambda", lambda)?;
    let rectified: Vec<f64> = data.gold.iter().zip(data.judge_on_gold).map(|(y, f)| y - lambda * f).collect();
    let theta = lambda * mean(data.judge_unlabeled) + mean(&rectified);
    let variance = lambda * lambda * variance(data.judge_unlabeled) / data.judge_unlabeled.len() as f64
        + variance(&rectified) / rectified.len() as f64;
    let (theta, se) = (finite("estimate", theta)?, finite("standard error", variance.sqrt())?);
    let half = alpha.critical_z() * se;
    Ok(PpiMean { theta, se, interval: Interval { low: theta - half, high: theta + half } })
}

/// The weight that makes the prediction-powered mean most precise: `cov(Y, f_L) / ((1 + n/N) var(f))`, f over all items,
/// clipped to [0, 1].
///
/// # Errors
/// `degenerate_variance` when the judge gave all items one value, or there is only one gold item.
///
/// Source: Angelopoulos, Duchi and Zrnic (2023), PPI++.
pub fn ppi_lambda(data: &PpiData<'_>) -> Result<f64, StatsError> {
    let n = data.gold.len() as f64;
    let all: Vec<f64> = data.judge_on_gold.iter().chain(data.judge_unlabeled).copied().collect();
    let spread = variance(&all) * all.len() as f64 / (all.len() as f64 - 1.0);
    if data.gold.len() < 2 || spread <= 1e-300 {
        return Err(StatsError::DegenerateVariance);
    }
    let (y_mean, f_mean) = (mean(data.gold), mean(data.judge_on_gold));
    let covariance =
        data.gold.iter().zip(data.judge_on_gold).map(|(y, f)| (y - y_mean) * (f - f_mean)).sum::<f64>() / (n - 1.0);
    Ok((covariance / ((1.0 + n / data.judge_unlabeled.len() as f64) * spread)).clamp(0.0, 1.0))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance over the number of values.
fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_calibrations_are_named() {
        assert_eq!(Calibration::new(0, 0, 1, 2).map_err(|e| e.code()), Err("empty_calibration"));
        assert_eq!(Calibration::new(1, 2, 0, 0).map_err(|e| e.code()), Err("empty_calibration"));
        assert_eq!(Calibration::new(3, 2, 0, 1).map_err(|e| e.code()), Err("count_exceeds_n"));
        let coin = Calibration::new(3, 10, 7, 10).expect("valid");
        let counts = Counts::new(5, 10).expect("valid");
        let code = rogan_gladen(counts, &coin, Alpha::FIVE_PERCENT).map_err(|e| e.code());
        assert_eq!(code, Err("judge_not_better_than_chance"));
        assert_eq!(rogan_gladen_difference(0.5, 1.5, 0.9, 0.9).map_err(|e| e.code()), Err("invalid_p"));
    }

    #[test]
    fn prediction_powered_lists_must_fit() {
        let code = |a, b, c| PpiData::new(a, b, c).map(|_| ()).map_err(|e| e.code());
        assert_eq!(code(&[], &[], &[1.0]), Err("empty_calibration"));
        assert_eq!(code(&[1.0], &[1.0, 0.0], &[1.0]), Err("length_mismatch"));
        assert_eq!(code(&[1.0], &[1.0], &[]), Err("empty_sample"));
        assert_eq!(code(&[f64::NAN], &[1.0], &[1.0]), Err("invalid_parameter"));
        let flat = PpiData::new(&[1.0, 0.0], &[1.0, 1.0], &[1.0]).expect("fits");
        assert_eq!(ppi_lambda(&flat).map_err(|e| e.code()), Err("degenerate_variance"));
    }

    #[test]
    fn an_unfit_calibration_shows_in_the_unclipped_rate() {
        let judge = Calibration::new(40, 50, 50, 50).expect("valid");
        let c = rogan_gladen(Counts::new(14, 72).expect("valid"), &judge, Alpha::FIVE_PERCENT).expect("defined");
        assert!(c.theta == 0.0 && c.theta_unclipped < 0.0 && (c.interval.high - 0.161).abs() < 5e-4);
    }
}
