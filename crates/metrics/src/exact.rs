//! Exact tests of a 2x2 table: Fisher's (both margins fixed), and Boschloo's and Barnard's (arm sizes fixed).
//!
//! The unconditional tests take the worst case over the unknown common rate. They gain power over Fisher at the sizes of
//! a laundering study, at the price of a search.

use std::ops::Range;

use statrs::function::factorial::ln_binomial;

use crate::counts::Counts;
use crate::dist::binomial_pmf;
use crate::error::StatsError;

/// Tables whose probability exceeds the observed one only by rounding are as extreme as it.
const SLACK: f64 = 1e-7;

/// The largest table, in cells (n1+1)(n2+1), that the unconditional tests enumerate.
const MAX_TABLES: u64 = 1_000_000;

/// The most tables with the same margins that Fisher's test adds up.
const MAX_MARGIN: u64 = 10_000_000;

/// Points of the first pass over the unknown common rate.
const GRID: usize = 256;

/// Fisher's exact test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FisherTest {
    /// The probability of all tables no more probable than the observed one.
    pub p_two_sided: f64,
    /// P(X >= x1): small when the first rate is larger.
    pub p_greater: f64,
    /// P(X <= x1): small when the first rate is smaller.
    pub p_less: f64,
    /// `p_greater` with half the weight on the observed table.
    pub mid_p_greater: f64,
}

/// The hypergeometric distribution of x1 given both margins.
struct Hypergeometric {
    first: u64,
    pmf: Vec<f64>,
}

impl Hypergeometric {
    fn new(n1: u64, n2: u64, events: u64) -> Self {
        let first = events.saturating_sub(n2);
        let all = ln_binomial(n1 + n2, events);
        let pmf =
            (first..=events.min(n1)).map(|k| (ln_binomial(n1, k) + ln_binomial(n2, events - k) - all).exp()).collect();
        Self { first, pmf }
    }
}

/// Fisher's exact test of equal rates; 1 when all trials ended alike.
///
/// Two-sided p: the hypergeometric probabilities no larger than the observed one, with a relative slack of 1e-7.
///
/// # Errors
/// `too_large` when more than ten million tables share the margins.
///
/// Source: Fisher (1935).
pub fn fisher(first: Counts, second: Counts) -> Result<FisherTest, StatsError> {
    let events = first.events() + second.events();
    let size = events.min(first.trials());
    if size > MAX_MARGIN {
        return Err(StatsError::TooLarge { what: "table", size, limit: MAX_MARGIN });
    }
    let h = Hypergeometric::new(first.trials(), second.trials(), events);
    let at = usize::try_from(first.events() - h.first).unwrap_or(usize::MAX);
    let observed = h.pmf[at];
    let sum = |part: &[f64]| part.iter().sum::<f64>().min(1.0);
    let p_greater = sum(&h.pmf[at..]);
    Ok(FisherTest {
        p_two_sided: h.pmf.iter().filter(|p| **p <= observed * (1.0 + SLACK)).sum::<f64>().min(1.0),
        p_greater,
        p_less: sum(&h.pmf[..=at]),
        mid_p_greater: (p_greater - observed / 2.0).max(0.0),
    })
}

/// An unconditional exact test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnconditionalTest {
    /// The two-sided p-value.
    pub p_two_sided: f64,
}

/// Boschloo's exact test: Fisher's one-sided p-value as the statistic, the worst case over the common rate; two-sided is
/// twice the smaller one-sided p-value, at most 1.
///
/// # Errors
/// `too_large` beyond a million tables.
///
/// Source: Boschloo (1970).
pub fn boschloo(first: Counts, second: Counts) -> Result<UnconditionalTest, StatsError> {
    check_size(first, second)?;
    let (n1, n2) = (first.trials(), second.trials());
    let mut less = Grid::new(n1, n2);
    let mut greater = Grid::new(n1, n2);
    for events in 0..=n1 + n2 {
        let h = Hypergeometric::new(n1, n2, events);
        let (mut below, mut above) = (0.0, 0.0);
        for (k, p) in (h.first..).zip(&h.pmf) {
            below += p;
            less.set(k, events - k, below);
        }
        // Added up from its own end, so that a small tail keeps its digits.
        for (k, p) in (h.first..).zip(&h.pmf).collect::<Vec<_>>().into_iter().rev() {
            above += p;
            greater.set(k, events - k, above);
        }
    }
    let one_sided = |statistic: &Grid| {
        let bound = statistic.get(first.events(), second.events()) * (1.0 + SLACK);
        worst_case(&statistic.region(|p| p <= bound), n1, n2)
    };
    let smaller = one_sided(&less).min(one_sided(&greater));
    Ok(UnconditionalTest { p_two_sided: (2.0 * smaller).min(1.0) })
}

/// Barnard's exact test: |z| with pooled variance as the statistic, the worst case over the common rate. A table without
/// variance has z = 0.
///
/// # Errors
/// `too_large` beyond a million tables.
///
/// Source: Barnard (1945), with the statistic of Suissa and Shuster (1985).
pub fn barnard(first: Counts, second: Counts) -> Result<UnconditionalTest, StatsError> {
    check_size(first, second)?;
    let (n1, n2) = (first.trials(), second.trials());
    let mut statistic = Grid::new(n1, n2);
    for x1 in 0..=n1 {
        for x2 in 0..=n2 {
            statistic.set(x1, x2, absolute_z(x1, n1, x2, n2));
        }
    }
    let bound = statistic.get(first.events(), second.events()) * (1.0 - SLACK);
    let p = worst_case(&statistic.region(|z| z >= bound), n1, n2);
    Ok(UnconditionalTest { p_two_sided: p.min(1.0) })
}

