//! The distributions in the shapes the crate needs, all taken from `statrs`.
//!
//! Upper tails are asked for as upper tails: `1 - cdf` has no digits left where p-values become interesting.

use std::f64::consts::PI;

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::factorial::ln_binomial;
use statrs::function::gamma::gamma_ur;

use crate::error::StatsError;

/// P(Z <= z).
pub(crate) fn normal_cdf(z: f64) -> f64 {
    if z < 0.0 { normal_sf(-z) } else { 1.0 - normal_sf(z) }
}

/// P(Z >= z).
pub(crate) fn normal_sf(z: f64) -> f64 {
    if z < 0.0 { 1.0 - normal_sf(-z) } else { 0.5 * normal_two_sided(z) }
}

/// P(|Z| >= |z|).
///
/// By the incomplete gamma function, since the error function of `statrs` is good to eleven digits only.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    let half_square = 0.5 * z * z;
    if half_square <= 0.0 {
        1.0
    } else if half_square < 800.0 {
        gamma_ur(0.5, half_square)
    } else {
        // Below the smallest double.
        0.0
    }
}

/// The z with P(Z >= z) = p, for p strictly inside the unit interval.
pub(crate) fn normal_upper_quantile(p: f64) -> f64 {
    let z = -Normal::standard().inverse_cdf(p);
    // The quantile has eleven digits as well; one Newton step gives the rest.
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    let step = (normal_sf(z) - p) / density;
    if step.is_finite() { z + step } else { z }
}

/// P(X >= x) of the chi-square distribution with `df` degrees of freedom.
pub(crate) fn chi_square_sf(x: f64, df: usize) -> Result<f64, StatsError> {
    let df = df as f64;
    ChiSquared::new(df)
        .map(|d| d.sf(x.max(0.0)))
        .map_err(|_| StatsError::InvalidParameter { what: "degrees of freedom", value: df })
}

fn student(df: usize) -> Result<StudentsT, StatsError> {
    let df = df as f64;
    StudentsT::new(0.0, 1.0, df).map_err(|_| StatsError::InvalidParameter { what: "degrees of freedom", value: df })
}

/// P(|T| >= |t|) with `df` degrees of freedom.
pub(crate) fn t_two_sided(t: f64, df: usize) -> Result<f64, StatsError> {
    Ok((2.0 * student(df)?.cdf(-t.abs())).min(1.0))
}

/// The t with P(T >= t) = p, for p in (0, 1/2].
pub(crate) fn t_upper_quantile(p: f64, df: usize) -> Result<f64, StatsError> {
    Ok(-student(df)?.inverse_cdf(p))
}

/// The p-quantile of Beta(a, b).
///
/// By bisection on the distribution function: the quantile of `statrs` is too coarse for rates of a few in a hundred
/// thousand, and panics for levels far below any in use.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> Result<f64, StatsError> {
    let beta = Beta::new(a, b).map_err(|_| StatsError::InvalidParameter { what: "beta shape", value: a.min(b) })?;
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        // No double is left between the two.
        if middle <= low || middle >= high {
            return Ok(middle);
        }
        if beta.cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The x with P(X >= x) = p of Beta(a, b): the mirrored lower quantile, since `1 - p` has lost the digits of a small p.
pub(crate) fn beta_upper_quantile(p: f64, a: f64, b: f64) -> Result<f64, StatsError> {
    Ok(1.0 - beta_quantile(p, b, a)?)
}

/// P(X = k) of Binomial(n, p) for every k, for p in [0, 1].
pub(crate) fn binomial_pmf(n: u64, p: f64) -> Vec<f64> {
    if p <= 0.0 || p >= 1.0 {
        let sure = if p <= 0.0 { 0 } else { n };
        return (0..=n).map(|k| if k == sure { 1.0 } else { 0.0 }).collect();
    }
    let (hit, miss) = (p.ln(), (-p).ln_1p());
    (0..=n).map(|k| (ln_binomial(n, k) + k as f64 * hit + (n - k) as f64 * miss).exp()).collect()
}

/// P(X = k) of Binomial(n, 1/2).
pub(crate) fn fair_binomial_pmf(n: u64, k: u64) -> f64 {
    (ln_binomial(n, k) - n as f64 * std::f64::consts::LN_2).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_keep_their_digits() {
        // scipy.stats.norm.sf(10), to 15 digits.
        let expect = 7.619_853_024_160_527e-24;
        assert!((normal_sf(10.0) / expect - 1.0).abs() < 1e-12);
        assert!((normal_cdf(0.0) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn beta_quantiles_invert_the_cdf() {
        for (a, b) in [(0.5, 72.5), (52.0, 21.0), (0.5, 1.5), (1.0, 24.0), (5000.5, 5000.5), (3.0, 99998.0)] {
            for p in [0.005, 0.025, 0.5, 0.975, 0.995] {
                let x = beta_quantile(p, a, b).unwrap_or(f64::NAN);
                let back = Beta::new(a, b).map_or(f64::NAN, |d| d.cdf(x));
                assert!((back - p).abs() < 1e-9, "Beta({a}, {b}) at {p}: {x} gives {back}");
            }
        }
    }

    #[test]
    fn student_quantiles_invert_the_cdf() {
        for df in [1, 2, 5, 11, 200] {
            let t = t_upper_quantile(0.025, df).unwrap_or(f64::NAN);
            assert!((t_two_sided(t, df).unwrap_or(f64::NAN) - 0.05).abs() < 1e-10, "df {df}");
        }
    }
}
