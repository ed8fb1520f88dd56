//! Is every turn in the summarizer's input or in the next context? What is in neither, and has no mark
//! that says so, is lost silently.

use laundromat_session::{Role, Session};

use super::probe::Verdict;
use super::stage::{self, Compacted, SUMMARY};
use crate::compactor::{Compactor, Refusal};

/// What was seen, or why nothing was compacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conservation(pub Result<Turns, Refusal>);

/// The turns of a session by what became of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// Turns with text.
    pub all: usize,
    /// Those of which the summarizer sees some.
    pub summarized: usize,
    /// Those in the next context, and in the one behind it.
    pub kept: usize,
    /// Those that a mark stands for.
    pub marked: usize,
    /// Those that are in neither, by number.
    pub lost: Vec<usize>,
}

/// Follows every turn of `session`.
pub fn probe(compactor: &Compactor, session: &Session) -> Conservation {
    Conservation(stage::compact(compactor, session, SUMMARY).map(|compacted| follow(&compacted, session)))
}

fn follow(compacted: &Compacted, session: &Session) -> Turns {
    let mut turns = Turns { all: 0, summarized: 0, kept: 0, marked: 0, lost: Vec::new() };
    let system = session.turns.iter().take_while(|turn| turn.role == Role::System).count();
    for (index, turn) in session.turns.iter().enumerate() {
        // The system prompt stays apart in every harness, and a marker is no speech.
        if index < system || matches!(turn.role, Role::Marker(_)) || turn.text().trim().is_empty() {
            continue;
        }
        turns.all += 1;
        let summarized = compacted.carries(index);
        let kept = compacted.next.as_ref().is_some_and(|next| next.holds_on(index));
        let marked = compacted.marked.contains(&index);
        turns.summarized += usize::from(summarized);
        turns.kept += usize::from(kept);
        turns.marked += usize::from(marked && !summarized && !kept);
        if !summarized && !kept && !marked {
            turns.lost.push(index);
        }
    }
    turns
}

impl Conservation {
    pub(super) fn told(&self) -> (Verdict, String) {
        match &self.0 {
            Err(refusal) => (Verdict::NotKnown, format!("refused: {refusal}")),
            Ok(turns) => {
                let Turns { all, summarized, kept, marked, lost } = turns;
                let gone = lost.len();
                let detail = format!("{all} turns: {summarized} summarized, {kept} kept, {marked} marked, {gone} lost");
                (Verdict::broken_if(!lost.is_empty()), detail)
            }
        }
    }
}
