//! Is every turn in the summarizer's input or in the next context? What is in neither, and has no mark
//! that says so, is lost silently.

use laundromat_session::{Role, Session};

use super::probe::Verdict;
use super::rounds::rounds;
use super::stage::{self, Compacted, SUMMARY};
use crate::compactor::{Compactor, Refusal};

/// What was seen of each compaction, one behind the other, or why nothing was compacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conservation(pub Result<Vec<Turns>, Refusal>);

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
    let reply = |_| SUMMARY.to_owned();
    let rounds = rounds(compactor, session, &reply, &|_| stage::session());
    Conservation(rounds.map(|rounds| rounds.iter().map(|round| follow(&round.compacted, &round.session)).collect()))
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
            Ok(rounds) => {
                let Some(Turns { all, summarized, kept, marked, lost }) = rounds.first() else {
                    return (Verdict::NotKnown, "nothing was compacted".to_owned());
                };
                let gone = lost.len();
                let mut detail =
                    format!("{all} turns: {summarized} summarized, {kept} kept, {marked} marked, {gone} lost");
                let later: Vec<String> = rounds[1..].iter().map(|turns| turns.lost.len().to_string()).collect();
                let loses_later = rounds[1..].iter().any(|turns| !turns.lost.is_empty());
                if loses_later {
                    detail.push_str(&format!("; in later rounds {}", later.join(" and ")));
                }
                (Verdict::broken_if(!lost.is_empty() || loses_later), detail)
            }
        }
    }
}
