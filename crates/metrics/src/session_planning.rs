//! Planning by sessions: how many it takes for the session-paired test, and how many runs for a gate.
//!
//! A study is G sessions with m runs each in every arm. What m runs of one session are worth depends on the intraclass
//! correlation rho: `DEFF = 1 + (m-1) rho`. The effects of a session are taken to differ freely between the arms, which is
//! the worst case; difficulty that both arms share cancels in the paired test and makes it more powerful than planned.

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::ln_gamma;

use crate::bisection::border;
use crate::counts::{Alpha, Counts};
use crate::dist::{binomial_pmf, normal_cdf, t_upper_quantile};
use crate::error::{StatsError, open_probability, probability};
use crate::planning::{DetectableEffect, Direction};
use crate::score::{Verdict, noninferiority_lower_better};

/// Beyond this many sessions, or runs of a gate, no number is looked for.
pub const MOST: usize = 20_000;

/// Steps of the integral behind the noncentral t distribution.
const STEPS: usize = 400;

/// What every session of a study is run through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    runs: u64,
    icc: f64,
}

impl Block {
    /// `runs` runs of each session in each arm (models times repetitions) with this intraclass correlation.
    ///
    /// # Errors
    /// `empty_sample` for no run, `invalid_p` for a correlation outside [0, 1].
    pub fn new(runs: u64, icc: f64) -> Result<Self, StatsError> {
        if runs == 0 {
            return Err(StatsError::EmptySample);
        }
        Ok(Self { runs, icc: probability("intraclass correlation", icc)? })
    }

    /// The design effect `1 + (m-1) rho`.
    ///
    /// Source: Kish (1965).
    #[must_use]
    pub fn design_effect(self) -> f64 {
        1.0 + (self.runs as f64 - 1.0) * self.icc
    }

    /// The variance of a session's difference, `(p1 q1 + p2 q2) DEFF/m`.
    fn variance(self, p1: f64, p2: f64) -> f64 {
        (p1 * (1.0 - p1) + p2 * (1.0 - p2)) * self.design_effect() / self.runs as f64
    }
}

/// The power of the two-sided session-paired t test of `p1` against `p2` with `sessions` sessions.
///
/// P(|T| > t_crit) for the noncentral t distribution with G-1 degrees of freedom and noncentrality
/// `|p1-p2|/sqrt((p1q1 + p2q2) DEFF/(m G))`.
///
/// # Errors
/// `invalid_p`, `too_few_clusters` below two sessions, `degenerate_variance` when no run can differ from its arm's rate
/// (both rates are 0 or 1).
///
/// Source: Johnson and Welch (1940) for the distribution; integrated over the chi distribution by Simpson's rule.
pub fn power(p1: f64, p2: f64, sessions: usize, block: Block, alpha: Alpha) -> Result<f64, StatsError> {
    let (p1, p2) = (probability("p1", p1)?, probability("p2", p2)?);
    if sessions < 2 {
        return Err(StatsError::TooFewClusters { clusters: sessions, needed: 2 });
    }
    let variance = block.variance(p1, p2);
    if variance <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let noncentrality = (p1 - p2).abs() / (variance / sessions as f64).sqrt();
    noncentral_t_beyond(noncentrality, sessions - 1, alpha)
}

