//! The cluster bootstrap of a rate, with every resample enumerated.
//!
//! With G clusters there are G^G ordered resamples but far fewer different ones, so the whole distribution is cheap at
//! the size of a study and needs no random numbers.

use crate::counts::Counts;
use crate::error::StatsError;

/// The most clusters that are enumerated.
const MAX_CLUSTERS: usize = 12;

/// The bootstrap distribution of a rate over clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterBootstrap {
    /// G^G, the number of ordered resamples.
    pub resamples: u64,
    /// The mean over resamples.
    pub mean: f64,
    /// The standard deviation over resamples (divided by their number).
    pub sd: f64,
    /// The 2.5% quantile.
    pub q025: f64,
    /// The median.
    pub q50: f64,
    /// The 97.5% quantile.
    pub q975: f64,
}

/// A rate and the number of ordered resamples that have it.
#[derive(Clone, Copy)]
struct Weighted {
    rate: f64,
    ways: u64,
}

/// Enumerates the bootstrap over clusters of the ratio estimator `sum x / sum n`.
///
/// A quantile is the smallest rate whose cumulative share reaches the level.
///
/// # Errors
/// `empty_sample` for no cluster, `too_large` beyond 12 clusters.
///
/// Source: Davison and Hinkley (1997), section 2.4 and 3.8.
pub fn cluster_bootstrap(clusters: &[Counts]) -> Result<ClusterBootstrap, StatsError> {
    let g = clusters.len();
    if g == 0 {
        return Err(StatsError::EmptySample);
    }
    if g > MAX_CLUSTERS {
        return Err(StatsError::TooLarge { what: "cluster bootstrap", size: g as u64, limit: MAX_CLUSTERS as u64 });
    }
    let mut all = Vec::new();
    enumerate(clusters, g as u64, Weighted { rate: 0.0, ways: 1 }, Sums { x: 0, n: 0 }, &mut all);
    all.sort_by(|a, b| a.rate.total_cmp(&b.rate));

    let resamples: u64 = all.iter().map(|w| w.ways).sum();
    let total = resamples as f64;
    let mean = all.iter().map(|w| w.rate * w.ways as f64).sum::<f64>() / total;
    let variance = all.iter().map(|w| (w.rate - mean).powi(2) * w.ways as f64).sum::<f64>() / total;
    let quantile = |level: f64| {
        let mut seen = 0;
        all.iter()
            .find(|w| {
                seen += w.ways;
                seen as f64 >= level * total
            })
            .map_or(mean, |w| w.rate)
    };
    Ok(ClusterBootstrap {
        resamples,
        mean,
        sd: variance.sqrt(),
        q025: quantile(0.025),
        q50: quantile(0.5),
        q975: quantile(0.975),
    })
}

#[derive(Clone, Copy)]
struct Sums {
    x: u64,
    n: u64,
}

/// Chooses how often the first cluster is drawn, then goes on with the rest; `left` draws remain.
fn enumerate(clusters: &[Counts], left: u64, so_far: Weighted, sums: Sums, all: &mut Vec<Weighted>) {
    let Some((cluster, rest)) = clusters.split_first() else { return };
    if rest.is_empty() {
        let (x, n) = (sums.x + left * cluster.events(), sums.n + left * cluster.trials());
        all.push(Weighted { rate: x as f64 / n as f64, ways: so_far.ways });
        return;
    }
    // C(left, times), kept exact by multiplying before dividing.
    let mut choose = 1;
    for times in 0..=left {
        let next = Sums { x: sums.x + times * cluster.events(), n: sums.n + times * cluster.trials() };
        let weighted = Weighted { rate: 0.0, ways: so_far.ways * choose };
        enumerate(rest, left - times, weighted, next, all);
        choose = choose * (left - times) / (times + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordered_resample_is_counted() {
        for g in 1..=8_u64 {
            let clusters: Vec<Counts> = (0..g).map(|i| Counts::new(i % 4, 6).expect("valid")).collect();
            assert_eq!(cluster_bootstrap(&clusters).map(|b| b.resamples), Ok(g.pow(g as u32)));
        }
    }

    #[test]
    fn the_limits_are_named() {
        let one = Counts::new(1, 6).expect("valid");
        assert_eq!(cluster_bootstrap(&[]).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(cluster_bootstrap(&[one; 13]).map_err(|e| e.code()), Err("too_large"));
    }
}
