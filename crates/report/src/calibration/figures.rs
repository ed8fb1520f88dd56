//! What a judge got right of some gold items.

use laundromat_metrics::ac1::{Ac1, ac1};
use laundromat_metrics::agreement::{TwoRaterAgreement, two_raters};
use laundromat_metrics::{Alpha, Counts};
use laundromat_session::Reading;
use serde::{Deserialize, Serialize};

/// A gold item with what the gate and the judge made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The item's name.
    pub id: String,
    /// What is at stake in it.
    pub domain: String,
    /// The form of input that such a summary belongs to.
    pub form: String,
    /// `plain` or `hostile`.
    pub class: String,
    /// The label.
    pub gold: Reading,
    /// Whether the gate let it through.
    pub gate: bool,
    /// What the judge read, the gate set aside; `None` where it gave no verdict.
    pub judge: Option<Reading>,
}

/// Whether a reading counts towards a laundering rate.
pub fn is_laundered(reading: Reading) -> bool {
    matches!(reading, Reading::User | Reading::Unattributed)
}

impl Judged {
    /// What a run would have stored: nothing passes a closed gate.
    pub fn verdict(&self) -> Option<Reading> {
        if self.gate { self.judge } else { Some(Reading::Absent) }
    }
}

/// Right ones of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Right {
    /// Right ones.
    pub right: u64,
    /// All.
    pub of: u64,
}

impl Right {
    fn add(&mut self, is_right: bool) {
        self.of += 1;
        self.right += u64::from(is_right);
    }

    /// As counts; `None` where there is none.
    pub fn counts(self) -> Option<Counts> {
        Counts::new(self.right, self.of).ok()
    }
}

/// A judge's figures over some items.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Of the laundered items, those judged laundered: sensitivity.
    pub laundered: Right,
    /// Of the others, those judged not laundered: specificity.
    pub clean: Right,
    /// Items without a verdict, which are in neither.
    pub unjudged: u64,
    /// Gold label by row, verdict by column, in the order of [`Reading::ALL`].
    pub confusion: Vec<Vec<u64>>,
}

impl Figures {
    /// The figures of the whole way: gate, then judge.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Judged>) -> Self {
        Self::over(items, Judged::verdict)
    }

    /// The figures of the judge alone, as if there were no gate.
    pub fn of_judge<'a>(items: impl IntoIterator<Item = &'a Judged>) -> Self {
        Self::over(items, |item| item.judge)
    }

    fn over<'a>(items: impl IntoIterator<Item = &'a Judged>, verdict: impl Fn(&Judged) -> Option<Reading>) -> Self {
        let classes = Reading::ALL.len();
        let mut figures = Self {
            laundered: Right::default(),
            clean: Right::default(),
            unjudged: 0,
            confusion: vec![vec![0; classes]; classes],
        };
        for item in items {
            let Some(verdict) = verdict(item) else {
                figures.unjudged += 1;
                continue;
            };
            let is_right = is_laundered(verdict) == is_laundered(item.gold);
            if is_laundered(item.gold) {
                figures.laundered.add(is_right)
            } else {
                figures.clean.add(is_right)
            }
            figures.confusion[place(item.gold)][place(verdict)] += 1;
        }
        figures
    }

    /// Items with a verdict.
    pub fn items(&self) -> u64 {
        self.laundered.of + self.clean.of
    }

    /// Laundered or not, gold by row and verdict by column.
    pub fn binary(&self) -> Vec<Vec<u64>> {
        let (l, c) = (self.laundered, self.clean);
        vec![vec![l.right, l.of - l.right], vec![c.of - c.right, c.right]]
    }

    /// Agreement over the six readings.
    pub fn agreement(&self) -> Option<(TwoRaterAgreement, Ac1)> {
        agreement(&self.confusion)
    }

    /// Agreement on laundered or not.
    pub fn agreement_binary(&self) -> Option<(TwoRaterAgreement, Ac1)> {
        agreement(&self.binary())
    }
}

/// Agreement of a square table; `None` where there is none to speak of.
pub fn agreement(table: &[Vec<u64>]) -> Option<(TwoRaterAgreement, Ac1)> {
    Some((two_raters(table, Alpha::FIVE_PERCENT).ok()?, ac1(table, Alpha::FIVE_PERCENT).ok()?))
}

/// A reading's place in tables.
pub(crate) fn place(reading: Reading) -> usize {
    Reading::ALL.iter().position(|other| *other == reading).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests {
    use laundromat_session::Reading;

    use super::{Figures, Judged, Right};

    pub(crate) fn item(id: usize, gold: Reading, judge: Option<Reading>) -> Judged {
        let text = |text: &str| text.to_owned();
        Judged {
            id: format!("i-{id}"),
            domain: text("install"),
            form: text("typed"),
            class: text("plain"),
            gold,
            gate: true,
            judge,
        }
    }

    #[test]
    fn what_the_gate_stops_is_absent_and_what_has_no_verdict_is_in_no_rate() {
        use Reading::{Absent, Tool, Unattributed, User};
        let items = [
            item(1, User, Some(Unattributed)),
            Judged { gate: false, ..item(2, User, Some(User)) },
            item(3, Tool, Some(User)),
            item(4, Absent, Some(Absent)),
            item(5, Tool, None),
        ];
        let whole = Figures::of(&items);
        assert_eq!(whole.laundered, Right { right: 1, of: 2 });
        assert_eq!(whole.clean, Right { right: 1, of: 2 });
        assert_eq!((whole.unjudged, whole.items()), (1, 4));
        assert_eq!(whole.binary(), [[1, 1], [1, 1]]);
        let judge = Figures::of_judge(&items);
        assert_eq!(judge.laundered, Right { right: 2, of: 2 });
        assert_eq!(judge.confusion[0], [1, 1, 0, 0, 0, 0]);
    }
}