/// P(|T| > t_crit) at this noncentrality: the mean of `P(Z > t s - d) + P(Z < -t s - d)` over s = sqrt(V/df).
fn noncentral_t_beyond(noncentrality: f64, df: usize, alpha: Alpha) -> Result<f64, StatsError> {
    let critical = t_upper_quantile(alpha.value() / 2.0, df)?;
    let df = df as f64;
    // s has its mass about 1, with a deviation of about 1/sqrt(2 df).
    let reach = 10.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (high - low) / STEPS as f64;
    let log_scale = std::f64::consts::LN_2 + 0.5 * df * (0.5 * df).ln() - ln_gamma(0.5 * df);
    let (mut sum, mut mass) = (0.0, 0.0);
    for i in 0..=STEPS {
        let s = low + i as f64 * step;
        let weight = if i == 0 || i == STEPS { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
        let density = if s > 0.0 {
            (log_scale + (df - 1.0) * s.ln() - 0.5 * df * s * s).exp()
        } else if df > 1.0 {
            0.0
        } else {
            log_scale.exp()
        };
        let beyond = normal_cdf(noncentrality - critical * s) + normal_cdf(-noncentrality - critical * s);
        sum += weight * density * beyond;
        mass += weight * density;
    }
    // Divided by the mass of the same rule, which takes most of its error with it.
    Ok((sum / mass).clamp(0.0, 1.0))
}

/// The smallest number of sessions at which [`power`] reaches `target`.
///
/// # Errors
/// As [`power`]; `unreachable` for equal rates or beyond [`MOST`] sessions.
pub fn sessions_needed(p1: f64, p2: f64, block: Block, alpha: Alpha, target: f64) -> Result<usize, StatsError> {
    let target = open_probability("power", target)?;
    power(p1, p2, 2, block, alpha)?;
    smallest(2, |sessions| Ok(power(p1, p2, sessions, block, alpha)? >= target))
}

/// The smallest difference from `p1` that `sessions` sessions find with probability `target`.
///
/// # Errors
/// As [`power`]; `unreachable` when even a rate of 0 (down) or 1 (up) falls short.
///
/// Source: bisection on [`power`].
pub fn minimum_detectable_effect(
    p1: f64,
    sessions: usize,
    block: Block,
    alpha: Alpha,
    target: f64,
    direction: Direction,
) -> Result<DetectableEffect, StatsError> {
    let p1 = probability("p1", p1)?;
    let target = open_probability("power", target)?;
    if sessions < 2 {
        return Err(StatsError::TooFewClusters { clusters: sessions, needed: 2 });
    }
    let (room, sign) = match direction {
        Direction::Down => (p1, -1.0),
        Direction::Up => (1.0 - p1, 1.0),
    };
    let p2 = |d: f64| (p1 + sign * d).clamp(0.0, 1.0);
    // Without variance the difference is certain, and there is no test of it.
    let reaches = |d: f64| power(p1, p2(d), sessions, block, alpha).is_ok_and(|p| p >= target);
    if room <= 0.0 || !reaches(room) {
        return Err(StatsError::Unreachable);
    }
    let (enough, _) = border(room, 0.0, reaches);
    Ok(DetectableEffect { difference: enough, p2: p2(enough) })
}

/// The smallest number of exposed, independent runs with which a gate at `limit` passes an arm of true rate `rate` with
/// probability `target`: P(X <= c) >= target, c being the most laundered runs whose exact one-sided upper limit keeps the
/// limit.
///
/// # Errors
/// `invalid_p`; `unreachable` when the rate is not below the limit, or beyond [`MOST`] runs.
///
/// Source: Clopper and Pearson (1934), inverted.
pub fn runs_for_limit(rate: f64, limit: f64, alpha: Alpha, target: f64) -> Result<usize, StatsError> {
    let (rate, limit) = (probability("rate", rate)?, probability("limit", limit)?);
    let target = open_probability("power", target)?;
    if rate >= limit {
        return Err(StatsError::Unreachable);
    }
    // The upper limit of c among n keeps the limit exactly when P(Bin(n, limit) <= c) <= alpha.
    let mut most_passing: Option<u64> = None;
    for n in 1..=MOST as u64 {
        let next = most_passing.map_or(0, |c| c + 1);
        if next < n && binomial_cdf(next, n, limit)? <= alpha.value() {
            most_passing = Some(next);
        }
        if let Some(c) = most_passing
            && binomial_cdf(c, n, rate)? >= target
        {
            return Ok(n as usize);
        }
    }
    Err(StatsError::Unreachable)
}

/// P(X <= k) of Binomial(n, p), for k < n.
fn binomial_cdf(k: u64, n: u64, p: f64) -> Result<f64, StatsError> {
    if p <= 0.0 {
        return Ok(1.0);
    }
    checked_beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p)
        .map_err(|_| StatsError::InvalidParameter { what: "binomial", value: p })
}

/// Runs per arm with which the non-inferiority test at `margin` passes two arms of the same true rate with probability
/// `target`, over all outcomes of both.
///
/// The power is not quite monotone in the number of runs, so a number that is smaller by a few may do as well.
///
/// # Errors
/// `invalid_p`; `invalid_alpha` unless `alpha < 1/2`; `unreachable` for a margin of 0, or beyond 2,000 runs.
///
/// Source: the score test of Miettinen and Nurminen (1985), enumerated.
pub fn runs_for_margin(rate: f64, margin: f64, alpha: Alpha, target: f64) -> Result<usize, StatsError> {
    const MOST_ENUMERATED: usize = 2_000;
    let rate = probability("rate", rate)?;
    let margin = open_probability("margin", margin)?;
    let target = open_probability("power", target)?;
    alpha.doubled()?;
    match smallest(1, |n| Ok(n > MOST_ENUMERATED || pass_probability(rate, n as u64, margin, alpha)? >= target))? {
        n if n > MOST_ENUMERATED => Err(StatsError::Unreachable),
        n => Ok(n),
    }
}

