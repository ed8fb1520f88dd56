//! Two arms compared session by session: the analysis that the reports give by default.
//!
//! Sessions are the sample; summarizers are a fixed block and repetitions are repeated measurements. What the runs would
//! say if they were independent is kept beside it, for comparison with published tables.

use std::collections::BTreeMap;

use laundromat_metrics::cluster::{paired_sessions, session_differences};
use laundromat_metrics::multiple::adjust;
use laundromat_metrics::paired::{McNemarTest, Observation, PairCounts, match_pairs, mcnemar};
use laundromat_metrics::signflip::sign_flip;
use laundromat_metrics::strata::{CochranQ, Stratum, cmh, cochran_q};
use laundromat_metrics::{Alpha, Interval, StatsError};

use crate::clusters::JudgedRun;
use crate::data::{Contrast, Test};

/// Below this many sessions no p-value is given: that of the exact test could never reach 5%.
pub const FEWEST_SESSIONS: usize = 6;

/// Below this p-value of the test of heterogeneity a pooled value is said to hide differences.
const HETEROGENEOUS: f64 = 0.1;

/// Whether a comparison was named before the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Named in the experiment; adjusted by Holm among those.
    Primary,
    /// Everything else; adjusted by Benjamini and Hochberg.
    Exploratory,
}

impl Family {
    /// The word in tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Exploratory => "exploratory",
        }
    }

    /// Whose adjustment goes with it.
    pub fn adjustment(self) -> &'static str {
        match self {
            Self::Primary => "Holm",
            Self::Exploratory => "Benjamini-Hochberg",
        }
    }
}

/// What session differences come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Their mean.
    pub mean: f64,
    /// The 95% t interval; `None` when all sessions differ by the same, or there is one.
    pub interval: Option<Interval>,
    /// The t test's p; `None` as the interval, and below six sessions.
    pub p_t: Option<f64>,
    /// The exact sign-flip test's p; `None` below six sessions.
    pub p_sign_flip: Option<f64>,
    /// The latter among the others of its family.
    pub p_adjusted: Option<f64>,
}

impl Paired {
    /// What differences of sessions come to; `None` without any.
    pub fn of(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() {
            return None;
        }
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        let is_enough = differences.len() >= FEWEST_SESSIONS;
        let p_sign_flip = if is_enough { sign_flip(differences).ok() } else { None };
        let test = match paired_sessions(differences, Alpha::FIVE_PERCENT) {
            Ok(test) => Some(test),
            Err(StatsError::DegenerateVariance | StatsError::TooFewClusters { .. }) => None,
            Err(_) => return None,
        };
        Some(Self {
            mean,
            interval: test.map(|test| Interval { low: test.interval.low.max(-1.0), high: test.interval.high.min(1.0) }),
            p_t: test.filter(|_| is_enough).map(|test| test.p_t),
            p_sign_flip,
            p_adjusted: None,
        })
    }
}

/// Whether the two ways of counting come to the same conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Both or neither show a difference at 5%.
    Same,
    /// One shows a difference at 5% and the other does not.
    Differ,
    /// One of them says nothing.
    Unknown,
}

impl Agreement {
    /// The word in tables; empty where nothing can be said.
    pub fn id(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differ => "differ",
            Self::Unknown => "",
        }
    }
}

/// Two arms compared by session.
#[derive(Debug, Clone, PartialEq)]
pub struct BySession {
    /// First rate minus second of every session that has runs in both arms, with its place.
    pub differences: Vec<(usize, f64)>,
    /// What they come to; `None` without any.
    pub paired: Option<Paired>,
    /// Cochran, Mantel and Haenszel's z over summarizers.
    pub cmh_z: Option<f64>,
    /// Whether summarizers share one difference; `None` for one of them.
    pub heterogeneity: Option<CochranQ>,
    /// Runs of the same session, summarizer and repetition.
    pub pairs: PairCounts,
    /// McNemar's test of these.
    pub mcnemar: Option<McNemarTest>,
    /// Whether it was named in the experiment.
    pub family: Family,
}

impl BySession {
    /// Compares the runs of two arms.
    pub fn of(first: &[JudgedRun], second: &[JudgedRun], family: Family) -> Self {
        let differences = differences(first, second);
        let values: Vec<f64> = differences.iter().map(|(_, difference)| *difference).collect();
        let strata = strata(first, second);
        let pairs = match_pairs(&cells(first), &cells(second));
        Self {
            paired: Paired::of(&values),
            differences,
            cmh_z: cmh(&strata).ok().map(|test| test.signed_z),
            heterogeneity: cochran_q(&strata).ok(),
            mcnemar: (pairs.pairs > 0).then(|| mcnemar(pairs.first_only, pairs.second_only).ok()).flatten(),
            pairs,
            family,
        }
    }

    /// Whether summarizers differ so much that a pooled value hides it.
    pub fn is_heterogeneous(&self) -> bool {
        self.heterogeneity.is_some_and(|test| test.p < HETEROGENEOUS)
    }

