//! Several compactions one behind the other: each starts from the context that the one before left, with
//! more turns behind it.

use laundromat_session::{Role, Session};

use super::stage::{Compacted, DATE, compact_given, session};
use crate::axes::Previous;
use crate::compactor::{Compactor, Given, Refusal};
use crate::next_context::{From, NextContext, is_summary};
use crate::partition::Partition;

/// Compactions that are followed.
pub(super) const ROUNDS: usize = 3;

/// One of them.
pub(super) struct Round {
    /// What it started from.
    pub(super) session: Session,
    /// What it did.
    pub(super) compacted: Compacted,
}

/// Compacts `first`, and what came out with more turns behind it. `reply` answers in each round, given its number
/// from 0, and `more` says what is said between rounds.
pub(super) fn rounds(
    compactor: &Compactor,
    first: &Session,
    reply: &dyn Fn(usize) -> String,
    more: &dyn Fn(usize) -> Session,
) -> Result<Vec<Round>, Refusal> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut session = first.clone();
    let mut previous: Option<String> = None;
    for round in 0..ROUNDS {
        let given = Given { date: DATE, previous: previous.as_deref() };
        let compacted = compact_given(compactor, &session, &reply(round), given)?;
        let next = compacted.next.as_ref().map(|next| started(compactor, next, &more(round)));
        rounds.push(Round { session, compacted });
        let Some(next) = next else { break };
        (session, previous) = next;
    }
    Ok(rounds)
}

/// The session behind `next` with `more` said, and the summary where the arm gives it apart.
fn started(compactor: &Compactor, next: &NextContext, more: &Session) -> (Session, Option<String>) {
    let mut session = next.following();
    let mut previous = None;
    if compactor.arm().previous == Previous::Slot {
        session.turns.retain(|turn| !is_summary(turn));
        let at = next.from().iter().position(|from| *from == From::Summary);
        previous = at.map(|at| bare(compactor, &next.session().turns[at].text()));
    }
    session.turns.extend(more.turns.iter().filter(|turn| turn.role != Role::System).cloned());
    (session, previous)
}

/// A summary without the words that the harness put around it.
fn bare(compactor: &Compactor, text: &str) -> String {
    let Some(after) = &compactor.arm().after else { return text.to_owned() };
    let text = text.strip_prefix(&after.prefix).unwrap_or(text);
    match text.find(&after.end).filter(|_| !after.end.is_empty()) {
        Some(at) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}

/// A session whose first turns were summarized as `summary`; `None` where the arm does not say what comes
/// of a summary.
pub(super) fn behind_summary(compactor: &Compactor, summary: &str) -> Option<(Session, Option<String>)> {
    let before = session();
    let system = before.turns.iter().take_while(|turn| turn.role == Role::System).count();
    let end = before.turns.len();
    // All of it is old, so that nothing but the summary is left.
    let partition = Partition {
        system: 0..system,
        head: system..system,
        old: system..end,
        tail: end..end,
        displaced: end..end,
        copies: Vec::new(),
    };
    let next = compactor.next_context(&before, &partition, summary).ok()??;
    Some(started(compactor, &next, &before))
}
