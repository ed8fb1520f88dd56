//! How many trials a study needs, and what it can see with the ones it has.
//!
//! All sizes are per arm and take trials for independent; multiply by the design effect, or divide a planned number by it.

use crate::bisection::border;
use crate::counts::Alpha;
use crate::difference::arcsine;
use crate::dist::{normal_cdf, normal_upper_quantile};
use crate::error::{StatsError, open_probability, probability, trials};

/// Trials per arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSize {
    /// The solution of the formula.
    pub n_per_arm: f64,
    /// The whole number of trials to run.
    pub n_ceil: u64,
    /// With continuity correction.
    pub n_corrected: f64,
    /// The same as a whole number.
    pub n_corrected_ceil: u64,
}

/// The trials per arm that find `p1` against `p2` with probability `power`.
///
/// `(z_{a/2} sqrt(2 pb qb) + z_b sqrt(p1q1 + p2q2))^2 / (p1-p2)^2`; corrected
/// `n/4 (1 + sqrt(1 + 4/(n |p1-p2|)))^2`.
///
/// # Errors
/// `invalid_p` for a rate outside [0, 1] or a power outside (0, 1), `unreachable` for equal rates.
///
/// Source: Fleiss, Levin and Paik (2003); the correction is Fleiss, Tytun and Ury's (1980).
pub fn sample_size(p1: f64, p2: f64, alpha: Alpha, power: f64) -> Result<SampleSize, StatsError> {
    let (p1, p2) = (probability("p1", p1)?, probability("p2", p2)?);
    let z_power = normal_upper_quantile(1.0 - open_probability("power", power)?);
    let gap = (p1 - p2).abs();
    if gap <= 0.0 {
        return Err(StatsError::Unreachable);
    }
    let mean = 0.5 * (p1 + p2);
    let under_null = alpha.critical_z() * (2.0 * mean * (1.0 - mean)).sqrt();
    let under_effect = z_power * (p1 * (1.0 - p1) + p2 * (1.0 - p2)).sqrt();
    // Below a power of a few percent the sum may be negative, and any size will do.
    let n_per_arm = ((under_null + under_effect).max(0.0) / gap).powi(2);
    let n_corrected =
        if n_per_arm > 0.0 { n_per_arm / 4.0 * (1.0 + (1.0 + 4.0 / (n_per_arm * gap)).sqrt()).powi(2) } else { 0.0 };
    if !n_corrected.is_finite() {
        return Err(StatsError::Unreachable);
    }
    Ok(SampleSize { n_per_arm, n_ceil: whole(n_per_arm), n_corrected, n_corrected_ceil: whole(n_corrected) })
}

fn whole(n: f64) -> u64 {
    n.ceil().max(1.0) as u64
}

/// The probability of a significant difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// With the pooled variance under the null.
    pub power: f64,
    /// By the arcsine transformation.
    pub power_arcsine: f64,
}

/// The power of the two-sided pooled z test at `n_per_arm` trials per arm, both tails counted.
///
/// `Phi((|d| - z s0)/s1) + Phi((-|d| - z s0)/s1)`, `s0 = sqrt(2 pb qb/n)`, `s1 = sqrt((p1q1 + p2q2)/n)`; the arcsine form
/// uses Cohen's h, `Phi(h sqrt(n/2) - z) + Phi(-h sqrt(n/2) - z)`.
///
/// # Errors
/// `invalid_p`, `empty_sample` for a size of 0, `invalid_parameter` for one that is no size, `degenerate_variance` when both rates are 0 or both 1.
///
/// Source: Fleiss, Levin and Paik (2003); Cohen (1988).
pub fn power(p1: f64, p2: f64, n_per_arm: f64, alpha: Alpha) -> Result<Power, StatsError> {
    let (p1, p2) = (probability("p1", p1)?, probability("p2", p2)?);
    let n = trials("trials per arm", n_per_arm)?;
    let z = alpha.critical_z();
    let shift = (arcsine(p1) - arcsine(p2)).abs() * (n / 2.0).sqrt();
    Ok(Power {
        power: pooled_power(p1, p2, n, z)?,
        power_arcsine: (normal_cdf(shift - z) + normal_cdf(-shift - z)).min(1.0),
    })
}

