//! Agreement between raters: kappa, alpha and AC1 for the gold set and for the judge against it.

use std::collections::BTreeMap;

use crate::counts::{Alpha, Interval};
use crate::error::StatsError;

/// Two raters' agreement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoRaterAgreement {
    /// The share of items both put in the same class.
    pub observed: f64,
    /// The share expected from the two margins.
    pub expected: f64,
    /// Cohen's kappa.
    pub cohen_kappa: f64,
    /// Its standard error.
    pub kappa_se: f64,
    /// Its normal interval, not clipped.
    pub kappa_interval: Interval,
    /// Krippendorff's nominal alpha.
    pub krippendorff_alpha: f64,
    /// Gwet's AC1.
    pub gwet_ac1: f64,
}

/// Agreement of two raters from their square table of counts: rows are the first rater's classes, columns the second's.
///
/// `kappa = (po - pe)/(1 - pe)`; its variance is `[sum p_ii (1 - (p_i. + p_.i)(1-k))^2 + (1-k)^2 sum_{i!=j} p_ij (p_.i +
/// p_j.)^2 - (k - pe(1-k))^2] / (n (1-pe)^2)`. `alpha = 1 - Do/De` on the 2n values. `AC1 = (po - g)/(1 - g)`,
/// `g = sum pi_k (1 - pi_k) / (q - 1)`.
///
/// # Errors
/// `empty_sample` for no item, `length_mismatch` when the table is not square, `degenerate_chance_agreement` when chance
/// agreement is 1 (everything in one class).
///
/// Source: Cohen (1960); Fleiss, Cohen and Everitt (1969); Krippendorff (2004); Gwet (2008).
pub fn two_raters(table: &[Vec<u64>], alpha: Alpha) -> Result<TwoRaterAgreement, StatsError> {
    let classes = table.len();
    if let Some(row) = table.iter().find(|row| row.len() != classes) {
        return Err(StatsError::LengthMismatch { what: "agreement table", left: classes, right: row.len() });
    }
    let n = table.iter().flatten().sum::<u64>() as f64;
    if n <= 0.0 {
        return Err(StatsError::EmptySample);
    }
    let cell = |i: usize, j: usize| table[i][j] as f64 / n;
    let rows: Vec<f64> = (0..classes).map(|i| (0..classes).map(|j| cell(i, j)).sum()).collect();
    let columns: Vec<f64> = (0..classes).map(|j| (0..classes).map(|i| cell(i, j)).sum()).collect();
    let observed: f64 = (0..classes).map(|i| cell(i, i)).sum();
    let expected: f64 = rows.iter().zip(&columns).map(|(r, c)| r * c).sum();
    if 1.0 - expected < 1e-12 {
        return Err(StatsError::DegenerateChanceAgreement);
    }
    let kappa = (observed - expected) / (1.0 - expected);

    let mut variance = -(kappa - expected * (1.0 - kappa)).powi(2);
    for i in 0..classes {
        for j in 0..classes {
            variance += if i == j {
                cell(i, i) * (1.0 - (rows[i] + columns[i]) * (1.0 - kappa)).powi(2)
            } else {
                cell(i, j) * ((1.0 - kappa) * (columns[i] + rows[j])).powi(2)
            };
        }
    }
    let kappa_se = (variance.max(0.0) / n).sqrt() / (1.0 - expected);
    let half = alpha.critical_z() * kappa_se;

    // Each class's share of all 2n ratings.
    let shares: Vec<f64> = rows.iter().zip(&columns).map(|(r, c)| 0.5 * (r + c)).collect();
    let values = 2.0 * n;
    let disagreement_expected =
        shares.iter().map(|s| s * values * (values - s * values)).sum::<f64>() / (values * (values - 1.0));
    let chance = shares.iter().map(|s| s * (1.0 - s)).sum::<f64>() / (classes as f64 - 1.0);
    Ok(TwoRaterAgreement {
        observed,
        expected,
        cohen_kappa: kappa,
        kappa_se,
        kappa_interval: Interval { low: kappa - half, high: kappa + half },
        krippendorff_alpha: 1.0 - (1.0 - observed) / disagreement_expected,
        gwet_ac1: (observed - chance) / (1.0 - chance),
    })
}

