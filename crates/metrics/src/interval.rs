//! Intervals for one rate.
//!
//! Wilson is the default of the reports: it holds its coverage at small n and at rates near 0 and 1, where laundering
//! rates live. The others are here to compare with published tables.

use crate::counts::{Alpha, Counts, Interval};
use crate::dist::{beta_quantile, beta_upper_quantile};
use crate::error::{StatsError, positive};

/// The most trials for which the incomplete beta function behind the exact intervals still converges.
const MAX_BETA_TRIALS: u64 = 10_000_000;

/// Wilson's score interval.
///
/// `centre = (p + z^2/2n) / (1 + z^2/n)`, `half = z/(1 + z^2/n) * sqrt(p(1-p)/n + z^2/4n^2)`; the limit is exactly 0 at
/// x = 0 and exactly 1 at x = n. Always within [0, 1] and never empty, so it has no error of its own.
///
/// Source: Wilson (1927).
#[must_use]
pub fn wilson(counts: Counts, alpha: Alpha) -> Interval {
    let mut interval = wilson_at(counts.rate(), counts.n(), alpha.critical_z());
    if counts.events() == 0 {
        interval.low = 0.0;
    }
    if counts.events() == counts.trials() {
        interval.high = 1.0;
    }
    interval
}

fn wilson_at(p: f64, n: f64, z: f64) -> Interval {
    // The formula above times n, which stays finite for an effective size near 0.
    let scale = n + z * z;
    let centre = (n * p + z * z / 2.0) / scale;
    let half = z * (n * p * (1.0 - p) + z * z / 4.0).sqrt() / scale;
    Interval::clipped(centre - half, centre + half)
}

/// A Wilson interval on an effective sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveInterval {
    /// n divided by the design effect.
    pub n_eff: f64,
    /// The interval at that size.
    pub interval: Interval,
}

/// Wilson's interval with n replaced by `n / max(1, deff)`, the rate unchanged: the single-arm interval under clustering.
///
/// A design effect below 1 is taken as 1, because a handful of sessions cannot establish that clustering helps.
///
/// # Errors
/// `invalid_parameter` unless the design effect is finite and not negative.
///
/// Source: Korn and Graubard (1998), with Wilson in place of Clopper-Pearson.
pub fn wilson_effective_n(counts: Counts, deff: f64, alpha: Alpha) -> Result<EffectiveInterval, StatsError> {
    if !deff.is_finite() || deff < 0.0 {
        return Err(StatsError::InvalidParameter { what: "design effect", value: deff });
    }
    let n_eff = counts.n() / deff.max(1.0);
    let mut interval = wilson_at(counts.rate(), n_eff, alpha.critical_z());
    if counts.events() == 0 {
        interval.low = 0.0;
    }
    if counts.events() == counts.trials() {
        interval.high = 1.0;
    }
    Ok(EffectiveInterval { n_eff, interval })
}

/// Wilson's interval with continuity correction.
///
/// `(2np + z^2 -+ (1 + z sqrt(z^2 -+ 2 - 1/n + 4p(nq +- 1)))) / 2(n + z^2)`, 0 at x = 0 and 1 at x = n.
///
/// Source: Newcombe (1998), method 4.
#[must_use]
pub fn wilson_continuity(counts: Counts, alpha: Alpha) -> Interval {
    let (p, n, z) = (counts.rate(), counts.n(), alpha.critical_z());
    let q = 1.0 - p;
    let scale = 2.0 * (n + z * z);
    let centre = 2.0 * n * p + z * z;
    let low = if counts.events() == 0 {
        0.0
    } else {
        (centre - 1.0 - z * (z * z - 2.0 - 1.0 / n + 4.0 * p * (n * q + 1.0)).max(0.0).sqrt()) / scale
    };
    let high = if counts.events() == counts.trials() {
        1.0
    } else {
        (centre + 1.0 + z * (z * z + 2.0 - 1.0 / n + 4.0 * p * (n * q - 1.0)).max(0.0).sqrt()) / scale
    };
    Interval::clipped(low, high)
}

/// The exact interval of Clopper and Pearson.
///
/// `Beta^-1(a/2; x, n-x+1)` and `Beta^-1(1-a/2; x+1, n-x)`; 0 at x = 0 and 1 at x = n.
///
/// # Errors
/// `too_large` beyond ten million trials.
///
/// Source: Clopper and Pearson (1934).
pub fn clopper_pearson(counts: Counts, alpha: Alpha) -> Result<Interval, StatsError> {
    check_beta(counts)?;
    let (x, n, tail) = (counts.x(), counts.n(), alpha.value() / 2.0);
    let low = if counts.events() == 0 { 0.0 } else { beta_quantile(tail, x, n - x + 1.0)? };
    let high = if counts.events() == counts.trials() { 1.0 } else { beta_upper_quantile(tail, x + 1.0, n - x)? };
    Ok(Interval::clipped(low, high))
}

