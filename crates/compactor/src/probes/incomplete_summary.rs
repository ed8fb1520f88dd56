//! Does a summary that did not end normally replace the history?

use super::probe::Verdict;
use super::stage;
use crate::compactor::Compactor;
use crate::keep::{Decision, Ending};

/// A fact that stands in the first turn, and in no summary that broke off before it.
const EARLY_FACT: &str = "123 Maple Avenue";

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncompleteSummary {
    /// The arm asks no model.
    NoModel,
    /// The arm does not say what it accepts.
    NotKnown,
    /// The endings that are taken for a summary, of those that should not be.
    Accepts {
        /// Those endings.
        endings: Vec<Ending>,
        /// Those of them of which that is not known.
        unknown: Vec<Ending>,
        /// Whether an early fact is in the next context, behind a summary that lacks it; `None` where the
        /// next context is not known.
        fact_stays: Option<bool>,
    },
}

/// Asks about every ending but the normal one.
pub fn probe(compactor: &Compactor) -> IncompleteSummary {
    if !compactor.arm().form.asks_model() {
        return IncompleteSummary::NoModel;
    }
    let Some(guard) = &compactor.arm().guard else { return IncompleteSummary::NotKnown };
    let unfinished = [Ending::Length, Ending::ContentFilter, Ending::Empty, Ending::ReasoningOnly];
    let accepted = |ending: &Ending| guard.decide(*ending, guard.retries) == Decision::Accept;
    let (endings, rest): (Vec<Ending>, Vec<Ending>) = unfinished.into_iter().partition(accepted);
    let unknown = rest.into_iter().filter(|ending| !guard.refuses.contains(ending)).collect();
    let fact_stays = match endings.is_empty() {
        // The history is as it was.
        true => Some(true),
        false => fact_in_next(compactor),
    };
    IncompleteSummary::Accepts { endings, unknown, fact_stays }
}

fn fact_in_next(compactor: &Compactor) -> Option<bool> {
    let next = stage::compact(compactor, &stage::session(), "{\"cut\": \"The user ask").ok()?.next?;
    Some(next.session().turns.iter().any(|turn| turn.text().contains(EARLY_FACT)))
}

impl IncompleteSummary {
    pub(super) fn told(&self) -> (Verdict, String) {
        match self {
            Self::NoModel => (Verdict::Holds, "no model is asked".to_owned()),
            Self::NotKnown => (Verdict::NotKnown, "the arm has no [guard]".to_owned()),
            Self::Accepts { endings, unknown, .. } if endings.is_empty() && unknown.is_empty() => {
                (Verdict::Holds, "the history stays unless the summary ended normally".to_owned())
            }
            Self::Accepts { endings, unknown, .. } if endings.is_empty() => {
                (Verdict::NotKnown, format!("accepts none that is known; {} not known", listed(unknown)))
            }
            Self::Accepts { endings, fact_stays, .. } => {
                let fact = match fact_stays {
                    None => "",
                    Some(true) => "; an early fact stays",
                    Some(false) => "; an early fact is gone",
                };
                (Verdict::Breaks, format!("accepts {}{fact}", listed(endings)))
            }
        }
    }
}

fn listed(endings: &[Ending]) -> String {
    endings.iter().map(|ending| ending.id()).collect::<Vec<_>>().join(", ")
}
