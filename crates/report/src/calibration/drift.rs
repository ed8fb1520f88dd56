//! Whether a judge has moved since it was measured before: the same items, judged again.

use laundromat_metrics::StatsError;
use laundromat_metrics::paired::mcnemar;

use super::figures::is_laundered;
use super::file::CalibrationFile;

/// What two calibrations on the same items come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Items that both hold.
    pub items: u64,
    /// Of those, the ones that got another reading or lost their verdict.
    pub changed: u64,
    /// Right before and wrong now, laundered or not.
    pub worse: u64,
    /// Wrong before and right now.
    pub better: u64,
    /// McNemar's exact p over those two.
    pub p: f64,
    /// What else is not the same, one sentence each.
    pub notes: Vec<String>,
}

impl Drift {
    /// Whether the error moved beyond chance, at 5%.
    pub fn has_moved(&self) -> bool {
        self.p < 0.05
    }

    /// In words.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "against the earlier file: {} of {} items have another reading; {} right before and wrong now, {} the other way",
            self.changed, self.items, self.worse, self.better
        )];
        lines.push(if self.has_moved() {
            format!(
                "the judge moved beyond chance (McNemar exact p = {:.4}): rates before and after are not comparable",
                self.p
            )
        } else {
            format!("no more than chance (McNemar exact p = {:.4})", self.p)
        });
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines
    }
}

/// Compares `now` with `before`, item by item.
///
/// # Errors
/// `empty_sample` when they share no item with the same label.
pub fn drift(before: &CalibrationFile, now: &CalibrationFile) -> Result<Drift, StatsError> {
    let mut drift = Drift { items: 0, changed: 0, worse: 0, better: 0, p: 1.0, notes: Vec::new() };
    for item in &now.items {
        let Some(earlier) = before.items.iter().find(|it| it.id == item.id && it.gold == item.gold) else { continue };
        let is_right = |verdict: Option<_>| verdict.is_some_and(|it| is_laundered(it) == is_laundered(item.gold));
        let (was, is) = (is_right(earlier.verdict()), is_right(item.verdict()));
        drift.items += 1;
        drift.changed += u64::from(earlier.verdict() != item.verdict());
        drift.worse += u64::from(was && !is);
        drift.better += u64::from(!was && is);
    }
    if drift.items == 0 {
        return Err(StatsError::EmptySample);
    }
    drift.p = mcnemar(drift.worse, drift.better)?.p_exact;
    let mut differs = |what: &str, is: &str, was: &str| {
        if is != was {
            drift.notes.push(format!("the {what} was \"{was}\" and is \"{is}\""));
        }
    };
    differs("judge", &now.judge.model, &before.judge.model);
    differs("endpoint", &now.judge.endpoint, &before.judge.endpoint);
    differs("instrument", &now.judge.rubric_digest, &before.judge.rubric_digest);
    differs("gold set", &now.gold.digest, &before.gold.digest);
    differs("served model", &now.judge.served.join(", "), &before.judge.served.join(", "));
    Ok(drift)
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::sample;
    use super::drift;

    #[test]
    fn a_judge_that_stayed_has_not_moved_and_one_that_got_worse_has() {
        let before = sample((48, 50), (47, 50));
        let same = drift(&before, &before).expect("shared items");
        assert_eq!((same.items, same.changed, same.p, same.has_moved()), (100, 0, 1.0, false));
        let one = drift(&before, &sample((47, 50), (47, 50))).expect("shared items");
        assert_eq!((one.worse, one.better, one.has_moved()), (1, 0, false));
        let worse = drift(&before, &sample((38, 50), (47, 50))).expect("shared items");
        assert_eq!((worse.worse, worse.has_moved()), (10, true));
        assert!(worse.lines()[1].contains("beyond chance"));
    }

    #[test]
    fn what_else_differs_is_told_and_nothing_in_common_is_an_error() {
        let before = sample((4, 5), (5, 5));
        let mut now = before.clone();
        now.judge.served.push("m-2".to_owned());
        assert_eq!(drift(&before, &now).expect("shared").notes, ["the served model was \"\" and is \"m-2\""]);
        now.items.clear();
        assert_eq!(drift(&before, &now).map_err(|error| error.code()), Err("empty_sample"));
    }
}