fn pooled_power(p1: f64, p2: f64, n: f64, z: f64) -> Result<f64, StatsError> {
    let mean = 0.5 * (p1 + p2);
    let null = (2.0 * mean * (1.0 - mean) / n).sqrt();
    let effect = ((p1 * (1.0 - p1) + p2 * (1.0 - p2)) / n).sqrt();
    let gap = (p1 - p2).abs();
    if null <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    if effect <= 0.0 {
        // 0 against 1: the outcome is certain, and either significant or not.
        return Ok(if gap > z * null { 1.0 } else { 0.0 });
    }
    Ok((normal_cdf((gap - z * null) / effect) + normal_cdf((-gap - z * null) / effect)).min(1.0))
}

/// Which way the second rate may lie from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Below it.
    Down,
    /// Above it.
    Up,
}

/// The smallest difference that a study can be expected to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectableEffect {
    /// The difference |p1 - p2|.
    pub difference: f64,
    /// The second rate.
    pub p2: f64,
}

/// The smallest difference from `p1` that [`power`] finds with probability `power`.
///
/// # Errors
/// As [`power`], and `unreachable` when even a rate of 0 (down) or 1 (up) falls short.
///
/// Source: bisection on the pooled-null power.
pub fn minimum_detectable_effect(
    p1: f64,
    n_per_arm: f64,
    alpha: Alpha,
    target: f64,
    direction: Direction,
) -> Result<DetectableEffect, StatsError> {
    let p1 = probability("p1", p1)?;
    let n = trials("trials per arm", n_per_arm)?;
    let target = open_probability("power", target)?;
    let z = alpha.critical_z();
    let (room, sign) = match direction {
        Direction::Down => (p1, -1.0),
        Direction::Up => (1.0 - p1, 1.0),
    };
    // No difference has the power of the level itself, and at a rate of 0 or 1 none that can be computed.
    let reaches = |d: f64| pooled_power(p1, (p1 + sign * d).clamp(0.0, 1.0), n, z).is_ok_and(|p| p >= target);
    if room <= 0.0 || !reaches(room) {
        return Err(StatsError::Unreachable);
    }
    let (enough, _) = border(room, 0.0, reaches);
    Ok(DetectableEffect { difference: enough, p2: (p1 + sign * enough).clamp(0.0, 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Alpha = Alpha::FIVE_PERCENT;

    #[test]
    fn impossible_plans_are_named() {
        assert_eq!(sample_size(0.3, 0.3, A, 0.8).map_err(|e| e.code()), Err("unreachable"));
        assert_eq!(sample_size(1.3, 0.3, A, 0.8).map_err(|e| e.code()), Err("invalid_p"));
        assert_eq!(sample_size(0.1, 0.3, A, 1.0).map_err(|e| e.code()), Err("invalid_p"));
        assert_eq!(power(0.0, 0.0, 10.0, A).map_err(|e| e.code()), Err("degenerate_variance"));
        assert_eq!(power(0.1, 0.2, 0.0, A).map_err(|e| e.code()), Err("empty_sample"));
        let mde = |p| minimum_detectable_effect(p, 24.0, A, 0.8, Direction::Down).map_err(|e| e.code());
        assert_eq!(mde(0.0), Err("unreachable"));
        assert_eq!(mde(f64::NAN), Err("invalid_p"));
    }

    #[test]
    fn the_size_has_the_power_it_was_asked_for() {
        let n = sample_size(0.5, 0.3, A, 0.8).expect("reachable");
        assert!(power(0.5, 0.3, n.n_ceil as f64, A).expect("defined").power >= 0.8);
        assert!((power(0.0, 1.0, 24.0, A).expect("defined").power - 1.0).abs() < 1e-12);
    }
}
