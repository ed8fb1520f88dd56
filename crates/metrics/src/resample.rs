//! The cluster bootstrap by resampling, for studies beyond the reach of [`crate::bootstrap`]'s enumeration.
//!
//! Whole sessions are drawn with replacement. The work is cut into chunks, each with a stream of random numbers of its
//! own, and put together in order: the same seed gives the same numbers on any number of threads.

use rayon::prelude::*;

use crate::counts::{Alpha, Counts, Interval};
use crate::error::StatsError;
use crate::random::Stream;

/// Resamples that share a stream.
const CHUNK: u64 = 64;

/// The most resamples, a bound on memory.
const MAX_RESAMPLES: u64 = 10_000_000;

/// How often to resample, and with which random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    resamples: u64,
    seed: u64,
}

impl Resampling {
    /// `resamples` resamples with the streams of `seed`.
    ///
    /// # Errors
    /// `empty_sample` for none, `too_large` beyond ten million.
    pub const fn new(resamples: u64, seed: u64) -> Result<Self, StatsError> {
        match resamples {
            0 => Err(StatsError::EmptySample),
            1..=MAX_RESAMPLES => Ok(Self { resamples, seed }),
            _ => Err(StatsError::TooLarge { what: "number of resamples", size: resamples, limit: MAX_RESAMPLES }),
        }
    }
}

/// The bootstrap distribution of a statistic, in its moments and quantiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampled {
    /// The mean over resamples.
    pub mean: f64,
    /// The standard deviation over resamples (divided by their number): the bootstrap standard error.
    pub sd: f64,
    /// The median.
    pub median: f64,
    /// The percentile interval.
    pub interval: Interval,
}

/// A session's trials in two arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedCluster {
    /// The first arm.
    pub first: Counts,
    /// The second arm.
    pub second: Counts,
}

/// The bootstrap over clusters of the rate `sum x / sum n`, with its percentile interval.
///
/// A quantile is the smallest value whose cumulative share reaches the level.
///
/// # Errors
/// `empty_sample` for no cluster, `too_few_clusters` for one.
///
/// Source: Davison and Hinkley (1997), sections 2.4 and 3.8; Cameron, Gelbach and Miller (2008) for drawing clusters.
pub fn rate(clusters: &[Counts], resampling: Resampling, alpha: Alpha) -> Result<Resampled, StatsError> {
    needs_two(clusters.len())?;
    let values = resampled(clusters.len(), resampling, |drawn| {
        let (x, n) = drawn.fold((0, 0), |(x, n), place| (x + clusters[place].events(), n + clusters[place].trials()));
        x as f64 / n as f64
    });
    Ok(summary(values, alpha))
}

/// The bootstrap over clusters of the difference of two arms' rates, with its percentile interval. A cluster that is
/// drawn brings both of its arms along, which is what pairing means.
///
/// # Errors
/// `empty_sample` for no cluster, `too_few_clusters` for one.
///
/// Source: as [`rate`].
pub fn difference(clusters: &[PairedCluster], resampling: Resampling, alpha: Alpha) -> Result<Resampled, StatsError> {
    needs_two(clusters.len())?;
    let values = resampled(clusters.len(), resampling, |drawn| {
        let sums = drawn.fold([0_u64; 4], |[x1, n1, x2, n2], place| {
            let PairedCluster { first, second } = clusters[place];
            [x1 + first.events(), n1 + first.trials(), x2 + second.events(), n2 + second.trials()]
        });
        let [x1, n1, x2, n2] = sums.map(|sum| sum as f64);
        x1 / n1 - x2 / n2
    });
    Ok(summary(values, alpha))
}

const fn needs_two(clusters: usize) -> Result<(), StatsError> {
    match clusters {
        0 => Err(StatsError::EmptySample),
        1 => Err(StatsError::TooFewClusters { clusters, needed: 2 }),
        _ => Ok(()),
    }
}

