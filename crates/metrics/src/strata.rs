//! Two arms compared within strata, where a stratum is a model: the stratified test, the stratified difference, and
//! whether the strata agree.
//!
//! An arm without trials in a stratum says nothing about a difference there, so such a stratum is skipped, not refused.

use crate::counts::{Counts, OddsRatio};
use crate::difference::adjusted_rate;
use crate::dist::chi_square_sf;
use crate::error::StatsError;

/// One stratum's 2x2 table. Unlike [`crate::Counts`], an arm may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
}

impl Stratum {
    /// Checks and keeps `x1` events of `n1` trials in the first arm, `x2` of `n2` in the second.
    ///
    /// # Errors
    /// `count_exceeds_n` when an arm has more events than trials.
    pub const fn new(x1: u64, n1: u64, x2: u64, n2: u64) -> Result<Self, StatsError> {
        if x1 > n1 {
            return Err(StatsError::CountExceedsTotal { count: x1, total: n1 });
        }
        if x2 > n2 {
            return Err(StatsError::CountExceedsTotal { count: x2, total: n2 });
        }
        Ok(Self { x1, n1, x2, n2 })
    }

    const fn has_both_arms(self) -> bool {
        self.n1 > 0 && self.n2 > 0
    }
}

/// Two arms with their strata thrown together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PooledArms {
    /// The first arm.
    pub first: Counts,
    /// The second arm.
    pub second: Counts,
}

/// Adds the strata up, as a test that ignores them would.
///
/// # Errors
/// `empty_sample` when an arm has no trial at all.
pub fn pool(strata: &[Stratum]) -> Result<PooledArms, StatsError> {
    let sum = |part: fn(&Stratum) -> u64| strata.iter().map(part).sum();
    Ok(PooledArms {
        first: Counts::new(sum(|s| s.x1), sum(|s| s.n1))?,
        second: Counts::new(sum(|s| s.x2), sum(|s| s.n2))?,
    })
}

/// A stratum's numbers under the names the formulas use.
struct Table {
    a: f64,
    c: f64,
    n1: f64,
    n2: f64,
    total: f64,
    events: f64,
}

fn tables(strata: &[Stratum]) -> Result<Vec<Table>, StatsError> {
    let tables: Vec<Table> = strata
        .iter()
        .filter(|s| s.has_both_arms())
        .map(|s| {
            let (a, n1, c, n2) = (s.x1 as f64, s.n1 as f64, s.x2 as f64, s.n2 as f64);
            Table { a, c, n1, n2, total: n1 + n2, events: a + c }
        })
        .collect();
    if tables.is_empty() { Err(StatsError::EmptySample) } else { Ok(tables) }
}

/// The Cochran-Mantel-Haenszel test and the estimates that go with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CmhTest {
    /// The statistic without continuity correction.
    pub chi2: f64,
    /// Its p-value at one degree of freedom.
    pub p: f64,
    /// The statistic with the deviation reduced by 1/2.
    pub chi2_corrected: f64,
    /// The corrected p-value.
    pub p_corrected: f64,
    /// The root of `chi2`, positive when the first arm has more events than expected.
    pub signed_z: f64,
    /// The Mantel-Haenszel risk difference.
    pub risk_difference: f64,
    /// Its standard error after Sato.
    pub risk_difference_se: f64,
    /// The Mantel-Haenszel odds ratio.
    pub odds_ratio: OddsRatio,
}

