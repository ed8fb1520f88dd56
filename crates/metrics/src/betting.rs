//! Looking at session differences early: a bettor's capital that a world without an effect does not let grow.
//!
//! Sessions are the sample, so the bets are on sessions. A cell-level e-value ([`crate::sequential::e_value`]) tests the
//! sharp null (no effect in any cell) and is too confident when effects vary by session.

use crate::counts::Alpha;
use crate::error::StatsError;

/// The largest bet: a session difference of 1 against it leaves a fifth.
const MAX_BET: f64 = 0.8;

/// The course of the capital over sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Capital {
    /// The capital after each session.
    pub path: Vec<f64>,
    /// The number of sessions after which it first reached `1/alpha`; none if it never did.
    pub stopped_after: Option<usize>,
}

/// The capital of betting on session differences `d_s` in [-1, 1] with the fixed bet l:
/// `K_t = (prod_{s<=t} (1 + l d_s) + prod_{s<=t} (1 - l d_s)) / 2`.
///
/// When every session's difference has mean 0 given the ones before it, `K` is a non-negative martingale that starts at
/// 1, so it ever reaches `1/alpha` with probability at most alpha: reject there, at any time. The bet is fixed in the plan.
///
/// # Errors
/// `empty_sample` for no session, `invalid_p` for a difference outside [-1, 1], `invalid_parameter` for a bet outside
/// (0, 0.8].
///
/// Source: Ville (1939); Waudby-Smith and Ramdas (2024) for betting on bounded means.
pub fn capital(differences: &[f64], bet: f64, alpha: Alpha) -> Result<Capital, StatsError> {
    if differences.is_empty() {
        return Err(StatsError::EmptySample);
    }
    if !(bet > 0.0 && bet <= MAX_BET) {
        return Err(StatsError::InvalidParameter { what: "bet", value: bet });
    }
    let goal = 1.0 / alpha.value();
    let (mut up, mut down) = (1.0_f64, 1.0_f64);
    let mut path = Vec::with_capacity(differences.len());
    for &d in differences {
        if !(-1.0..=1.0).contains(&d) {
            return Err(StatsError::InvalidProbability { what: "session difference", value: d });
        }
        // Beyond the largest double the decision has long been made.
        up = (up * (1.0 + bet * d)).min(f64::MAX / 2.0);
        down = (down * (1.0 - bet * d)).min(f64::MAX / 2.0);
        path.push(0.5 * up + 0.5 * down);
    }
    let stopped_after = path.iter().position(|&capital| capital >= goal).map(|at| at + 1);
    Ok(Capital { path, stopped_after })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Alpha = Alpha::FIVE_PERCENT;

    #[test]
    fn a_large_effect_stops_early_and_none_never() {
        let large = capital(&[0.6; 24], 0.5, A).expect("valid");
        // 1.3^14 / 2 is the first to exceed 20.
        assert_eq!(large.stopped_after, Some(15));
        assert_eq!(capital(&[0.0; 24], 0.5, A).map(|c| c.stopped_after), Ok(None));
        let turned = capital(&[-0.6; 24], 0.5, A).expect("valid");
        assert_eq!(turned.path, large.path);
    }

    #[test]
    fn the_expected_capital_is_one() {
        // Every sign pattern of four differences, each as likely as another.
        let sizes = [0.5, 1.0, 0.25, 0.75];
        let total: f64 = (0..16_u32)
            .map(|pattern| {
                let d: Vec<f64> =
                    sizes.iter().enumerate().map(|(i, d)| if pattern >> i & 1 == 1 { *d } else { -*d }).collect();
                capital(&d, 0.7, A).expect("valid").path[3]
            })
            .sum();
        assert!((total / 16.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn bad_bets_are_named() {
        let code = |d: &[f64], bet| capital(d, bet, A).map_err(|e| e.code());
        assert_eq!(code(&[], 0.5), Err("empty_sample"));
        assert_eq!(code(&[1.1], 0.5), Err("invalid_p"));
        assert_eq!(code(&[f64::NAN], 0.5), Err("invalid_p"));
        for bet in [0.0, -0.1, 0.81, f64::NAN] {
            assert_eq!(code(&[0.1], bet), Err("invalid_parameter"), "{bet}");
        }
        let most = capital(&[1.0; 4000], 0.8, A).expect("valid");
        assert!(most.path.iter().all(|k| k.is_finite()));
    }
}
