//! Looking early without paying for it: group-sequential bounds, alpha spending, and tests valid at any time.
//!
//! Looks belong on whole blocks of sessions in an order fixed beforehand; no method here repairs a look that was chosen
//! because of what the data showed.

use std::f64::consts::{E, PI};

use statrs::function::beta::ln_beta;

use crate::counts::Alpha;
use crate::dist::{normal_cdf, normal_sf};
use crate::error::{StatsError, finite, open_probability, positive, probability, trials};
use crate::paired::Observation;

/// The most looks a design may have.
const MAX_LOOKS: usize = 50;

/// How a group-sequential design shares its level between looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Strict early, nearly the full level at the end: `z_k = C sqrt(K/k)`.
    OBrienFleming,
    /// The same bound at every look: `z_k = C`.
    Pocock,
}

impl Design {
    fn bound(self, constant: f64, look: usize, looks: usize) -> f64 {
        match self {
            Self::OBrienFleming => constant * (looks as f64 / look as f64).sqrt(),
            Self::Pocock => constant,
        }
    }
}

/// The bounds of a group-sequential design.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSequential {
    /// C.
    pub constant: f64,
    /// The bound on |z| at each look.
    pub bounds: Vec<f64>,
}

/// The two-sided bounds for equally spaced looks.
///
/// C is found by bisection on the probability of ever crossing, which comes from numerical integration over the looks.
///
/// # Errors
/// `invalid_parameter` unless there are 1 to 50 looks.
///
/// Source: Armitage, McPherson and Rowe (1969); O'Brien and Fleming (1979); Pocock (1977).
pub fn group_sequential(design: Design, looks: usize, alpha: Alpha) -> Result<GroupSequential, StatsError> {
    if looks == 0 || looks > MAX_LOOKS {
        return Err(StatsError::InvalidParameter { what: "number of looks", value: looks as f64 });
    }
    let bounds = |constant: f64| -> Vec<f64> { (1..=looks).map(|k| design.bound(constant, k, looks)).collect() };
    // One look is the fixed-size test; more looks cost at most what Bonferroni would charge.
    let (mut low, mut high) = (alpha.critical_z(), Alpha::new(alpha.value() / looks as f64)?.critical_z() + 1e-9);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if crossing_probability(&bounds(middle)) > alpha.value() {
            low = middle;
        } else {
            high = middle;
        }
    }
    let constant = if looks == 1 { alpha.critical_z() } else { 0.5 * (low + high) };
    Ok(GroupSequential { constant, bounds: bounds(constant) })
}