/// The Cochran-Mantel-Haenszel test over strata.
///
/// `(sum(a - n1 m1/N))^2 / sum(n1 n2 m1 m0 / (N^2 (N-1)))`; risk difference `sum(a n2/N - c n1/N) / sum(n1 n2/N)` with
/// Sato's variance. The continuity correction is the uncapped one of the reference package, so a deviation under 1/2
/// makes the corrected statistic the larger; read the uncorrected one there.
///
/// # Errors
/// `empty_sample` when no stratum has trials in both arms, `degenerate_variance` when every stratum is all events or all
/// non-events.
///
/// Source: Mantel and Haenszel (1959); Sato (1989).
pub fn cmh(strata: &[Stratum]) -> Result<CmhTest, StatsError> {
    let tables = tables(strata)?;
    let (mut deviation, mut variance) = (0.0, 0.0);
    let (mut rd_top, mut weight, mut sato_p, mut sato_q) = (0.0, 0.0, 0.0, 0.0);
    for t in &tables {
        let none = t.total - t.events;
        deviation += t.a - t.n1 * t.events / t.total;
        variance += t.n1 * t.n2 * t.events * none / (t.total * t.total * (t.total - 1.0));
        rd_top += (t.a * t.n2 - t.c * t.n1) / t.total;
        weight += t.n1 * t.n2 / t.total;
        sato_p += (t.n1 * t.n1 * t.c - t.n2 * t.n2 * t.a + t.n1 * t.n2 * (t.n2 - t.n1) / 2.0) / (t.total * t.total);
        sato_q += (t.a * (t.n2 - t.c) + t.c * (t.n1 - t.a)) / (2.0 * t.total);
    }
    if variance <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let chi2 = deviation * deviation / variance;
    let chi2_corrected = (deviation.abs() - 0.5).powi(2) / variance;
    let risk_difference = rd_top / weight;
    Ok(CmhTest {
        chi2,
        p: chi_square_sf(chi2, 1)?,
        chi2_corrected,
        p_corrected: chi_square_sf(chi2_corrected, 1)?,
        signed_z: deviation / variance.sqrt(),
        risk_difference,
        risk_difference_se: (risk_difference * sato_p + sato_q).max(0.0).sqrt() / weight,
        odds_ratio: mantel_haenszel_odds(&tables),
    })
}

fn mantel_haenszel_odds(tables: &[Table]) -> OddsRatio {
    let top = tables.iter().map(|t| t.a * (t.n2 - t.c) / t.total).sum();
    let bottom = tables.iter().map(|t| t.c * (t.n1 - t.a) / t.total).sum();
    OddsRatio::of(top, bottom)
}

/// Cochran's test that the strata share one risk difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CochranQ {
    /// The statistic.
    pub q: f64,
    /// Strata minus one.
    pub df: usize,
    /// The p-value.
    pub p: f64,
    /// The share of the variation that is between strata, `max(0, (q - df)/q)`.
    pub i2: f64,
    /// The inverse-variance weighted difference.
    pub pooled_diff: f64,
}

/// Cochran's Q on risk differences after adding one event and one non-event per arm, so that a rate of 0 or 1 keeps a
/// finite weight.
///
/// # Errors
/// `empty_sample` for no stratum with both arms, `too_few_clusters` for one.
///
/// Source: Cochran (1954); the adjustment is Agresti and Caffo's (2000).
pub fn cochran_q(strata: &[Stratum]) -> Result<CochranQ, StatsError> {
    let tables = tables(strata)?;
    let df = between(&tables)?;
    let parts: Vec<(f64, f64)> = tables
        .iter()
        .map(|t| {
            let (first, second) = (adjusted_rate(t.a, t.n1), adjusted_rate(t.c, t.n2));
            (first.rate - second.rate, 1.0 / (first.variance + second.variance))
        })
        .collect();
    let weights: f64 = parts.iter().map(|(_, w)| w).sum();
    let pooled_diff = parts.iter().map(|(d, w)| d * w).sum::<f64>() / weights;
    let q: f64 = parts.iter().map(|(d, w)| w * (d - pooled_diff).powi(2)).sum();
    let i2 = if q > 0.0 { ((q - df as f64) / q).max(0.0) } else { 0.0 };
    Ok(CochranQ { q, df, p: chi_square_sf(q, df)?, i2, pooled_diff })
}

/// A Breslow-Day statistic with Tarone's adjustment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaroneStatistic {
    /// The adjusted statistic.
    pub chi2: f64,
    /// The p-value.
    pub p: f64,
}

/// The Breslow-Day test, with Tarone's adjustment, that the strata share one odds ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreslowDay {
    /// Strata minus one.
    pub df: usize,
    /// The statistic to report.
    pub exact: TaroneStatistic,
    /// The statistic in the arithmetic of the reference package, to compare with values made by it. It differs only when
    /// a stratum is all events or all non-events: the variance there is 0 on paper, and a remnant of rounding there.
    pub reference: TaroneStatistic,
}

