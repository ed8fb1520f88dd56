//! Matched pairs: the same cell and repetition under two arms, and McNemar's test on the pairs that disagree.

use std::collections::BTreeMap;

use crate::counts::OddsRatio;
use crate::dist::{chi_square_sf, fair_binomial_pmf};
use crate::error::StatsError;

/// The most discordant pairs whose binomial tail is added up.
const MAX_DISCORDANT: u64 = 10_000_000;

/// How one trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observation {
    /// The event that is counted.
    Event,
    /// Anything else that was judged.
    NoEvent,
}

impl Observation {
    /// 1 for an event, 0 otherwise.
    #[must_use]
    pub const fn indicator(self) -> f64 {
        match self {
            Self::Event => 1.0,
            Self::NoEvent => 0.0,
        }
    }
}

/// Pairs by how their two members ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// Pairs with an outcome on both sides.
    pub pairs: u64,
    /// Event in the first arm only, b.
    pub first_only: u64,
    /// Event in the second arm only, c.
    pub second_only: u64,
}

/// Pairs two arms by key. A key with an outcome in only one arm is no pair.
#[must_use]
pub fn match_pairs<K: Ord>(first: &BTreeMap<K, Observation>, second: &BTreeMap<K, Observation>) -> PairCounts {
    let mut counts = PairCounts::default();
    for (key, a) in first {
        let Some(b) = second.get(key) else { continue };
        counts.pairs += 1;
        match (a, b) {
            (Observation::Event, Observation::NoEvent) => counts.first_only += 1,
            (Observation::NoEvent, Observation::Event) => counts.second_only += 1,
            _ => {}
        }
    }
    counts
}

/// The chi-square forms of McNemar's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemarChiSquare {
    /// `(b-c)^2 / (b+c)`.
    pub chi2: f64,
    /// Its p-value.
    pub p: f64,
    /// `(|b-c|-1)^2 / (b+c)`.
    pub chi2_corrected: f64,
    /// Its p-value.
    pub p_corrected: f64,
}

/// McNemar's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemarTest {
    /// b + c.
    pub discordant: u64,
    /// Exact two-sided p.
    pub p_exact: f64,
    /// Mid-p.
    pub p_mid: f64,
    /// b / c.
    pub odds_ratio: OddsRatio,
    /// The asymptotic forms, which need a discordant pair.
    pub chi_square: Option<McNemarChiSquare>,
}

/// McNemar's test on `b` pairs with the event in the first arm only and `c` in the second only.
///
/// Exact: `2 P(X <= min(b,c))`, X ~ Binomial(b+c, 1/2), at most 1. Mid-p: exact minus P(X = min); `1 - P(X=b)/2` when
/// b = c; 1 when there is no discordant pair. The corrected chi-square is the uncapped textbook form.
///
/// # Errors
/// `too_large` beyond ten million discordant pairs.
///
/// Source: McNemar (1947); mid-p after Fagerland, Lydersen and Laake (2013).
pub fn mcnemar(b: u64, c: u64) -> Result<McNemarTest, StatsError> {
    let odds_ratio = OddsRatio::of(b as f64, c as f64);
    let discordant = b.saturating_add(c);
    if discordant > MAX_DISCORDANT {
        return Err(StatsError::TooLarge { what: "discordant pairs", size: discordant, limit: MAX_DISCORDANT });
    }
    if discordant == 0 {
        return Ok(McNemarTest { discordant, p_exact: 1.0, p_mid: 1.0, odds_ratio, chi_square: None });
    }
    let smaller = b.min(c);
    let at = fair_binomial_pmf(discordant, smaller);
    let tail: f64 = (0..=smaller).map(|k| fair_binomial_pmf(discordant, k)).sum();
    let p_exact = (2.0 * tail).min(1.0);
    let p_mid = if b == c { 1.0 - at / 2.0 } else { (2.0 * tail - at).min(1.0) };
    let (gap, n) = (b.abs_diff(c) as f64, discordant as f64);
    let chi2 = gap * gap / n;
    let chi2_corrected = (gap - 1.0) * (gap - 1.0) / n;
    let chi_square = Some(McNemarChiSquare {
        chi2,
        p: chi_square_sf(chi2, 1)?,
        chi2_corrected,
        p_corrected: chi_square_sf(chi2_corrected, 1)?,
    });
    Ok(McNemarTest { discordant, p_exact, p_mid, odds_ratio, chi_square })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_both_arms_are_pairs() {
        use Observation::{Event, NoEvent};
        let first = BTreeMap::from([(1, Event), (2, Event), (3, NoEvent), (4, NoEvent)]);
        let second = BTreeMap::from([(1, Event), (2, NoEvent), (3, Event), (9, Event)]);
        assert_eq!(match_pairs(&first, &second), PairCounts { pairs: 3, first_only: 1, second_only: 1 });
    }

    #[test]
    fn one_pair_more_or_less() {
        let t = mcnemar(1, 0).expect("defined");
        assert!((t.p_exact - 1.0).abs() < 1e-12);
        assert!((t.p_mid - 0.5).abs() < 1e-12);
        assert_eq!(t.odds_ratio, OddsRatio::Infinite);
    }
}