/// The probability that |z| crosses its bound at one of the looks.
fn crossing_probability(bounds: &[f64]) -> f64 {
    let limit = |look: usize| bounds[look] * ((look + 1) as f64).sqrt();
    // The sum of the first k increments, each standard normal, on nodes between the bounds not yet crossed.
    let mut nodes = simpson(limit(0));
    let mut density: Vec<f64> = nodes.iter().map(|n| n.weight * normal_density(n.at)).collect();
    let mut crossed = 2.0 * normal_sf(limit(0));
    for look in 1..bounds.len() {
        let edge = limit(look);
        crossed += nodes
            .iter()
            .zip(&density)
            .map(|(n, d)| d * (normal_sf(edge - n.at) + normal_cdf(-edge - n.at)))
            .sum::<f64>();
        if look + 1 == bounds.len() {
            break;
        }
        let next = simpson(edge);
        density = next
            .iter()
            .map(|to| {
                to.weight * nodes.iter().zip(&density).map(|(n, d)| d * normal_density(to.at - n.at)).sum::<f64>()
            })
            .collect();
        nodes = next;
    }
    crossed
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

struct Node {
    at: f64,
    weight: f64,
}

/// Simpson's rule on [-edge, edge], fine enough for a standard normal kernel.
fn simpson(edge: f64) -> Vec<Node> {
    let intervals = 2 * ((edge / 0.12).ceil() as usize).max(16);
    let step = 2.0 * edge / intervals as f64;
    (0..=intervals)
        .map(|i| {
            let factor = match i {
                0 => 1.0,
                i if i == intervals => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            Node { at: -edge + i as f64 * step, weight: factor * step / 3.0 }
        })
        .collect()
}

/// The level spent by information fraction `t`, in the manner of O'Brien and Fleming: `2 - 2 Phi(z_{a/2}/sqrt t)`.
///
/// # Errors
/// `invalid_p` unless `0 <= t <= 1`.
///
/// Source: Lan and DeMets (1983).
pub fn spend_obrien_fleming(t: f64, alpha: Alpha) -> Result<f64, StatsError> {
    let t = probability("information fraction", t)?;
    Ok(if t > 0.0 { 2.0 * normal_sf(alpha.critical_z() / t.sqrt()) } else { 0.0 })
}

/// The level spent by information fraction `t`, in the manner of Pocock: `alpha ln(1 + (e-1) t)`.
///
/// # Errors
/// `invalid_p` unless `0 <= t <= 1`.
///
/// Source: Lan and DeMets (1983).
pub fn spend_pocock(t: f64, alpha: Alpha) -> Result<f64, StatsError> {
    let t = probability("information fraction", t)?;
    Ok(alpha.value() * ((E - 1.0) * t).ln_1p())
}

/// Evidence against a rate, valid whenever one looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EValue {
    /// ln E.
    pub log_e: f64,
    /// E; the largest double where it would overflow.
    pub e: f64,
    /// `min(1, 1/E)`.
    pub p_anytime: f64,
}

/// The beta-binomial e-value against a rate of `p0` after `events` in `trials`:
/// `E = B(x+a, n-x+b) / (B(a,b) p0^x (1-p0)^(n-x))`. Reject when `E >= 1/alpha`, at any time.
///
/// On discordant pairs with p0 = 1/2 and a = b = 1 this is the paired test. No trials yet: E = 1.
///
/// # Errors
/// `count_exceeds_n`, `invalid_p` unless `0 < p0 < 1`, `invalid_parameter` unless a and b are above 0.
///
/// Source: Ville (1939); Robbins (1970).
pub fn e_value(events: u64, trials: u64, p0: f64, a: f64, b: f64) -> Result<EValue, StatsError> {
    if events > trials {
        return Err(StatsError::CountExceedsTotal { count: events, total: trials });
    }
    let p0 = open_probability("p0", p0)?;
    let (a, b) = (positive("prior a", a)?, positive("prior b", b)?);
    let (x, rest) = (events as f64, (trials - events) as f64);
    let log_e = ln_beta(x + a, rest + b) - ln_beta(a, b) - x * p0.ln() - rest * (-p0).ln_1p();
    Ok(EValue { log_e, e: log_e.exp().min(f64::MAX), p_anytime: (-log_e).exp().min(1.0) })
}

/// A sequential test of a difference, valid whenever one looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixtureSprt {
    /// ln Lambda.
    pub log_lambda: f64,
    /// `min(1, 1/Lambda)`.
    pub p_always_valid: f64,
}

/// The mixture sequential probability ratio test of a difference of rates, with a normal mixture of standard deviation
/// `tau` over the difference.
///
/// `Lambda = sqrt(V/(V + n tau^2)) exp(n^2 tau^2 d^2 / (2 V (V + n tau^2)))`, `V = p1q1 + p2q2`.
///
/// # Errors
/// `invalid_p` for a rate outside [0, 1] or a difference outside [-1, 1], `empty_sample` for a size of 0,
/// `invalid_parameter` unless tau is above 0, `degenerate_variance` when V = 0.
///
/// Source: Johari, Koomen, Pekelis and Walsh (2022).
pub fn mixture_sprt(n_per_arm: f64, diff: f64, p1: f64, p2: f64, tau: f64) -> Result<MixtureSprt, StatsError> {
    let (p1, p2) = (probability("p1", p1)?, probability("p2", p2)?);
    if !(-1.0..=1.0).contains(&diff) {
        return Err(StatsError::InvalidProbability { what: "difference", value: diff });
    }
    let (n, tau) = (trials("trials per arm", n_per_arm)?, positive("tau", tau)?);
    let v = p1 * (1.0 - p1) + p2 * (1.0 - p2);
    if v <= 0.0 {
        return Err(StatsError::DegenerateVariance);
    }
    let wide = v + n * tau * tau;
    let log_lambda =
        finite("log likelihood ratio", 0.5 * (v / wide).ln() + (n * tau * diff).powi(2) / (2.0 * v * wide))?;
    Ok(MixtureSprt { log_lambda, p_always_valid: (-log_lambda).exp().min(1.0) })
}

/// Where a sequential probability ratio test stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SprtDecision {
    /// The upper bound was reached first: p1.
    AcceptP1,
    /// The lower bound was reached first: p0.
    AcceptP0,
    /// Neither yet.
    Continue,
}

/// Wald's sequential probability ratio test of two rates.
#[derive(Debug, Clone, PartialEq)]
pub struct WaldSprt {
    /// The log likelihood ratio after each observation.
    pub llr: Vec<f64>,
    /// `ln((1-beta)/alpha)`.
    pub upper: f64,
    /// `ln(beta/(1-alpha))`.
    pub lower: f64,
    /// At the first bound reached.
    pub decision: SprtDecision,
}

