//! Statistics that know that trials of one session belong together.
//!
//! Sessions are the sample; models are a fixed block and repetitions are repeated measurements. A test that takes every
//! trial for an independent one is too confident by the square root of the design effect.

use std::collections::BTreeMap;

use crate::counts::{Alpha, Interval};
use crate::dist::{normal_two_sided, t_two_sided, t_upper_quantile};
use crate::error::{StatsError, finite, probability, session_difference};
use crate::signflip::sign_flip;

/// The mean of clustered outcomes, with every standard error the reports mention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterMean {
    /// The mean over trials.
    pub mean: f64,
    /// `sqrt(p(1-p)/n)`.
    pub se_bernoulli: f64,
    /// `sd/sqrt(n)`, as if trials were independent.
    pub se_clt: f64,
    /// The cluster-robust error without a small-sample factor.
    pub se_cr0: f64,
    /// The same times `sqrt(G/(G-1))`: the one to report.
    pub se_cr1: f64,
    /// `sqrt(se_clt^2 + (1/n^2) sum over clusters and i != j of r_i r_j)`.
    pub se_miller: f64,
    /// Intraclass correlation by one-way analysis of variance; none when every cluster has one trial.
    pub icc_anova: Option<f64>,
    /// Design effect, `(se_cr1/se_clt)^2`.
    pub deff: f64,
    /// n over the design effect; none at a design effect of 0.
    pub n_eff: Option<f64>,
    /// The number of clusters, G.
    pub clusters: usize,
    /// The number of trials, n.
    pub trials: usize,
}

/// The sums a cluster contributes.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    count: f64,
    sum: f64,
    squares: f64,
}

fn parts<K: Ord>(rows: impl IntoIterator<Item = (K, f64)>) -> Result<BTreeMap<K, Part>, StatsError> {
    let mut parts: BTreeMap<K, Part> = BTreeMap::new();
    for (cluster, y) in rows {
        let y = probability("outcome", y)?;
        let part = parts.entry(cluster).or_default();
        part.count += 1.0;
        part.sum += y;
        part.squares += y * y;
    }
    Ok(parts)
}

/// The mean of `(cluster, outcome)` rows, outcomes in [0, 1].
///
/// `CR0 = sqrt(sum_g S_g^2)/n` with S_g the sum of the residuals in cluster g; `CR1 = CR0 sqrt(G/(G-1))`;
/// `ICC = (MSB - MSW)/(MSB + (m0-1) MSW)` with `m0 = (n - sum n_g^2/n)/(G-1)`.
///
/// # Errors
/// `empty_sample`, `invalid_p` for an outcome outside [0, 1], `too_few_clusters` below two, `degenerate_variance` when
/// all outcomes are equal (no design effect exists; report the counts).
///
/// Source: Liang and Zeger (1986); Miller (2024), arXiv 2411.00640.
pub fn cluster_mean<K: Ord>(rows: impl IntoIterator<Item = (K, f64)>) -> Result<ClusterMean, StatsError> {
    let parts = parts(rows)?;
    let clusters = parts.len();
    needs_two(clusters)?;
    let g = clusters as f64;
    let n: f64 = parts.values().map(|p| p.count).sum();
    let mean = parts.values().map(|p| p.sum).sum::<f64>() / n;

    let (mut residual_sums, mut squares, mut between, mut within, mut size_squares) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in parts.values() {
        let s = p.sum - p.count * mean;
        residual_sums += s * s;
        // Sum of squared residuals in this cluster, from its sums.
        squares += (p.squares - 2.0 * mean * p.sum + p.count * mean * mean).max(0.0);
        between += s * s / p.count;
        within += (p.squares - p.sum * p.sum / p.count).max(0.0);
        size_squares += p.count * p.count;
    }
    if squares <= 1e-12 * n {
        return Err(StatsError::DegenerateVariance);
    }
    let se_clt = (squares / (n - 1.0) / n).sqrt();
    let se_cr0 = residual_sums.sqrt() / n;
    let se_cr1 = se_cr0 * (g / (g - 1.0)).sqrt();
    let deff = (se_cr1 / se_clt).powi(2);
    let icc_anova = (n > g).then(|| {
        let (msb, msw) = (between / (g - 1.0), within / (n - g));
        let m0 = (n - size_squares / n) / (g - 1.0);
        (msb - msw) / (msb + (m0 - 1.0) * msw)
    });
    Ok(ClusterMean {
        mean,
        se_bernoulli: (mean * (1.0 - mean) / n).max(0.0).sqrt(),
        se_clt,
        se_cr0,
        se_cr1,
        se_miller: (se_clt * se_clt + (residual_sums - squares) / (n * n)).max(0.0).sqrt(),
        icc_anova: icc_anova.filter(|icc| icc.is_finite()),
        deff,
        // Below this the residuals of every cluster cancel, and what is left is rounding.
        n_eff: (deff > 1e-12).then(|| n / deff),
        clusters,
        trials: n as usize,
    })
}

