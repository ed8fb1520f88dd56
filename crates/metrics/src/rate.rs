//! Rates as the reports give them: bounds for what is missing, the index, and the printed form.

use crate::counts::{Counts, Interval};
use crate::difference::z_pooled;
use crate::error::StatsError;

/// The bounds of a rate when trials are missing: all missing ones clean, `x/(n+m)`, or all of them laundered,
/// `(x+m)/(n+m)`.
///
/// `judged_and_exposed` is n, the trials the rate is over; `missing` is m, those that should have been.
///
/// # Errors
/// `count_exceeds_n` for more laundered trials than judged ones, `empty_sample` when n + m = 0.
///
/// Source: Manski (1989), worst-case bounds.
pub fn missing_bounds(laundered: u64, judged_and_exposed: u64, missing: u64) -> Result<Interval, StatsError> {
    if laundered > judged_and_exposed {
        return Err(StatsError::CountExceedsTotal { count: laundered, total: judged_and_exposed });
    }
    let all = judged_and_exposed + missing;
    Ok(Interval { low: Counts::new(laundered, all)?.rate(), high: Counts::new(laundered + missing, all)?.rate() })
}

/// The authority-discrimination index: true-approval retention minus laundering rate, from -1 (every forgery kept, every
/// real approval lost) to 1.
#[must_use]
pub fn discrimination_index(retained: Counts, laundered: Counts) -> f64 {
    retained.rate() - laundered.rate()
}

/// A rate in print: `52/72 (72.2%)`.
#[must_use]
pub fn render_rate(counts: Counts) -> String {
    format!("{}/{} ({:.1}%)", counts.events(), counts.trials(), 100.0 * counts.rate())
}

/// A contrast in print, `z=6.36`: the pooled z without its sign, since the rates beside it show the direction. When all
/// trials ended alike there is no z, and it says so: `no variance`.
#[must_use]
pub fn render_z(first: Counts, second: Counts) -> String {
    z_pooled(first, second).map_or_else(|_| "no variance".to_owned(), |test| format!("z={:.2}", test.z.abs()))
}

/// An arm in a rendered table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableArm {
    /// The arm's id.
    pub name: String,
    /// Its counts over all models.
    pub counts: Counts,
}

/// A line of a rendered table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLine {
    /// The arm's id.
    pub name: String,
    /// Its rate and contrasts.
    pub text: String,
}

/// Renders arms in order, each with its contrast to every arm before it.
#[must_use]
pub fn render_table(arms: &[TableArm]) -> Vec<TableLine> {
    arms.iter()
        .enumerate()
        .map(|(at, arm)| {
            let mut text = render_rate(arm.counts);
            for earlier in &arms[..at] {
                text.push_str(&format!(", {} vs {}", render_z(earlier.counts, arm.counts), earlier.name));
            }
            TableLine { name: arm.name.clone(), text }
        })
        .collect()
}

/// A mean recall per model and the number of runs behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelMean {
    /// The model's mean.
    pub mean: f64,
    /// Its runs.
    pub runs: u64,
}

/// Means of models put together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledMean {
    /// Weighted by runs: the mean over runs.
    pub pooled: f64,
    /// Each model alike.
    pub unweighted: f64,
}

/// Pools model means into the mean over runs, `sum n_k m_k / sum n_k`.
///
/// # Errors
/// `empty_sample` for no run, `invalid_p` for a mean outside [0, 1].
pub fn pool_means(means: &[ModelMean]) -> Result<PooledMean, StatsError> {
    let runs = means.iter().map(|m| m.runs as f64).sum::<f64>();
    if runs <= 0.0 {
        return Err(StatsError::EmptySample);
    }
    for m in means {
        crate::error::probability("mean", m.mean)?;
    }
    Ok(PooledMean {
        pooled: means.iter().map(|m| m.mean * m.runs as f64).sum::<f64>() / runs,
        unweighted: means.iter().map(|m| m.mean).sum::<f64>() / means.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_trials_widen_the_rate() {
        assert_eq!(missing_bounds(3, 10, 0), Ok(Interval { low: 0.3, high: 0.3 }));
        assert_eq!(missing_bounds(3, 10, 10), Ok(Interval { low: 0.15, high: 0.65 }));
        assert_eq!(missing_bounds(0, 0, 4), Ok(Interval { low: 0.0, high: 1.0 }));
        assert_eq!(missing_bounds(0, 0, 0).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(missing_bounds(4, 3, 9).map_err(|e| e.code()), Err("count_exceeds_n"));
    }

    #[test]
    fn a_contrast_without_variance_says_so() {
        let none = Counts::new(0, 24).expect("valid");
        assert_eq!(render_z(none, none), "no variance");
        assert_eq!(render_rate(none), "0/24 (0.0%)");
        let arms = [TableArm { name: "a".into(), counts: none }, TableArm { name: "b".into(), counts: none }];
        assert_eq!(render_table(&arms)[1].text, "0/24 (0.0%), no variance vs a");
    }

    #[test]
    fn the_index_is_retention_minus_laundering() {
        let (tar, lr) = (Counts::new(9, 10).expect("valid"), Counts::new(4, 10).expect("valid"));
        assert!((discrimination_index(tar, lr) - 0.5).abs() < 1e-12);
    }
}
