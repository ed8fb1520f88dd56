//! Is the request being answered still there afterwards?

use laundromat_session::{Session, Turn};

use super::probe::Verdict;
use super::stage::{talking_loop, tool_loop, turns_and_request};
use crate::compactor::Compactor;

/// Most earlier turns that are tried.
const MOST_TURNS: usize = 40;
/// Most calls of a tool loop that are tried.
const MOST_CALLS: usize = 40;

/// What was seen; `None` where the arm does not say which turns stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentRequest(pub Option<Lost>);

/// From where on the request is in the next context no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Earlier turns of a plain conversation; `None` where it always stays.
    pub from_turns: Option<usize>,
    /// Calls of a tool loop behind the request.
    pub from_calls: Option<usize>,
}

/// Sweeps over plain conversations and tool loops.
pub fn probe(compactor: &Compactor) -> CurrentRequest {
    CurrentRequest(compactor.arm().keep.map(|_| Lost {
        from_turns: (0..=MOST_TURNS).find(|turns| is_lost(compactor, &turns_and_request(*turns))),
        from_calls: (0..=MOST_CALLS).find(|calls| {
            let loops = [tool_loop(*calls), talking_loop(*calls)];
            loops.iter().any(|session| is_lost(compactor, session))
        }),
    }))
}

/// Whether the newest words of a person are gone behind a compaction of `session`.
pub fn is_lost(compactor: &Compactor, session: &Session) -> bool {
    let Some(request) = session.turns.iter().rposition(Turn::is_genuine_user) else { return false };
    let Some(partition) = compactor.partition(session) else { return false };
    let next = compactor.next_context(session, &partition, "");
    matches!(next, Ok(Some(next)) if !next.holds(request))
}

impl CurrentRequest {
    pub(super) fn told(&self) -> (Verdict, String) {
        let Some(lost) = self.0 else { return (Verdict::NotKnown, "the arm has no [keep]".to_owned()) };
        let from = |places: Option<usize>, of: &str| places.map(|places| format!("lost from {places} {of} on"));
        let told: Vec<String> = [from(lost.from_turns, "earlier turns"), from(lost.from_calls, "calls of a tool loop")]
            .into_iter()
            .flatten()
            .collect();
        match told.is_empty() {
            true => (Verdict::Holds, format!("stays with up to {MOST_TURNS} earlier turns and {MOST_CALLS} calls")),
            false => (Verdict::Breaks, told.join(", ")),
        }
    }
}