/// The difference of two arms with a cluster-robust error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterDifference {
    /// Mean of the first arm minus mean of the second.
    pub diff: f64,
    /// The robust standard error.
    pub se: f64,
    /// `diff/se`.
    pub z: f64,
    /// P(|Z| >= |z|).
    pub p_two_sided: f64,
}

/// The least-squares difference of two arms whose trials share clusters.
///
/// `var = G/(G-1) (N-1)/(N-2) sum_g (S1_g/n1 - S2_g/n2)^2`, S the residual sums of each arm in cluster g: the sandwich of a
/// regression on the arm.
///
/// # Errors
/// `empty_sample` when an arm is empty, `invalid_p` for an outcome outside [0, 1], `too_few_clusters` below two,
/// `degenerate_variance` when the error is zero.
///
/// Source: Liang and Zeger (1986), with the usual finite-sample factor.
pub fn cluster_robust_difference<K: Ord>(
    first: impl IntoIterator<Item = (K, f64)>,
    second: impl IntoIterator<Item = (K, f64)>,
) -> Result<ClusterDifference, StatsError> {
    let (first, second) = (parts(first)?, parts(second)?);
    if first.is_empty() || second.is_empty() {
        return Err(StatsError::EmptySample);
    }
    let total = |arm: &BTreeMap<K, Part>| {
        let n: f64 = arm.values().map(|p| p.count).sum();
        Part { count: n, sum: arm.values().map(|p| p.sum).sum(), squares: 0.0 }
    };
    let (t1, t2) = (total(&first), total(&second));
    let (m1, m2) = (t1.sum / t1.count, t2.sum / t2.count);
    let mut influence: BTreeMap<&K, f64> = BTreeMap::new();
    for (key, p) in &first {
        *influence.entry(key).or_default() += (p.sum - p.count * m1) / t1.count;
    }
    for (key, p) in &second {
        *influence.entry(key).or_default() -= (p.sum - p.count * m2) / t2.count;
    }
    needs_two(influence.len())?;
    let (g, n) = (influence.len() as f64, t1.count + t2.count);
    let sum: f64 = influence.values().map(|u| u * u).sum();
    if sum <= 1e-24 || n <= 2.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let se = (g / (g - 1.0) * (n - 1.0) / (n - 2.0) * sum).sqrt();
    let diff = m1 - m2;
    let z = diff / se;
    Ok(ClusterDifference { diff, se, z, p_two_sided: normal_two_sided(z) })
}

/// The differences `mean of arm 1 - mean of arm 2` of each cluster that has trials in both arms, in the order of keys.
///
/// # Errors
/// `invalid_p` for an outcome outside [0, 1].
pub fn session_differences<K: Ord>(
    first: impl IntoIterator<Item = (K, f64)>,
    second: impl IntoIterator<Item = (K, f64)>,
) -> Result<Vec<f64>, StatsError> {
    let (first, second) = (parts(first)?, parts(second)?);
    Ok(first.iter().filter_map(|(key, a)| second.get(key).map(|b| a.sum / a.count - b.sum / b.count)).collect())
}

/// The session-paired comparison of two arms: the reports' main test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedSessions {
    /// The mean of the session differences.
    pub mean_diff: f64,
    /// Its standard error, `sd/sqrt(G)`.
    pub se: f64,
    /// `mean/se`.
    pub t: f64,
    /// G - 1.
    pub df: usize,
    /// P(|T| >= |t|).
    pub p_t: f64,
    /// The t interval of the mean difference.
    pub interval: Interval,
    /// The sign-flip test's p.
    pub p_sign_flip: f64,
}