/// `statistic` of each resample, in the order of resamples: it is handed as many drawn places as there are clusters.
fn resampled(
    clusters: usize,
    resampling: Resampling,
    statistic: impl Fn(&mut dyn Iterator<Item = usize>) -> f64 + Sync,
) -> Vec<f64> {
    let Resampling { resamples, seed } = resampling;
    let chunks: Vec<Vec<f64>> = (0..resamples.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut stream = Stream::new(seed, chunk);
            let size = CHUNK.min(resamples - chunk * CHUNK);
            (0..size).map(|_| statistic(&mut (0..clusters).map(|_| stream.place(clusters)))).collect()
        })
        .collect();
    chunks.concat()
}

/// Sums go over the sorted values, on one thread: their rounding depends on nothing but the values.
fn summary(mut values: Vec<f64>, alpha: Alpha) -> Resampled {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let quantile = |level: f64| {
        let rank = (level * n).ceil().clamp(1.0, n) as usize;
        values[rank - 1]
    };
    let tail = alpha.value() / 2.0;
    let interval = Interval { low: quantile(tail), high: quantile(1.0 - tail) };
    Resampled { mean, sd: variance.sqrt(), median: quantile(0.5), interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::cluster_bootstrap;

    const A: Alpha = Alpha::FIVE_PERCENT;

    fn clusters(g: u64) -> Vec<Counts> {
        (0..g).map(|i| Counts::new((i * 5 + 3) % 7, 6).expect("valid")).collect()
    }

    fn times(resamples: u64, seed: u64) -> Resampling {
        Resampling::new(resamples, seed).expect("valid")
    }

    #[test]
    fn it_approaches_the_enumeration() {
        let clusters = clusters(6);
        let exact = cluster_bootstrap(&clusters).expect("small");
        let drawn = rate(&clusters, times(200_000, 1), A).expect("defined");
        assert!((drawn.mean - exact.mean).abs() < 2e-3 && (drawn.sd - exact.sd).abs() < 2e-3);
        assert!((drawn.interval.low - exact.q025).abs() < 0.03 && (drawn.interval.high - exact.q975).abs() < 0.03);
        assert!((drawn.median - exact.q50).abs() < 0.03);
    }

    #[test]
    fn the_bytes_are_equal_whatever_the_number_of_threads() {
        let clusters = clusters(40);
        let pairs: Vec<PairedCluster> = clusters
            .iter()
            .zip(clusters.iter().rev())
            .map(|(&first, &second)| PairedCluster { first, second })
            .collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                // Not a multiple of the chunk, so that the last one is short.
                let one = rate(&clusters, times(1001, 5), A).expect("defined");
                let two = difference(&pairs, times(1001, 5), A).expect("defined");
                [one, two].map(|r| [r.mean, r.sd, r.median, r.interval.low, r.interval.high].map(f64::to_bits))
            })
        };
        let alone = on(1);
        for threads in [2, 3, 8] {
            assert_eq!(on(threads), alone, "{threads} threads");
        }
        assert_ne!(rate(&clusters, times(1001, 6), A), rate(&clusters, times(1001, 5), A), "another seed");
    }

    #[test]
    fn shared_difficulty_cancels_in_the_difference() {
        let first = clusters(12);
        let pairs: Vec<PairedCluster> = first.iter().map(|&c| PairedCluster { first: c, second: c }).collect();
        let it = difference(&pairs, times(500, 2), A).expect("defined");
        assert!(it.sd < 1e-12 && it.interval.contains(0.0));
    }

    #[test]
    fn what_cannot_be_resampled_is_named() {
        assert_eq!(Resampling::new(0, 1).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(Resampling::new(MAX_RESAMPLES + 1, 1).map_err(|e| e.code()), Err("too_large"));
        assert_eq!(rate(&[], times(10, 1), A).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(rate(&clusters(1), times(10, 1), A).map_err(|e| e.code()), Err("too_few_clusters"));
        assert_eq!(difference(&[], times(10, 1), A).map_err(|e| e.code()), Err("empty_sample"));
    }
}