/// Krippendorff's nominal alpha for any number of raters, with ratings missing.
///
/// `raters[r][u]` is rater r's class for unit u, or none. A unit with fewer than two ratings is left out.
/// `alpha = 1 - (N-1) sum_{c!=k} o_ck / sum_{c!=k} n_c n_k` on the coincidence matrix o.
///
/// # Errors
/// `empty_sample` when no unit has two ratings, `length_mismatch` for raters with different numbers of units,
/// `degenerate_chance_agreement` when only one class occurs.
///
/// Source: Krippendorff (2004), chapter 11.
pub fn krippendorff_alpha<C: Ord>(raters: &[Vec<Option<C>>]) -> Result<f64, StatsError> {
    let units = raters.first().map_or(0, Vec::len);
    if let Some(other) = raters.iter().find(|r| r.len() != units) {
        return Err(StatsError::LengthMismatch { what: "units of two raters", left: units, right: other.len() });
    }
    let mut totals: BTreeMap<&C, f64> = BTreeMap::new();
    let mut disagreements = 0.0;
    for unit in 0..units {
        let mut here: BTreeMap<&C, f64> = BTreeMap::new();
        for class in raters.iter().filter_map(|r| r[unit].as_ref()) {
            *here.entry(class).or_default() += 1.0;
        }
        let ratings: f64 = here.values().sum();
        if ratings < 2.0 {
            continue;
        }
        for (class, count) in here {
            disagreements += count * (ratings - count) / (ratings - 1.0);
            *totals.entry(class).or_default() += count;
        }
    }
    let n: f64 = totals.values().sum();
    if n <= 0.0 {
        return Err(StatsError::EmptySample);
    }
    let expected: f64 = totals.values().map(|c| c * (n - c)).sum();
    if expected <= 0.0 {
        return Err(StatsError::DegenerateChanceAgreement);
    }
    Ok(1.0 - (n - 1.0) * disagreements / expected)
}

/// Fleiss' kappa: `counts[u][c]` raters put unit u in class c, the same number of raters for each unit.
///
/// # Errors
/// `empty_sample` for no unit or fewer than two raters, `length_mismatch` when units differ in classes or raters,
/// `degenerate_chance_agreement` when only one class occurs.
///
/// Source: Fleiss (1971).
pub fn fleiss_kappa(counts: &[Vec<u64>]) -> Result<f64, StatsError> {
    let Some(first) = counts.first() else { return Err(StatsError::EmptySample) };
    let raters: u64 = first.iter().sum();
    if raters < 2 {
        return Err(StatsError::EmptySample);
    }
    let mut classes = vec![0.0; first.len()];
    let mut agreement = 0.0;
    let m = raters as f64;
    for unit in counts {
        let here: u64 = unit.iter().sum();
        if unit.len() != first.len() || here != raters {
            return Err(StatsError::LengthMismatch {
                what: "ratings of two units",
                left: first.len().max(raters as usize),
                right: unit.len().max(here as usize),
            });
        }
        let squares: f64 = unit.iter().map(|c| (*c as f64).powi(2)).sum();
        agreement += (squares - m) / (m * (m - 1.0));
        for (class, count) in classes.iter_mut().zip(unit) {
            *class += *count as f64;
        }
    }
    let units = counts.len() as f64;
    let observed = agreement / units;
    let expected: f64 = classes.iter().map(|c| (c / (units * m)).powi(2)).sum();
    if 1.0 - expected < 1e-12 {
        return Err(StatsError::DegenerateChanceAgreement);
    }
    Ok((observed - expected) / (1.0 - expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_agreement_is_named() {
        let code = |t: &[Vec<u64>]| two_raters(t, Alpha::FIVE_PERCENT).map_err(|e| e.code());
        assert_eq!(code(&[]), Err("empty_sample"));
        assert_eq!(code(&[vec![3]]), Err("degenerate_chance_agreement"));
        assert_eq!(code(&[vec![3, 1], vec![2]]), Err("length_mismatch"));
        let none: &[Vec<Option<u8>>] = &[vec![Some(1), None], vec![None, Some(1)]];
        assert_eq!(krippendorff_alpha(none).map_err(|e| e.code()), Err("empty_sample"));
        let one: &[Vec<Option<u8>>] = &[vec![Some(1)], vec![Some(1)]];
        assert_eq!(krippendorff_alpha(one).map_err(|e| e.code()), Err("degenerate_chance_agreement"));
        assert_eq!(fleiss_kappa(&[]).map_err(|e| e.code()), Err("empty_sample"));
        assert_eq!(fleiss_kappa(&[vec![3, 0], vec![2, 0]]).map_err(|e| e.code()), Err("length_mismatch"));
        assert_eq!(fleiss_kappa(&[vec![3, 0]]).map_err(|e| e.code()), Err("degenerate_chance_agreement"));
    }

    #[test]
    fn the_two_forms_of_alpha_agree() {
        let table = [vec![20, 2], vec![3, 15]];
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (i, row) in table.iter().enumerate() {
            for (j, count) in row.iter().enumerate() {
                a.extend((0..*count).map(|_| Some(i)));
                b.extend((0..*count).map(|_| Some(j)));
            }
        }
        let from_table = two_raters(&table, Alpha::FIVE_PERCENT).expect("defined").krippendorff_alpha;
        assert!((krippendorff_alpha(&[a, b]).expect("defined") - from_table).abs() < 1e-12);
    }
}