/// Wald's test of `p1` against `p0` on a sequence of outcomes; an empty sequence continues.
///
/// # Errors
/// `invalid_p` unless both rates lie in (0, 1) and differ, `invalid_alpha` unless `alpha + beta < 1`.
///
/// Source: Wald (1945).
pub fn wald_sprt(
    outcomes: &[Observation],
    p0: f64,
    p1: f64,
    alpha: Alpha,
    beta: Alpha,
) -> Result<WaldSprt, StatsError> {
    let (p0, p1) = (open_probability("p0", p0)?, open_probability("p1", p1)?);
    if p0 == p1 {
        return Err(StatsError::InvalidProbability { what: "p1, which equals p0,", value: p1 });
    }
    if alpha.value() + beta.value() >= 1.0 {
        return Err(StatsError::InvalidAlpha(alpha.value() + beta.value()));
    }
    let upper = ((1.0 - beta.value()) / alpha.value()).ln();
    let lower = (beta.value() / (1.0 - alpha.value())).ln();
    let (event, no_event) = ((p1 / p0).ln(), ((1.0 - p1) / (1.0 - p0)).ln());
    let mut sum = 0.0;
    let mut decision = SprtDecision::Continue;
    let llr = outcomes
        .iter()
        .map(|o| {
            sum += match o {
                Observation::Event => event,
                Observation::NoEvent => no_event,
            };
            if decision == SprtDecision::Continue {
                if sum >= upper {
                    decision = SprtDecision::AcceptP1;
                } else if sum <= lower {
                    decision = SprtDecision::AcceptP0;
                }
            }
            sum
        })
        .collect();
    Ok(WaldSprt { llr, upper, lower, decision })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Alpha = Alpha::FIVE_PERCENT;

    #[test]
    fn one_look_is_the_fixed_test() {
        let g = group_sequential(Design::Pocock, 1, A).expect("valid");
        assert!((g.constant - 1.959_963_984_540_054).abs() < 1e-9);
        assert_eq!(group_sequential(Design::Pocock, 0, A).map_err(|e| e.code()), Err("invalid_parameter"));
    }

    #[test]
    fn tabulated_constants() {
        // Jennison and Turnbull (2000), tables 2.1 and 2.3.
        for (design, looks, expect) in [
            (Design::Pocock, 2, 2.178),
            (Design::Pocock, 10, 2.555),
            (Design::OBrienFleming, 4, 2.024),
            (Design::OBrienFleming, 10, 2.087),
        ] {
            let g = group_sequential(design, looks, A).expect("valid");
            assert!((g.constant - expect).abs() < 1e-3, "{design:?} {looks}: {}", g.constant);
        }
    }

    #[test]
    fn spending_ends_at_alpha() {
        for spend in [spend_obrien_fleming, spend_pocock] {
            assert_eq!(spend(0.0, A), Ok(0.0));
            assert!((spend(1.0, A).expect("valid") - 0.05).abs() < 1e-12);
            assert_eq!(spend(1.1, A).map_err(|e| e.code()), Err("invalid_p"));
        }
    }

    #[test]
    fn a_huge_e_value_stays_a_number() {
        let e = e_value(5000, 5000, 0.1, 1.0, 1.0).expect("valid");
        assert!(e.e.is_finite() && e.p_anytime >= 0.0 && e.log_e > 1000.0);
        assert_eq!(e_value(0, 0, 0.0, 1.0, 1.0).map_err(|e| e.code()), Err("invalid_p"));
    }

    #[test]
    fn eight_pairs_on_one_side_are_enough() {
        let e = e_value(8, 8, 0.5, 1.0, 1.0).expect("valid");
        assert!(e.e > 28.0 && e.e < 29.0);
    }

    #[test]
    fn the_first_bound_reached_decides() {
        let run = |outcomes: &[Observation]| wald_sprt(outcomes, 0.2, 0.6, A, A).map(|s| s.decision);
        assert_eq!(run(&[]), Ok(SprtDecision::Continue));
        assert_eq!(run(&[Observation::Event; 3]), Ok(SprtDecision::AcceptP1));
        assert_eq!(run(&[Observation::NoEvent; 9]), Ok(SprtDecision::AcceptP0));
        assert_eq!(wald_sprt(&[], 0.2, 0.2, A, A).map_err(|e| e.code()), Err("invalid_p"));
    }
}
