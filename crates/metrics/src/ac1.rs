//! How sure Gwet's AC1 is: its standard error and interval for two raters.

use crate::agreement::two_raters;
use crate::counts::{Alpha, Interval};
use crate::error::StatsError;

/// AC1 with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ac1 {
    /// The coefficient.
    pub ac1: f64,
    /// Its standard error, items taken as independent.
    pub se: f64,
    /// The normal interval, its upper limit at most 1.
    pub interval: Interval,
}

/// AC1 of two raters from their square table of counts, with its standard error.
///
/// `v = {po(1-po) - 4(1-g)[sum p_kk (1-pi_k)/(q-1) - po e] + 4(1-g)^2 [sum_kl p_kl ((1-pi_k) + (1-pi_l))^2/4/(q-1)^2 -
/// e^2]} / (n (1-e)^2)` with `g` the coefficient, `e = sum pi_k(1-pi_k)/(q-1)`, for items drawn from a large population.
///
/// # Errors
/// As [`two_raters`].
///
/// Source: Gwet (2008).
pub fn ac1(table: &[Vec<u64>], alpha: Alpha) -> Result<Ac1, StatsError> {
    let (g, observed) = two_raters(table, alpha).map(|agreement| (agreement.gwet_ac1, agreement.observed))?;
    let n = table.iter().flatten().sum::<u64>() as f64;
    let q = table.len() as f64;
    let share = |k: usize| {
        let row: u64 = table[k].iter().sum();
        let column: u64 = table.iter().map(|row| row[k]).sum();
        (row + column) as f64 / (2.0 * n)
    };
    let rare: Vec<f64> = (0..table.len()).map(|k| 1.0 - share(k)).collect();
    let chance: f64 = rare.iter().map(|r| (1.0 - r) * r).sum::<f64>() / (q - 1.0);
    let (mut diagonal, mut all) = (0.0, 0.0);
    for (k, row) in table.iter().enumerate() {
        for (l, count) in row.iter().enumerate() {
            let p = *count as f64 / n;
            all += p * ((rare[k] + rare[l]) / 2.0 / (q - 1.0)).powi(2);
            if k == l {
                diagonal += p * rare[k] / (q - 1.0);
            }
        }
    }
    let variance = observed * (1.0 - observed) - 4.0 * (1.0 - g) * (diagonal - observed * chance)
        + 4.0 * (1.0 - g).powi(2) * (all - chance * chance);
    let se = (variance.max(0.0) / n).sqrt() / (1.0 - chance);
    let half = alpha.critical_z() * se;
    Ok(Ac1 { ac1: g, se, interval: Interval { low: g - half, high: (g + half).min(1.0) } })
}

#[cfg(test)]
mod tests {
    use super::ac1;
    use crate::agreement::two_raters;
    use crate::counts::Alpha;

    /// The closed form against leaving out one item at a time.
    #[test]
    fn it_is_what_the_jackknife_says() {
        for table in [
            vec![vec![40, 6], vec![9, 45]],
            vec![vec![90, 2], vec![5, 3]],
            vec![vec![30, 4, 1], vec![2, 25, 6], vec![5, 0, 27]],
        ] {
            let n: u64 = table.iter().flatten().sum();
            let mut leaving_out = Vec::new();
            for i in 0..table.len() {
                for j in 0..table.len() {
                    if table[i][j] > 0 {
                        let mut less = table.clone();
                        less[i][j] -= 1;
                        let g = two_raters(&less, Alpha::FIVE_PERCENT).expect("defined").gwet_ac1;
                        leaving_out.extend((0..table[i][j]).map(|_| g));
                    }
                }
            }
            let n = n as f64;
            let mean = leaving_out.iter().sum::<f64>() / n;
            let jackknife = ((n - 1.0) / n * leaving_out.iter().map(|g| (g - mean).powi(2)).sum::<f64>()).sqrt();
            let se = ac1(&table, Alpha::FIVE_PERCENT).expect("defined").se;
            assert!((se / jackknife - 1.0).abs() < 0.03, "{se} {jackknife}");
        }
    }

    #[test]
    fn full_agreement_has_no_error_and_one_class_is_named() {
        let full = ac1(&[vec![5, 0], vec![0, 7]], Alpha::FIVE_PERCENT).expect("defined");
        assert_eq!((full.ac1, full.interval.high), (1.0, 1.0));
        assert!(full.se < 1e-9);
        let one = ac1(&[vec![5, 0], vec![0, 0]], Alpha::FIVE_PERCENT);
        assert_eq!(one.map_err(|error| error.code()), Err("degenerate_chance_agreement"));
    }
}
