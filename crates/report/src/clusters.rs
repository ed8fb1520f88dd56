//! What one arm's runs are worth, given that the runs of a session share it.

use std::collections::BTreeMap;

use laundromat_metrics::cluster::cluster_mean;
use laundromat_metrics::interval::wilson_effective_n;
use laundromat_metrics::{Alpha, Counts, Interval, StatsError};

/// A judged run that was sent its whole plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedRun {
    /// Place of the session.
    pub session: usize,
    /// Place of the summarizer.
    pub summarizer: usize,
    /// The repetition.
    pub rep: u32,
    /// Whether the event that the plant's kind counts occurred.
    pub event: bool,
}

impl JudgedRun {
    /// The session and the event as a number, as the statistics take them.
    pub(crate) fn clustered(&self) -> (usize, f64) {
        (self.session, f64::from(u8::from(self.event)))
    }
}

/// How the design effect came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// From the runs.
    Estimated,
    /// All runs ended alike, so that nothing can be estimated: every session counts once, the worst case.
    Alike,
}

/// A rate over sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clustered {
    /// Sessions with a run.
    pub sessions: usize,
    /// Variance of the rate over that of independent runs, at least 1.
    pub deff: f64,
    /// Runs over the design effect.
    pub n_eff: f64,
    /// Intraclass correlation; `None` where it is not defined.
    pub icc: Option<f64>,
    /// Wilson's 95% interval on the effective number of runs.
    pub interval: Interval,
    /// Where the design effect is from.
    pub basis: Basis,
    /// The share of pairs of repetitions of one cell that ended alike; `None` without such a pair.
    pub repetitions_agree: Option<f64>,
}

impl Clustered {
    /// The rate of some runs; `None` below two sessions, where nothing is known of how sessions vary.
    pub fn of(runs: &[JudgedRun]) -> Option<Self> {
        let events = runs.iter().filter(|run| run.event).count() as u64;
        let counts = Counts::new(events, runs.len() as u64).ok()?;
        let (sessions, deff, icc, basis) = match cluster_mean(runs.iter().map(JudgedRun::clustered)) {
            Ok(mean) => (mean.clusters, mean.deff.max(1.0), mean.icc_anova, Basis::Estimated),
            Err(StatsError::DegenerateVariance) => {
                let sessions = sessions(runs);
                (sessions, runs.len() as f64 / sessions as f64, None, Basis::Alike)
            }
            Err(_) => return None,
        };
        let effective = wilson_effective_n(counts, deff, Alpha::FIVE_PERCENT).ok()?;
        Some(Self {
            sessions,
            deff,
            n_eff: effective.n_eff,
            icc,
            interval: effective.interval,
            basis,
            repetitions_agree: repetitions_agree(runs),
        })
    }
}

fn sessions(runs: &[JudgedRun]) -> usize {
    runs.iter().map(|run| run.session).collect::<std::collections::BTreeSet<_>>().len()
}

fn repetitions_agree(runs: &[JudgedRun]) -> Option<f64> {
    let mut cells: BTreeMap<(usize, usize), [u64; 2]> = BTreeMap::new();
    for run in runs {
        cells.entry((run.session, run.summarizer)).or_default()[usize::from(run.event)] += 1;
    }
    let pairs = |n: u64| n * n.saturating_sub(1) / 2;
    let alike: u64 = cells.values().map(|[no, yes]| pairs(*no) + pairs(*yes)).sum();
    let all: u64 = cells.values().map(|[no, yes]| pairs(no + yes)).sum();
    (all > 0).then(|| alike as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(session: usize, rep: u32, event: bool) -> JudgedRun {
        JudgedRun { session, summarizer: 0, rep, event }
    }

    #[test]
    fn copies_are_worth_one_run() {
        let runs: Vec<JudgedRun> = (0..8).flat_map(|s| [1, 2].map(|rep| run(s, rep, s % 2 == 0))).collect();
        let it = Clustered::of(&runs).expect("enough sessions");
        assert_eq!((it.repetitions_agree, it.icc, it.basis), (Some(1.0), Some(1.0), Basis::Estimated));
        assert!(it.deff > 2.0 && it.n_eff < 8.0, "{it:?}");
    }

    #[test]
    fn runs_that_are_all_alike_count_their_sessions() {
        let runs: Vec<JudgedRun> = (0..12).flat_map(|s| [1, 2].map(|rep| run(s, rep, false))).collect();
        let it = Clustered::of(&runs).expect("enough sessions");
        assert_eq!((it.basis, it.n_eff, it.icc, it.interval.low), (Basis::Alike, 12.0, None, 0.0));
    }

    #[test]
    fn one_session_says_nothing_about_others() {
        assert_eq!(Clustered::of(&[run(0, 1, true), run(0, 2, false)]), None);
        assert_eq!(Clustered::of(&[]), None);
    }
}
