//! Does a standing constraint survive word for word? It stands in the first thing that a person says.

use laundromat_session::{Session, Turn};

use super::probe::Verdict;
use super::stage::{self, SUMMARY};
use crate::compactor::Compactor;

/// What becomes of a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// No person said anything, or the arm refuses the session.
    None,
    /// It is in the next context, word for word.
    Verbatim,
    /// The summarizer is given it: it survives as far as the summary says it again.
    BySummary,
    /// Neither.
    Lost,
}

/// Follows the first words of a person.
pub fn probe(compactor: &Compactor, session: &Session) -> Constraint {
    let Some(turn) = session.turns.iter().position(Turn::is_genuine_user) else { return Constraint::None };
    let Ok(compacted) = stage::compact(compactor, session, SUMMARY) else { return Constraint::None };
    let kept = compacted.next.as_ref().is_some_and(|next| next.holds_on(turn));
    match (kept, compacted.carries(turn) || compacted.marked.contains(&turn)) {
        (true, _) => Constraint::Verbatim,
        (false, true) => Constraint::BySummary,
        (false, false) => Constraint::Lost,
    }
}

impl Constraint {
    pub(super) fn told(self) -> (Verdict, String) {
        let (verdict, detail) = match self {
            Self::None => (Verdict::NotKnown, "there is none to follow"),
            Self::Verbatim => (Verdict::Holds, "stays word for word"),
            Self::BySummary => (Verdict::Holds, "is left to the summary"),
            Self::Lost => (Verdict::Breaks, "is lost"),
        };
        (verdict, detail.to_owned())
    }
}