fn check_size(first: Counts, second: Counts) -> Result<(), StatsError> {
    let size = first.trials().saturating_add(1).saturating_mul(second.trials().saturating_add(1));
    if size > MAX_TABLES {
        return Err(StatsError::TooLarge { what: "table", size, limit: MAX_TABLES });
    }
    Ok(())
}

fn absolute_z(x1: u64, n1: u64, x2: u64, n2: u64) -> f64 {
    let (x1, n1, x2, n2) = (x1 as f64, n1 as f64, x2 as f64, n2 as f64);
    let p = (x1 + x2) / (n1 + n2);
    let variance = p * (1.0 - p) * (1.0 / n1 + 1.0 / n2);
    if variance > 0.0 { (x1 / n1 - x2 / n2).abs() / variance.sqrt() } else { 0.0 }
}

/// A statistic for every table with the given arm sizes.
struct Grid {
    width: usize,
    values: Vec<f64>,
}

/// For each x1, the runs of x2 that belong to a rejection region.
type Region = Vec<Vec<Range<usize>>>;

impl Grid {
    // `check_size` has bounded both sizes far below the range of usize.
    fn new(n1: u64, n2: u64) -> Self {
        let width = n2 as usize + 1;
        Self { width, values: vec![0.0; (n1 as usize + 1) * width] }
    }

    fn set(&mut self, x1: u64, x2: u64, value: f64) {
        self.values[x1 as usize * self.width + x2 as usize] = value;
    }

    fn get(&self, x1: u64, x2: u64) -> f64 {
        self.values[x1 as usize * self.width + x2 as usize]
    }

    fn region(&self, inside: impl Fn(f64) -> bool) -> Region {
        self.values
            .chunks(self.width)
            .map(|row| {
                let mut runs: Vec<Range<usize>> = Vec::new();
                for (x2, _) in row.iter().enumerate().filter(|(_, v)| inside(**v)) {
                    match runs.last_mut() {
                        Some(run) if run.end == x2 => run.end = x2 + 1,
                        _ => runs.push(x2..x2 + 1),
                    }
                }
                runs
            })
            .collect()
    }
}

/// The largest probability of `region` over the common rate: a grid, then golden-section search around its best points.
fn worst_case(region: &Region, n1: u64, n2: u64) -> f64 {
    let at = |p: f64| region_probability(region, n1, n2, p);
    let step = 1.0 / GRID as f64;
    let mut grid: Vec<f64> = (0..=GRID).map(|i| at(i as f64 * step)).collect();
    let mut best = grid.iter().copied().fold(0.0, f64::max);
    for _ in 0..3 {
        let Some(top) = (0..grid.len()).max_by(|a, b| grid[*a].total_cmp(&grid[*b])) else { break };
        let centre = top as f64 * step;
        best = best.max(golden_section(&at, (centre - step).max(0.0), (centre + step).min(1.0)));
        // The next round looks elsewhere.
        let last = grid.len() - 1;
        grid[top.saturating_sub(1)..=(top + 1).min(last)].fill(-1.0);
    }
    best
}

fn golden_section(f: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let mut left = high - RATIO * (high - low);
    let mut right = low + RATIO * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..24 {
        if at_left < at_right {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + RATIO * (high - low);
            at_right = f(right);
        } else {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - RATIO * (high - low);
            at_left = f(left);
        }
    }
    at_left.max(at_right)
}

fn region_probability(region: &Region, n1: u64, n2: u64, p: f64) -> f64 {
    let first = binomial_pmf(n1, p);
    let mut cumulative = Vec::with_capacity(n2 as usize + 2);
    let mut sum = 0.0;
    cumulative.push(sum);
    for q in binomial_pmf(n2, p) {
        sum += q;
        cumulative.push(sum);
    }
    region
        .iter()
        .zip(first)
        .map(|(runs, q)| q * runs.iter().map(|r| cumulative[r.end] - cumulative[r.start]).sum::<f64>())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(x: u64, n: u64) -> Counts {
        Counts::new(x, n).expect("valid counts")
    }

    #[test]
    fn tables_without_variance_reject_nothing() {
        for x in [0, 24] {
            let c = counts(x, 24);
            assert!((fisher(c, c).expect("small").p_two_sided - 1.0).abs() < 1e-12);
            assert!((boschloo(c, c).expect("small").p_two_sided - 1.0).abs() < 1e-9);
            assert!((barnard(c, c).expect("small").p_two_sided - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn boschloo_is_never_above_twice_the_smaller_fisher() {
        for (x1, x2) in [(12, 5), (3, 9), (7, 7), (0, 4)] {
            let (a, b) = (counts(x1, 24), counts(x2, 20));
            let f = fisher(a, b).expect("small");
            let bound = 2.0 * f.p_greater.min(f.p_less);
            assert!(boschloo(a, b).expect("small").p_two_sided <= bound.min(1.0) + 1e-6);
        }
    }

    #[test]
    fn huge_tables_are_refused() {
        let c = counts(10, 5000);
        assert_eq!(barnard(c, c).map_err(|e| e.code()), Err("too_large"));
        assert_eq!(boschloo(c, c).map_err(|e| e.code()), Err("too_large"));
    }
}