/// The Breslow-Day test: each stratum's first cell against its expectation at the Mantel-Haenszel odds ratio.
///
/// A stratum that is all events or all non-events adds nothing to the statistic and keeps its degree of freedom.
///
/// # Errors
/// `empty_sample`, `too_few_clusters` for fewer than two strata, `degenerate_variance` when the common odds ratio is 0,
/// infinite or undefined.
///
/// Source: Breslow and Day (1980), Tarone (1985).
pub fn breslow_day(strata: &[Stratum]) -> Result<BreslowDay, StatsError> {
    let tables = tables(strata)?;
    let df = between(&tables)?;
    let OddsRatio::Finite(odds) = mantel_haenszel_odds(&tables) else {
        return Err(StatsError::DegenerateVariance);
    };
    if odds <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let statistic = |parts: &mut dyn Iterator<Item = FirstCell>| {
        let (mut chi2, mut excess, mut information) = (0.0, 0.0, 0.0);
        for part in parts {
            chi2 += part.excess * part.excess / part.variance;
            excess += part.excess;
            information += part.variance;
        }
        chi2 - excess * excess / information
    };
    let informative = |t: &&Table| t.events > 0.0 && t.events < t.total;
    let exact = statistic(&mut tables.iter().filter(informative).map(|t| FirstCell::new(t, stable_root(t, odds))));
    if !exact.is_finite() {
        return Err(StatsError::DegenerateVariance);
    }
    let reference = statistic(&mut tables.iter().map(|t| FirstCell::new(t, textbook_root(t, odds))));
    let with_p = |chi2: f64| chi_square_sf(chi2, df).map(|p| TaroneStatistic { chi2, p });
    let exact = with_p(exact.max(0.0))?;
    let reference = if reference.is_finite() && reference >= 0.0 { with_p(reference)? } else { exact };
    Ok(BreslowDay { df, exact, reference })
}

/// A stratum's first cell against the expectation at a common odds ratio.
struct FirstCell {
    excess: f64,
    variance: f64,
}

impl FirstCell {
    fn new(t: &Table, expected: f64) -> Self {
        let information =
            1.0 / expected + 1.0 / (t.events - expected) + 1.0 / (t.n1 - expected) + 1.0 / (t.n2 - t.events + expected);
        Self { excess: t.a - expected, variance: 1.0 / information }
    }
}

/// The coefficients of the quadratic for the first cell e with `e (n2 - m1 + e) = odds (m1 - e) (n1 - e)`.
struct Quadratic {
    a: f64,
    b: f64,
    c: f64,
    root: f64,
}

fn quadratic(t: &Table, odds: f64) -> Quadratic {
    let a = 1.0 - odds;
    let b = odds * (t.n1 + t.events) + (t.n2 - t.events);
    let c = -odds * t.n1 * t.events;
    Quadratic { a, b, c, root: (b * b - 4.0 * a * c).max(0.0).sqrt() }
}

/// Its solution without cancellation, which also covers odds of 1.
fn stable_root(t: &Table, odds: f64) -> f64 {
    let q = quadratic(t, odds);
    -2.0 * q.c / (q.b + q.root)
}

/// Its solution as textbooks have it, and the reference package.
fn textbook_root(t: &Table, odds: f64) -> f64 {
    let q = quadratic(t, odds);
    (-q.b + q.root) / (2.0 * q.a)
}

fn between(tables: &[Table]) -> Result<usize, StatsError> {
    match tables.len() {
        0 | 1 => Err(StatsError::TooFewClusters { clusters: tables.len(), needed: 2 }),
        k => Ok(k - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(x1: u64, n1: u64, x2: u64, n2: u64) -> Stratum {
        Stratum::new(x1, n1, x2, n2).expect("valid stratum")
    }

    #[test]
    fn an_arm_without_trials_changes_nothing() {
        let full = [stratum(12, 24, 5, 24), stratum(16, 24, 8, 24)];
        let gap = [full[0], full[1], stratum(3, 9, 0, 0)];
        assert_eq!(cmh(&full), cmh(&gap));
        assert_eq!(cochran_q(&full), cochran_q(&gap));
        assert_eq!(breslow_day(&full), breslow_day(&gap));
    }

    #[test]
    fn undefined_comparisons_are_named() {
        assert_eq!(cmh(&[]).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(cmh(&[stratum(0, 0, 1, 2)]).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(cochran_q(&[stratum(1, 2, 1, 2)]).map_err(|e| e.code()), Err("too_few_clusters"));
        let flat = [stratum(0, 5, 0, 5), stratum(0, 5, 0, 5)];
        assert_eq!(breslow_day(&flat).map_err(|e| e.code()), Err("degenerate_variance"));
        assert_eq!(Stratum::new(3, 2, 0, 1).map_err(|e| e.code()), Err("count_exceeds_n"));
    }

    #[test]
    fn one_stratum_is_the_pooled_test_but_for_a_factor() {
        let t = cmh(&[stratum(52, 72, 14, 72)]).expect("defined");
        assert!((t.chi2 * 144.0 / 143.0 - 40.391_608_391_608_39).abs() < 1e-9);
    }
}