const fn check_beta(counts: Counts) -> Result<(), StatsError> {
    if counts.trials() > MAX_BETA_TRIALS {
        return Err(StatsError::TooLarge { what: "sample", size: counts.trials(), limit: MAX_BETA_TRIALS });
    }
    Ok(())
}

/// A Jeffreys interval, with and without the rule for the ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JeffreysInterval {
    /// The interval to report: its limit is 0 at x = 0 and 1 at x = n.
    pub interval: Interval,
    /// The unmodified quantiles, which exclude an observed rate of 0 or 1.
    pub raw: Interval,
}

/// The equal-tailed interval of Jeffreys' prior, `Beta(x + 1/2, n - x + 1/2)`.
///
/// # Errors
/// `too_large` beyond ten million trials.
///
/// Source: Brown, Cai and DasGupta (2001), with their rule for x = 0 and x = n.
pub fn jeffreys(counts: Counts, alpha: Alpha) -> Result<JeffreysInterval, StatsError> {
    check_beta(counts)?;
    let (a, b) = (counts.x() + 0.5, counts.n() - counts.x() + 0.5);
    let tail = alpha.value() / 2.0;
    let raw = Interval { low: beta_quantile(tail, a, b)?, high: beta_upper_quantile(tail, a, b)? };
    let low = if counts.events() == 0 { 0.0 } else { raw.low };
    let high = if counts.events() == counts.trials() { 1.0 } else { raw.high };
    Ok(JeffreysInterval { interval: Interval { low, high }, raw })
}

/// The interval of Agresti and Coull: Wald's after adding `z^2/2` events and non-events, clipped to [0, 1].
///
/// Source: Agresti and Coull (1998).
#[must_use]
pub fn agresti_coull(counts: Counts, alpha: Alpha) -> Interval {
    let z = alpha.critical_z();
    let n = counts.n() + z * z;
    let p = (counts.x() + z * z / 2.0) / n;
    let half = z * (p * (1.0 - p) / n).sqrt();
    Interval::clipped(p - half, p + half)
}

/// Exact one-sided limits on a rate, each at the full level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneSided {
    /// The rate is at least this, with confidence `1 - alpha`.
    pub lower: f64,
    /// The rate is at most this, with confidence `1 - alpha`.
    pub upper: f64,
}

/// The exact one-sided limits for rare events: `Beta^-1(a; x, n-x+1)` from below, `Beta^-1(1-a; x+1, n-x)` from above; 0 at
/// x = 0 and 1 at x = n. After no event the upper one is [`upper_bound_zero_events`].
///
/// # Errors
/// `too_large` beyond ten million trials.
///
/// Source: Clopper and Pearson (1934).
pub fn one_sided(counts: Counts, alpha: Alpha) -> Result<OneSided, StatsError> {
    one_sided_effective(counts, 1.0, alpha)
}

/// The same limits with x and n both divided by `max(1, deff)`: what clustered trials are worth.
///
/// # Errors
/// `too_large` beyond ten million trials, `invalid_parameter` unless the design effect is finite and not negative.
///
/// Source: Korn and Graubard (1998).
pub fn one_sided_effective(counts: Counts, deff: f64, alpha: Alpha) -> Result<OneSided, StatsError> {
    check_beta(counts)?;
    if !deff.is_finite() || deff < 0.0 {
        return Err(StatsError::InvalidParameter { what: "design effect", value: deff });
    }
    let (x, n, tail) = (counts.x() / deff.max(1.0), counts.n() / deff.max(1.0), alpha.value());
    let lower = if counts.events() == 0 { 0.0 } else { beta_quantile(tail, x, n - x + 1.0)? };
    let upper = if counts.events() == counts.trials() { 1.0 } else { beta_upper_quantile(tail, x + 1.0, n - x)? };
    Ok(OneSided { lower, upper })
}

/// What zero events out of n still allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroEventBound {
    /// The exact one-sided upper limit.
    pub upper_one_sided: f64,
    /// The rule of three, 3/n.
    pub rule_of_three: f64,
}

/// The one-sided upper bound `1 - alpha^(1/n)` on a rate after no event in `trials` trials.
///
/// # Errors
/// `empty_sample` for no trials.
///
/// Source: Hanley and Lippman-Hand (1983).
pub fn upper_bound_zero_events(trials: u64, alpha: Alpha) -> Result<ZeroEventBound, StatsError> {
    if trials == 0 {
        return Err(StatsError::EmptySample);
    }
    let n = positive("trials", trials as f64)?;
    // 1 - exp(ln(alpha)/n), without losing digits when n is large.
    Ok(ZeroEventBound { upper_one_sided: -(alpha.value().ln() / n).exp_m1(), rule_of_three: 3.0 / n })
}
