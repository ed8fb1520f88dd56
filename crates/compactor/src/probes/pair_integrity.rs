//! Has every call its result, before and behind the cut?

use std::collections::HashSet;

use laundromat_session::{Message, MessageRole, Role, Session, Turn};

use super::probe::Verdict;
use super::stage::{self, SUMMARY, tool_loop};
use crate::compactor::Compactor;

/// Longest tool loop that is tried.
const MOST_CALLS: usize = 8;

/// Broken pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairIntegrity {
    /// In what is sent to the summarizer.
    pub in_requests: usize,
    /// In the next context: results without a call, and calls without a result that had one before.
    pub in_next: usize,
}

/// Looks at `session`, and at tool loops that are cut in every place.
pub fn probe(compactor: &Compactor, session: &Session) -> PairIntegrity {
    let mut seen = PairIntegrity::default();
    let loops: Vec<Session> = (1..=MOST_CALLS).map(tool_loop).collect();
    for session in loops.iter().chain([session]) {
        let Ok(compacted) = stage::compact(compactor, session, SUMMARY) else { continue };
        seen.in_requests += compacted.requests.iter().map(|request| broken(&request.messages)).sum::<usize>();
        if let Some(next) = &compacted.next {
            // What the session itself lacks is not the arm's doing.
            let before = orphans(&session.turns);
            seen.in_next += orphans(&next.session().turns).saturating_sub(before);
        }
    }
    seen
}

/// Calls without a result directly behind them, and results without a call.
fn broken(messages: &[Message]) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut broken = 0;
    for message in messages {
        match message.call_id.as_deref().filter(|_| message.role == MessageRole::Tool) {
            Some(id) => match open.iter().position(|call| *call == id) {
                Some(place) => drop(open.remove(place)),
                None => broken += 1,
            },
            None => {
                broken += open.len();
                open = message.calls.iter().map(|call| call.id.as_str()).collect();
            }
        }
    }
    broken + open.len()
}

fn orphans(turns: &[Turn]) -> usize {
    let asked = |turns: &[Turn]| turns.iter().flat_map(|turn| &turn.calls).map(|call| call.id.clone()).collect();
    let calls: HashSet<String> = asked(turns);
    let answered: HashSet<&str> = turns.iter().filter_map(|turn| turn.call_id.as_deref()).collect();
    let results = turns.iter().filter(|turn| turn.role == Role::Tool);
    let without_call = results.filter(|turn| turn.call_id.as_ref().is_none_or(|id| !calls.contains(id))).count();
    without_call + calls.iter().filter(|id| !answered.contains(id.as_str())).count()
}

impl PairIntegrity {
    pub(super) fn told(self) -> (Verdict, String) {
        let Self { in_requests, in_next } = self;
        let detail = format!("{in_requests} broken in requests, {in_next} in the next context");
        (Verdict::broken_if(in_requests + in_next > 0), detail)
    }
}