    /// The session-level conclusion against that of the naive test, both at 5% and unadjusted.
    pub fn agreement(&self, naive: Test) -> Agreement {
        let Some(sign_flip) = self.paired.and_then(|paired| paired.p_sign_flip) else { return Agreement::Unknown };
        let naive = match naive {
            Test::Pooled { p, .. } => p <= Alpha::FIVE_PERCENT.value(),
            Test::NoVariance => false,
            Test::Deterministic | Test::NoModel | Test::Nothing => return Agreement::Unknown,
        };
        if naive == (sign_flip <= Alpha::FIVE_PERCENT.value()) { Agreement::Same } else { Agreement::Differ }
    }
}

fn differences(first: &[JudgedRun], second: &[JudgedRun]) -> Vec<(usize, f64)> {
    let sessions = |runs: &[JudgedRun]| runs.iter().map(|run| run.session).collect::<std::collections::BTreeSet<_>>();
    let shared = &sessions(first) & &sessions(second);
    let values = session_differences(first.iter().map(JudgedRun::clustered), second.iter().map(JudgedRun::clustered));
    shared.into_iter().zip(values.unwrap_or_default()).collect()
}

fn strata(first: &[JudgedRun], second: &[JudgedRun]) -> Vec<Stratum> {
    let mut counts: BTreeMap<usize, [u64; 4]> = BTreeMap::new();
    for (offset, runs) in [(0, first), (2, second)] {
        for run in runs {
            let cell = counts.entry(run.summarizer).or_default();
            cell[offset] += u64::from(run.event);
            cell[offset + 1] += 1;
        }
    }
    counts.into_values().filter_map(|[x1, n1, x2, n2]| Stratum::new(x1, n1, x2, n2).ok()).collect()
}

fn cells(runs: &[JudgedRun]) -> BTreeMap<(usize, usize, u32), Observation> {
    let observed = |run: &JudgedRun| if run.event { Observation::Event } else { Observation::NoEvent };
    runs.iter().map(|run| ((run.session, run.summarizer, run.rep), observed(run))).collect()
}

/// Adjusts the sign-flip p of every contrast within its family.
pub(crate) fn adjust_families(contrasts: &mut [Contrast]) {
    for family in [Family::Primary, Family::Exploratory] {
        let mut tested: Vec<&mut Paired> = contrasts
            .iter_mut()
            .filter_map(|contrast| contrast.by_session.as_mut())
            .filter(|it| it.family == family)
            .filter_map(|it| it.paired.as_mut())
            .filter(|paired| paired.p_sign_flip.is_some())
            .collect();
        let p: Vec<f64> = tested.iter().filter_map(|paired| paired.p_sign_flip).collect();
        let Ok(adjusted) = adjust(&p) else { continue };
        let adjusted = match family {
            Family::Primary => adjusted.holm,
            Family::Exploratory => adjusted.bh,
        };
        for (paired, p) in tested.iter_mut().zip(adjusted) {
            paired.p_adjusted = Some(p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(events: &[(usize, bool)]) -> Vec<JudgedRun> {
        events.iter().map(|&(session, event)| JudgedRun { session, summarizer: 0, rep: 1, event }).collect()
    }

    fn arms(sessions: usize) -> BySession {
        let first: Vec<(usize, bool)> = (0..sessions).map(|s| (s, true)).collect();
        let second: Vec<(usize, bool)> = (0..sessions).map(|s| (s, s == 0)).collect();
        BySession::of(&runs(&first), &runs(&second), Family::Exploratory)
    }

    #[test]
    fn few_sessions_have_differences_and_no_p() {
        let it = arms(5);
        let paired = it.paired.expect("differences");
        assert_eq!((paired.p_sign_flip, paired.p_t), (None, None));
        assert!(paired.interval.is_some() && it.differences.len() == 5);
        assert_eq!(it.agreement(Test::Pooled { z: 3.0, p: 0.001 }), Agreement::Unknown);
        assert!(arms(6).paired.expect("differences").p_sign_flip.is_some());
    }

    #[test]
    fn the_two_conclusions_are_held_against_each_other() {
        let it = arms(6);
        // 2/2^5: five sessions show it and one shows nothing.
        assert_eq!(it.paired.and_then(|paired| paired.p_sign_flip), Some(0.0625));
        assert_eq!(it.agreement(Test::Pooled { z: 3.0, p: 0.001 }), Agreement::Differ);
        assert_eq!(it.agreement(Test::Pooled { z: 0.3, p: 0.7 }), Agreement::Same);
        assert_eq!(it.agreement(Test::Deterministic), Agreement::Unknown);
    }

    #[test]
    fn equal_differences_have_a_test_and_no_interval() {
        let first: Vec<(usize, bool)> = (0..8).map(|s| (s, true)).collect();
        let second: Vec<(usize, bool)> = (0..8).map(|s| (s, false)).collect();
        let it = BySession::of(&runs(&first), &runs(&second), Family::Primary).paired.expect("differences");
        assert_eq!((it.mean, it.interval, it.p_sign_flip), (1.0, None, Some(2.0 / 256.0)));
    }

    #[test]
    fn sessions_of_one_arm_alone_are_not_compared() {
        let it = BySession::of(&runs(&[(0, true), (1, true)]), &runs(&[(1, false), (2, false)]), Family::Primary);
        assert_eq!(it.differences, [(1, 1.0)]);
        assert_eq!(BySession::of(&[], &[], Family::Primary).paired, None);
    }
}
