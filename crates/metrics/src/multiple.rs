//! P-values of several tests read together.

use crate::counts::Alpha;
use crate::error::{StatsError, probability};

/// Whether a hypothesis is rejected at the family's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Rejected.
    Reject,
    /// Kept.
    Keep,
}

/// Adjusted p-values, each list in the order of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjusted {
    /// Holm's step-down, which controls the family-wise error rate.
    pub holm: Vec<f64>,
    /// Benjamini and Hochberg's step-up, which controls the false discovery rate.
    pub bh: Vec<f64>,
    /// Benjamini and Yekutieli's, under any dependence.
    pub by: Vec<f64>,
    /// Bonferroni's.
    pub bonferroni: Vec<f64>,
}

impl Adjusted {
    /// The decisions of one of the lists at a level.
    #[must_use]
    pub fn decide(adjusted: &[f64], alpha: Alpha) -> Vec<Decision> {
        // An adjusted value is a product of rounded numbers, so one that equals alpha may come out a hair above it.
        let bound = alpha.value() * (1.0 + 1e-12);
        adjusted.iter().map(|p| if *p <= bound { Decision::Reject } else { Decision::Keep }).collect()
    }
}

/// Adjusts p-values for their number.
///
/// Holm: running maximum of `(n-i+1) p_(i)`; Benjamini-Hochberg: running minimum from the largest of `n p_(i) / i`;
/// Benjamini-Yekutieli: the latter times `sum 1/i`; Bonferroni: `n p`. All are capped at 1.
///
/// # Errors
/// `empty_sample` for no p-value, `invalid_p` for one that is NaN or outside [0, 1].
///
/// Source: Holm (1979), Benjamini and Hochberg (1995), Benjamini and Yekutieli (2001).
pub fn adjust(p_values: &[f64]) -> Result<Adjusted, StatsError> {
    if p_values.is_empty() {
        return Err(StatsError::EmptySample);
    }
    for p in p_values {
        probability("p-value", *p)?;
    }
    let n = p_values.len();
    let count = n as f64;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));

    let mut holm = vec![0.0; n];
    let mut floor: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        floor = floor.max((n - rank) as f64 * p_values[at]).min(1.0);
        holm[at] = floor;
    }

    let harmonic: f64 = (1..=n).map(|i| 1.0 / i as f64).sum();
    let step_up = |factor: f64| {
        let mut adjusted = vec![0.0; n];
        let mut ceiling: f64 = 1.0;
        for (rank, &at) in order.iter().enumerate().rev() {
            ceiling = ceiling.min(factor * count * p_values[at] / (rank + 1) as f64);
            adjusted[at] = ceiling;
        }
        adjusted
    };
    Ok(Adjusted {
        holm,
        bh: step_up(1.0),
        by: step_up(harmonic),
        bonferroni: p_values.iter().map(|p| (count * p).min(1.0)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bad_lists_are_named() {
        assert_eq!(adjust(&[]).map_err(|e| e.code()), Err("empty_sample"));
        for bad in [f64::NAN, -0.1, 1.2, f64::INFINITY] {
            assert_eq!(adjust(&[0.1, bad]).map_err(|e| e.code()), Err("invalid_p"), "{bad}");
        }
    }

    #[test]
    fn a_value_at_the_level_is_rejected() {
        let third = 0.05 / 3.0;
        let a = adjust(&[third, third, third]).expect("valid");
        assert_eq!(Adjusted::decide(&a.holm, Alpha::FIVE_PERCENT), vec![Decision::Reject; 3]);
    }

    proptest! {
        #[test]
        fn adjusting_keeps_order_and_only_raises(p in proptest::collection::vec(0.0f64..=1.0, 1..20)) {
            let a = adjust(&p).expect("valid");
            for list in [&a.holm, &a.bh, &a.by, &a.bonferroni] {
                for i in 0..p.len() {
                    prop_assert!(list[i] >= p[i] - 1e-15 && list[i] <= 1.0);
                    for j in 0..p.len() {
                        prop_assert!(p[i] > p[j] || list[i] <= list[j]);
                    }
                }
            }
            for ((bh, holm), bonferroni) in a.bh.iter().zip(&a.holm).zip(&a.bonferroni) {
                prop_assert!(*bh <= holm + 1e-12 && *holm <= bonferroni + 1e-12);
            }
        }
    }
}
