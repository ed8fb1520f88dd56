//! The exact sign-flip test of session differences.
//!
//! Under no effect each session's difference is as likely with the other sign, so the p-value is the share of all 2^G
//! sign patterns whose sum is at least as far from zero as the observed one.

use crate::error::{StatsError, session_difference};

/// Beyond this many sessions half of the patterns no longer fit comfortably in memory.
const MAX_ENUMERATED: usize = 40;

/// The cells of the grid used beyond the enumeration.
const GRID: usize = 1 << 16;

/// The two-sided sign-flip p-value, `#{|sum s_i d_i| >= |sum d_i|} / 2^G`.
///
/// Exact up to 40 sessions, in 2^(G/2) steps. Beyond that the differences are rounded to a fine grid and ties are
/// counted as extreme, so the value errs upwards, by far less than it would matter.
///
/// # Errors
/// `empty_sample`, `invalid_parameter` for a difference that is not finite.
///
/// Source: Fisher (1935); Horowitz and Sahni (1974) for meeting in the middle.
pub fn sign_flip(differences: &[f64]) -> Result<f64, StatsError> {
    if differences.is_empty() {
        return Err(StatsError::EmptySample);
    }
    for d in differences {
        session_difference(*d)?;
    }
    // A zero has no sign, and without it every pattern stands for two.
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|d| *d > 0.0).collect();
    let observed = differences.iter().sum::<f64>().abs();
    let span: f64 = sizes.iter().sum();
    // Sums that are equal on paper differ by rounding here.
    let bound = observed - 1e-9 * span;
    if bound <= 0.0 {
        return Ok(1.0);
    }
    Ok(if sizes.len() <= MAX_ENUMERATED { enumerated(&sizes, bound) } else { on_a_grid(&sizes, observed, span) })
}

/// All signed sums of `sizes`, ascending.
fn signed_sums(sizes: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for d in sizes {
        // Both halves are sorted, so merging keeps the whole sorted.
        let mut next = Vec::with_capacity(2 * sums.len());
        let (mut low, mut high) = (0, 0);
        while low < sums.len() || high < sums.len() {
            if low < sums.len() && (high == sums.len() || sums[low] - d <= sums[high] + d) {
                next.push(sums[low] - d);
                low += 1;
            } else {
                next.push(sums[high] + d);
                high += 1;
            }
        }
        sums = next;
    }
    sums
}

/// The share of patterns with `|sum| >= bound > 0`: by symmetry twice those with `sum >= bound`.
fn enumerated(sizes: &[f64], bound: f64) -> f64 {
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    // As the left sum grows, more of the right ones suffice.
    let mut start = right.len();
    let mut count: u64 = 0;
    for l in &left {
        while start > 0 && l + right[start - 1] >= bound {
            start -= 1;
        }
        count += (right.len() - start) as u64;
    }
    let patterns = (left.len() as f64) * (right.len() as f64);
    (2.0 * count as f64 / patterns).min(1.0)
}

/// The distribution of the sum, on a grid from `-span` to `span`.
fn on_a_grid(sizes: &[f64], observed: f64, span: f64) -> f64 {
    let unit = span / GRID as f64;
    let steps: Vec<usize> = sizes.iter().map(|d| (d / unit).round() as usize).collect();
    let total: usize = steps.iter().sum();
    // Cell k is the pattern whose positive part adds up to k steps: its sum is 2k - total.
    let mut weights = vec![0.0_f64; total + 1];
    weights[0] = 1.0;
    let mut reach = 0;
    for &step in &steps {
        reach += step;
        for k in (0..=reach).rev() {
            let moved = if k >= step { weights[k - step] } else { 0.0 };
            weights[k] = 0.5 * (weights[k] + moved);
        }
    }
    let slack = sizes.len() as f64 / 2.0 + 1.0;
    let bound = observed / unit - slack;
    let tail: f64 = weights
        .iter()
        .enumerate()
        .filter(|(k, _)| (2.0 * *k as f64 - total as f64).abs() >= bound)
        .map(|(_, w)| w)
        .sum();
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_hand(d: &[f64]) -> f64 {
        let observed = d.iter().sum::<f64>().abs();
        let hits = (0..1_u32 << d.len())
            .filter(|pattern| {
                let sum: f64 = d.iter().enumerate().map(|(i, x)| if pattern >> i & 1 == 1 { *x } else { -x }).sum();
                sum.abs() >= observed - 1e-9
            })
            .count();
        hits as f64 / f64::from(1_u32 << d.len())
    }

    proptest! {
        #[test]
        fn meeting_in_the_middle_counts_every_pattern(
            d in proptest::collection::vec((-6i32..=6).prop_map(|k| f64::from(k) / 6.0), 1..12)
        ) {
            prop_assert!((sign_flip(&d).expect("finite") - by_hand(&d)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_grid_is_close_to_the_enumeration() {
        let d: Vec<f64> = (0..30).map(|i| f64::from(i % 7) - 2.2).collect();
        let sizes: Vec<f64> = d.iter().map(|x| x.abs()).collect();
        let (observed, span) = (d.iter().sum::<f64>().abs(), sizes.iter().sum());
        let exact = enumerated(&sizes, observed - 1e-9);
        let grid = on_a_grid(&sizes, observed, span);
        assert!(grid >= exact && grid - exact < 2e-3, "{grid} against {exact}");
    }

    #[test]
    fn many_sessions_still_end() {
        let d: Vec<f64> = (0..120).map(|i| if i % 3 == 0 { -0.5 } else { 0.5 }).collect();
        let p = sign_flip(&d).expect("finite");
        assert!(p > 1e-5 && p < 1e-2, "{p}");
        assert_eq!(sign_flip(&[f64::NAN]).map_err(|e| e.code()), Err("invalid_parameter"));
        assert_eq!(sign_flip(&[]).map_err(|e| e.code()), Err("empty_sample"));
    }
}