fn pass_probability(rate: f64, n: u64, margin: f64, alpha: Alpha) -> Result<f64, StatsError> {
    let pmf = binomial_pmf(n, rate);
    let mut below = Vec::with_capacity(pmf.len() + 1);
    let mut sum = 0.0;
    below.push(sum);
    for p in &pmf {
        sum += p;
        below.push(sum);
    }
    // The more the reference launders, the more the new arm may: the edge only moves up.
    let mut passing = 0_u64;
    let mut power = 0.0;
    for (x2, p2) in (0..).zip(&pmf) {
        while passing <= n && passes(passing, x2, n, margin, alpha)? {
            passing += 1;
        }
        power += p2 * below[passing as usize];
    }
    Ok(power)
}

fn passes(x1: u64, x2: u64, n: u64, margin: f64, alpha: Alpha) -> Result<bool, StatsError> {
    match noninferiority_lower_better(Counts::new(x1, n)?, Counts::new(x2, n)?, margin, alpha) {
        Ok(test) => Ok(test.score == Verdict::Pass),
        Err(StatsError::DegenerateVariance) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The smallest number from `from` up that is enough, by doubling and halving.
fn smallest(from: usize, enough: impl Fn(usize) -> Result<bool, StatsError>) -> Result<usize, StatsError> {
    let (mut short, mut reached) = (from - 1, from);
    while !enough(reached)? {
        if reached >= MOST {
            return Err(StatsError::Unreachable);
        }
        short = reached;
        reached = (2 * reached).min(MOST);
    }
    while reached - short > 1 {
        let middle = short + (reached - short) / 2;
        if enough(middle)? {
            reached = middle;
        } else {
            short = middle;
        }
    }
    Ok(reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Alpha = Alpha::FIVE_PERCENT;

    fn block(runs: u64, icc: f64) -> Block {
        Block::new(runs, icc).expect("valid")
    }

    #[test]
    fn the_noncentral_t_is_that_of_the_books() {
        // scipy.stats.nct.sf(t, df, d) + nct.cdf(-t, df, d) at the two-sided 5% point.
        for (d, df, expect) in [
            (0.0, 11, 0.05),
            (3.0, 11, 0.779_595_179_152_589),
            (2.0, 5, 0.368_157_514_138_397),
            (4.0, 1, 0.246_355_587_288_993),
            (1.5, 200, 0.320_468_533_233_286),
        ] {
            let found = noncentral_t_beyond(d, df, A).expect("defined");
            assert!((found - expect).abs() < 1e-6, "d {d}, df {df}: {found} for {expect}");
        }
    }

    #[test]
    fn clustering_costs_sessions() {
        let needed = |icc| sessions_needed(0.722, 0.606, block(6, icc), A, 0.8).expect("reachable");
        assert!(needed(0.0) < needed(0.2) && needed(0.2) < needed(1.0));
        let g = needed(0.2);
        assert!(power(0.722, 0.606, g, block(6, 0.2), A).expect("defined") >= 0.8);
        assert!(power(0.722, 0.606, g - 1, block(6, 0.2), A).expect("defined") < 0.8);
    }

    #[test]
    fn what_is_detectable_is_detected() {
        let effect = minimum_detectable_effect(0.722, 12, block(6, 0.2), A, 0.8, Direction::Down).expect("reachable");
        assert!((power(0.722, effect.p2, 12, block(6, 0.2), A).expect("defined") - 0.8).abs() < 1e-9);
    }

    #[test]
    fn gates_need_what_the_notes_say() {
        // One-sided exact bounds without an event: 19, 29, 59, 99 runs.
        let clean = |limit| runs_for_limit(0.0, limit, A, 0.8).expect("reachable");
        assert_eq!([0.15, 0.10, 0.05, 0.03].map(clean), [19, 29, 59, 99]);
        // 0/n against 0/n by the score test: 16, 25, 52, 88.
        let against = |margin| runs_for_margin(0.0, margin, A, 0.8).expect("reachable");
        assert_eq!([0.15, 0.10, 0.05, 0.03].map(against), [16, 25, 52, 88]);
    }

    #[test]
    fn impossible_plans_are_named() {
        let code = |r: Result<usize, StatsError>| r.map_err(|e| e.code());
        assert_eq!(Block::new(0, 0.1).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(Block::new(1, f64::NAN).map_err(|e| e.code()), Err("invalid_p"));
        assert_eq!(code(sessions_needed(0.3, 0.3, block(6, 0.2), A, 0.8)), Err("unreachable"));
        assert_eq!(code(sessions_needed(1.0, 0.0, block(6, 0.2), A, 0.8)), Err("degenerate_variance"));
        assert_eq!(power(0.5, 0.2, 1, block(6, 0.2), A).map_err(|e| e.code()), Err("too_few_clusters"));
        assert_eq!(code(runs_for_limit(0.1, 0.1, A, 0.8)), Err("unreachable"));
        assert_eq!(code(runs_for_margin(0.3, 0.0, A, 0.8)), Err("invalid_p"));
        assert_eq!(code(runs_for_margin(0.5, 0.001, A, 0.8)), Err("unreachable"));
    }
}
