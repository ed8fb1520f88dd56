//! The score method for a difference of two rates: Miettinen and Nurminen's interval, and non-inferiority.
//!
//! The constrained maximum-likelihood rates come from the closed form of the cubic. A widely used package has the cubic
//! wrong for a difference other than zero, so these values must not be checked against it; the tests check them against
//! a direct search of the likelihood.

use std::f64::consts::PI;

use crate::bisection::border;
use crate::counts::{Alpha, Counts, Interval};
use crate::difference::{newcombe, rate_difference};
use crate::dist::normal_cdf;
use crate::error::StatsError;

/// The maximum-likelihood rate of the second sample when the first is held `delta` above it.
fn constrained_rate(first: Counts, second: Counts, delta: f64) -> f64 {
    let (n1, n2, x2) = (first.n(), second.n(), second.x());
    let total = n1 + n2;
    let events = first.x() + x2;
    let l3 = total;
    let l2 = (n1 + 2.0 * n2) * delta - total - events;
    let l1 = (n2 * delta - total - 2.0 * x2) * delta + events;
    let l0 = x2 * delta * (1.0 - delta);
    let shift = l2 / (3.0 * l3);
    let q = shift.powi(3) - l1 * l2 / (6.0 * l3 * l3) + l0 / (2.0 * l3);
    let w = (shift * shift - l1 / (3.0 * l3)).max(0.0).sqrt().copysign(q);
    let root = if w == 0.0 {
        -shift
    } else {
        let angle = (PI + (q / w.powi(3)).clamp(-1.0, 1.0).acos()) / 3.0;
        2.0 * w * angle.cos() - shift
    };
    root.clamp((-delta).max(0.0), (1.0 - delta).min(1.0))
}

/// The variance of the difference at the constrained rates.
fn constrained_variance(first: Counts, second: Counts, delta: f64) -> f64 {
    let p2 = constrained_rate(first, second, delta);
    let p1 = (p2 + delta).clamp(0.0, 1.0);
    p1 * (1.0 - p1) / first.n() + p2 * (1.0 - p2) / second.n()
}

/// N/(N-1), which sets Miettinen-Nurminen apart from Farrington-Manning.
fn small_sample_factor(first: Counts, second: Counts) -> f64 {
    let total = first.n() + second.n();
    total / (total - 1.0)
}

/// Whether the score at `delta` is farther than `z` from the observed difference.
fn rejects(first: Counts, second: Counts, delta: f64, z: f64) -> bool {
    let gap = rate_difference(first, second) - delta;
    let variance = constrained_variance(first, second, delta) * small_sample_factor(first, second);
    // Compared without dividing: at the ends of the range the variance is zero.
    gap * gap > z * z * variance
}

/// Miettinen and Nurminen's score interval of p1 - p2.
///
/// The limits solve `(d_hat-d)^2 / (V(d) N/(N-1)) = z^2`, V at the maximum-likelihood rates under `p1 = p2 + d`.
/// Defined for all counts, within [-1, 1].
///
/// Source: Miettinen and Nurminen (1985).
#[must_use]
pub fn miettinen_nurminen(first: Counts, second: Counts, alpha: Alpha) -> Interval {
    let z = alpha.critical_z();
    let diff = rate_difference(first, second);
    Interval { low: limit(first, second, z, diff, -1.0), high: limit(first, second, z, diff, 1.0) }
}

/// Searches from the observed difference, which is never rejected, towards `outer`.
fn limit(first: Counts, second: Counts, z: f64, diff: f64, outer: f64) -> f64 {
    if !rejects(first, second, outer, z) {
        return outer;
    }
    let (kept, rejected) = border(diff, outer, |d| !rejects(first, second, d, z));
    0.5 * (kept + rejected)
}

/// What a non-inferiority test concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first rate is below the second plus the margin.
    Pass,
    /// That has not been shown.
    Fail,
}

impl Verdict {
    const fn when(shown: bool) -> Self {
        if shown { Self::Pass } else { Self::Fail }
    }
}