/// Tests the differences `d_s = mean of arm 1 - mean of arm 2 in session s` against zero.
///
/// # Errors
/// `empty_sample`, `too_few_clusters` below two, `invalid_parameter` for a difference that is not finite,
/// `degenerate_variance` when all sessions differ by the same amount.
///
/// Source: Student (1908); the sign-flip test is Fisher's (1935).
pub fn paired_sessions(differences: &[f64], alpha: Alpha) -> Result<PairedSessions, StatsError> {
    if differences.is_empty() {
        return Err(StatsError::EmptySample);
    }
    for d in differences {
        session_difference(*d)?;
    }
    needs_two(differences.len())?;
    let g = differences.len() as f64;
    let df = differences.len() - 1;
    let mean_diff = differences.iter().sum::<f64>() / g;
    let variance = differences.iter().map(|d| (d - mean_diff).powi(2)).sum::<f64>() / (g - 1.0);
    let largest = differences.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    // Equal differences may be left with a variance of rounding errors.
    if variance.sqrt() <= 1e-12 * largest || variance <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let se = (variance / g).sqrt();
    let t = mean_diff / se;
    let half = t_upper_quantile(alpha.value() / 2.0, df)? * se;
    Ok(PairedSessions {
        mean_diff,
        se,
        t,
        df,
        p_t: t_two_sided(t, df)?,
        interval: Interval { low: mean_diff - half, high: mean_diff + half },
        p_sign_flip: sign_flip(differences)?,
    })
}

/// How far a z computed from trials survives clustering, when the rows to estimate it are not at hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeffBound {
    /// The design effect at which significance is lost.
    pub deff_to_lose: f64,
    /// z when trials of a session are copies of each other.
    pub z_at_rho1: f64,
    /// Its two-sided p.
    pub p_at_rho1: f64,
    /// z at an intraclass correlation of 0.2.
    pub z_at_rho0_2: f64,
    /// z at an intraclass correlation of 0.5.
    pub z_at_rho0_5: f64,
}

/// Bounds a naive z by `z/sqrt(1 + (m-1) rho)` for clusters of m trials; significance is lost beyond `(z/z_crit)^2`.
///
/// # Errors
/// `invalid_parameter` unless z is finite and the clusters hold at least one trial.
///
/// Source: Kish (1965).
pub fn deff_bound(z: f64, alpha: Alpha, cluster_size: f64) -> Result<DeffBound, StatsError> {
    finite("z", z)?;
    if !cluster_size.is_finite() || cluster_size < 1.0 {
        return Err(StatsError::InvalidParameter { what: "cluster size", value: cluster_size });
    }
    let at = |rho: f64| z / (1.0 + (cluster_size - 1.0) * rho).sqrt();
    Ok(DeffBound {
        deff_to_lose: finite("squared z", (z / alpha.critical_z()).powi(2))?,
        z_at_rho1: at(1.0),
        p_at_rho1: normal_two_sided(at(1.0)),
        z_at_rho0_2: at(0.2),
        z_at_rho0_5: at(0.5),
    })
}

const fn needs_two(clusters: usize) -> Result<(), StatsError> {
    match clusters {
        0 => Err(StatsError::EmptySample),
        1 => Err(StatsError::TooFewClusters { clusters, needed: 2 }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_samples_are_named() {
        let code = |rows: &[(u8, f64)]| cluster_mean(rows.iter().copied()).map_err(|e| e.code());
        assert_eq!(code(&[]), Err("empty_sample"));
        assert_eq!(code(&[(0, 1.0), (0, 0.0)]), Err("too_few_clusters"));
        assert_eq!(code(&[(0, 1.0), (1, 1.0)]), Err("degenerate_variance"));
        assert_eq!(code(&[(0, 1.0), (1, f64::NAN)]), Err("invalid_p"));
        let paired = |d: &[f64]| paired_sessions(d, Alpha::FIVE_PERCENT).map_err(|e| e.code());
        assert_eq!(paired(&[]), Err("empty_sample"));
        assert_eq!(paired(&[0.1]), Err("too_few_clusters"));
        assert_eq!(paired(&[0.1, 0.1, 0.1]), Err("degenerate_variance"));
        assert_eq!(paired(&[0.0, 0.0]), Err("degenerate_variance"));
        assert_eq!(paired(&[0.1, f64::NAN]), Err("invalid_parameter"));
        assert_eq!(deff_bound(2.0, Alpha::FIVE_PERCENT, 0.5).map_err(|e| e.code()), Err("invalid_parameter"));
    }

    #[test]
    fn singletons_have_no_intraclass_correlation() {
        let m = cluster_mean([(0, 1.0), (1, 0.0), (2, 1.0)]).expect("defined");
        assert_eq!(m.icc_anova, None);
        assert!((m.deff - 1.0).abs() < 1e-12);
    }
}
