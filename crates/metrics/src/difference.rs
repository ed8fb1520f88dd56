//! The difference of two rates, taken as independent samples: z tests, chi-square, intervals, effect size.
//!
//! Differences are always first minus second. When the trials share sessions these numbers are for comparison with
//! published tables only; `cluster` has the ones to believe.

use crate::counts::{Alpha, Counts, Interval};
use crate::dist::{chi_square_sf, normal_cdf, normal_sf, normal_two_sided};
use crate::error::StatsError;
use crate::interval::wilson;

/// A z test of equal rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZTest {
    /// The observed difference p1 - p2.
    pub diff: f64,
    /// The standard error the difference was divided by.
    pub se: f64,
    /// The statistic.
    pub z: f64,
    /// P(|Z| >= |z|).
    pub p_two_sided: f64,
    /// P(Z >= z): small when the first rate is larger.
    pub p_greater: f64,
    /// P(Z <= z): small when the first rate is smaller.
    pub p_less: f64,
}

impl ZTest {
    fn new(diff: f64, variance: f64) -> Result<Self, StatsError> {
        if variance <= 0.0 {
            return Err(StatsError::DegenerateVariance);
        }
        let se = variance.sqrt();
        let z = diff / se;
        Ok(Self { diff, se, z, p_two_sided: normal_two_sided(z), p_greater: normal_sf(z), p_less: normal_cdf(z) })
    }
}

/// The observed difference p1 - p2.
#[must_use]
pub fn rate_difference(first: Counts, second: Counts) -> f64 {
    first.rate() - second.rate()
}

/// The z test with pooled variance: `(p1-p2) / sqrt(pb(1-pb)(1/n1+1/n2))`, `pb = (x1+x2)/(n1+n2)`.
///
/// # Errors
/// `degenerate_variance` when all trials of both samples ended alike.
///
/// Source: any textbook; equals the square root of Pearson's chi-square.
pub fn z_pooled(first: Counts, second: Counts) -> Result<ZTest, StatsError> {
    if first.is_uniform_with(second) {
        return Err(StatsError::DegenerateVariance);
    }
    let p = first.pooled_rate(second);
    ZTest::new(rate_difference(first, second), p * (1.0 - p) * (1.0 / first.n() + 1.0 / second.n()))
}

/// Wald's z test: the variances of the two rates are estimated apart, `p1q1/n1 + p2q2/n2`.
///
/// # Errors
/// `degenerate_variance` when each sample by itself has rate 0 or 1.
///
/// Source: any textbook.
pub fn z_unpooled(first: Counts, second: Counts) -> Result<ZTest, StatsError> {
    ZTest::new(rate_difference(first, second), wald_variance(first, second))
}

fn wald_variance(first: Counts, second: Counts) -> f64 {
    let part = |c: Counts| c.rate() * (1.0 - c.rate()) / c.n();
    part(first) + part(second)
}

/// Pearson's chi-square of a 2x2 table, plain and with Yates' correction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquareTest {
    /// The statistic.
    pub chi2: f64,
    /// Its p-value at one degree of freedom.
    pub p: f64,
    /// The corrected statistic.
    pub chi2_yates: f64,
    /// The corrected p-value.
    pub p_yates: f64,
}

/// Pearson's chi-square test of the 2x2 table: `sum (O-E)^2/E`; Yates moves each `|O-E|` towards 0 by up to 1/2.
///
/// # Errors
/// `degenerate_variance` when a margin of the table is empty.
///
/// Source: Pearson (1900), Yates (1934).
pub fn chi_square(first: Counts, second: Counts) -> Result<ChiSquareTest, StatsError> {
    if first.is_uniform_with(second) {
        return Err(StatsError::DegenerateVariance);
    }
    let p = first.pooled_rate(second);
    // In a 2x2 table |O-E| is the same in all four cells.
    let deviation = (first.x() - first.n() * p).abs();
    let inverse_expected: f64 = [first.n(), second.n()].iter().map(|n| 1.0 / (n * p) + 1.0 / (n * (1.0 - p))).sum();
    let chi2 = deviation * deviation * inverse_expected;
    let corrected = deviation - deviation.min(0.5);
    let chi2_yates = corrected * corrected * inverse_expected;
    Ok(ChiSquareTest { chi2, p: chi_square_sf(chi2, 1)?, chi2_yates, p_yates: chi_square_sf(chi2_yates, 1)? })
}

/// Newcombe's hybrid score interval (his method 10) of p1 - p2, without continuity correction.
///
/// With Wilson limits l, u of each rate: `d - sqrt((p1-l1)^2 + (u2-p2)^2)`, `d + sqrt((u1-p1)^2 + (p2-l2)^2)`.
/// Defined for all counts, within [-1, 1].
///
/// Source: Newcombe (1998), Statistics in Medicine 17:873.
#[must_use]
pub fn newcombe(first: Counts, second: Counts, alpha: Alpha) -> Interval {
    let (w1, w2) = (wilson(first, alpha), wilson(second, alpha));
    let (p1, p2) = (first.rate(), second.rate());
    let diff = p1 - p2;
    Interval {
        low: (diff - (p1 - w1.low).hypot(w2.high - p2)).clamp(-1.0, 1.0),
        high: (diff + (w1.high - p1).hypot(p2 - w2.low)).clamp(-1.0, 1.0),
    }
}

/// Agresti and Caffo's interval: Wald's after adding one event and one non-event to each sample. Not clipped.
///
/// Source: Agresti and Caffo (2000).
#[must_use]
pub fn agresti_caffo(first: Counts, second: Counts, alpha: Alpha) -> Interval {
    let (r1, r2) = (adjusted_rate(first.x(), first.n()), adjusted_rate(second.x(), second.n()));
    let diff = r1.rate - r2.rate;
    let half = alpha.critical_z() * (r1.variance + r2.variance).sqrt();
    Interval { low: diff - half, high: diff + half }
}

/// A rate after adding one event and one non-event.
pub(crate) struct AdjustedRate {
    pub(crate) rate: f64,
    pub(crate) variance: f64,
}

pub(crate) fn adjusted_rate(x: f64, n: f64) -> AdjustedRate {
    let rate = (x + 1.0) / (n + 2.0);
    AdjustedRate { rate, variance: rate * (1.0 - rate) / (n + 2.0) }
}

/// Cohen's effect size h, `2 asin sqrt(p1) - 2 asin sqrt(p2)`, from -pi to pi.
///
/// Source: Cohen (1988).
#[must_use]
pub fn cohen_h(first: Counts, second: Counts) -> f64 {
    arcsine(first.rate()) - arcsine(second.rate())
}

pub(crate) fn arcsine(p: f64) -> f64 {
    2.0 * p.sqrt().asin()
}
