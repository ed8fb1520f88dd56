//! How long the cluster bootstrap takes at the size of a large run: 10,000 resamples of 100,000 trials in 2,000 sessions.

use divan::Bencher;
use laundromat_metrics::resample::{PairedCluster, Resampling, difference, rate};
use laundromat_metrics::{Alpha, Counts};

const SESSIONS: u64 = 2_000;
const RUNS: u64 = 50;

fn main() {
    divan::main();
}

fn clusters() -> Vec<Counts> {
    (0..SESSIONS).filter_map(|session| Counts::new(session * 31 % (RUNS + 1), RUNS).ok()).collect()
}

fn times() -> Option<Resampling> {
    Resampling::new(10_000, 7).ok()
}

#[divan::bench(sample_count = 5)]
fn one_arm(bencher: Bencher<'_, '_>) {
    let clusters = clusters();
    bencher.bench(|| times().and_then(|times| rate(&clusters, times, Alpha::FIVE_PERCENT).ok()));
}

/// Half of the trials in each of two arms.
#[divan::bench(sample_count = 5)]
fn two_arms(bencher: Bencher<'_, '_>) {
    let half = |session: u64| Counts::new(session * 31 % (RUNS / 2 + 1), RUNS / 2).ok();
    let pairs: Vec<PairedCluster> = (0..SESSIONS)
        .filter_map(|session| Some(PairedCluster { first: half(session)?, second: half(session + 9)? }))
        .collect();
    bencher.bench(|| times().and_then(|times| difference(&pairs, times, Alpha::FIVE_PERCENT).ok()));
}