/// A non-inferiority test of rates where lower is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonInferiority {
    /// The score statistic with the N/(N-1) factor.
    pub z_mn: f64,
    /// The statistic of Farrington and Manning, without the factor.
    pub z_fm: f64,
    /// Phi(z_mn).
    pub p_one_sided: f64,
    /// The upper limit of the two-sided `1 - 2 alpha` score interval.
    pub upper_mn: f64,
    /// The same of Newcombe's interval.
    pub upper_newcombe: f64,
    /// By the score test.
    pub score: Verdict,
    /// By Newcombe's limit.
    pub newcombe: Verdict,
}

/// Tests H0 `p1 - p2 >= margin` against `p1 - p2 < margin`; the first sample is the new arm, the second the reference.
///
/// `z = (p1-p2-margin) / sqrt(V(margin) N/(N-1))`, pass when `Phi(z) < alpha`, which is the same as the upper one-sided
/// limit lying below the margin.
///
/// # Errors
/// `invalid_p` unless `-1 < margin < 1`; `invalid_alpha` unless `alpha < 1/2`; `degenerate_variance` when the
/// constrained rates leave no variance (a margin of 0 with no event anywhere).
///
/// Source: Miettinen and Nurminen (1985), Farrington and Manning (1990).
pub fn noninferiority_lower_better(
    first: Counts,
    second: Counts,
    margin: f64,
    alpha: Alpha,
) -> Result<NonInferiority, StatsError> {
    if margin.is_nan() || margin.abs() >= 1.0 {
        return Err(StatsError::InvalidProbability { what: "margin", value: margin });
    }
    let two_sided = alpha.doubled()?;
    let variance = constrained_variance(first, second, margin);
    if variance <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let z_fm = (rate_difference(first, second) - margin) / variance.sqrt();
    let z_mn = z_fm / small_sample_factor(first, second).sqrt();
    let p_one_sided = normal_cdf(z_mn);
    let upper_newcombe = newcombe(first, second, two_sided).high;
    Ok(NonInferiority {
        z_mn,
        z_fm,
        p_one_sided,
        upper_mn: miettinen_nurminen(first, second, two_sided).high,
        upper_newcombe,
        score: Verdict::when(p_one_sided < alpha.value()),
        newcombe: Verdict::when(upper_newcombe < margin),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rate by bisection on the slope of the log-likelihood, which only falls.
    fn searched_rate(first: Counts, second: Counts, delta: f64) -> f64 {
        let (mut low, mut high) = ((-delta).max(0.0), (1.0 - delta).min(1.0));
        let slope = |p2: f64| {
            let term = |x: f64, p: f64| if x == 0.0 { 0.0 } else { x / p };
            let p1 = p2 + delta;
            term(first.x(), p1) - term(first.n() - first.x(), 1.0 - p1) + term(second.x(), p2)
                - term(second.n() - second.x(), 1.0 - p2)
        };
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    prop_compose! {
        fn counts()(n in 1u64..200)(n in Just(n), x in 0..=n) -> Counts {
            Counts::new(x, n).expect("x <= n")
        }
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_maximum(a in counts(), b in counts(), delta in -0.99f64..0.99) {
            let closed = constrained_rate(a, b, delta);
            prop_assert!((closed - searched_rate(a, b, delta)).abs() < 1e-6, "{closed}");
        }

        #[test]
        fn the_test_and_its_limit_agree(a in counts(), b in counts(), margin in 0.01f64..0.5) {
            let r = noninferiority_lower_better(a, b, margin, Alpha::FIVE_PERCENT).expect("margin > 0");
            if (r.upper_mn - margin).abs() > 1e-9 {
                prop_assert_eq!(r.score == Verdict::Pass, r.upper_mn < margin);
            }
        }
    }

    #[test]
    fn margins_out_of_range_are_named() {
        let c = Counts::new(0, 24).expect("valid");
        let code = |m, a| noninferiority_lower_better(c, c, m, Alpha::new(a).expect("valid")).map_err(|e| e.code());
        assert_eq!(code(1.0, 0.05), Err("invalid_p"));
        assert_eq!(code(f64::NAN, 0.05), Err("invalid_p"));
        assert_eq!(code(0.1, 0.5), Err("invalid_alpha"));
        assert_eq!(code(0.0, 0.05), Err("degenerate_variance"));
    }
}
