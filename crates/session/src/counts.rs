//! What a session holds, by the counting words of the import tables.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use crate::turn::{Role, Session};

/// Counts of one session; `turns` leaves markers out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// System, user, assistant, tool and unknown-role turns.
    pub turns: usize,
    /// System turns.
    pub system: usize,
    /// User turns that a person wrote.
    pub user: usize,
    /// The other user turns.
    pub synthetic_user: usize,
    /// Assistant turns.
    pub assistant: usize,
    /// Tool calls.
    pub calls: usize,
    /// Tool results.
    pub results: usize,
    /// Results marked as failed.
    pub errors: usize,
    /// Turns with recorded reasoning.
    pub reasoning: usize,
    /// Images.
    pub images: usize,
    /// Compaction boundaries and notices.
    pub markers: usize,
    /// Most calls in one turn.
    pub max_calls_per_turn: usize,
    /// Calls with an id and without a result. Where a format has no ids, a call that no result follows (a
    /// final submission) cannot be told from one that was answered.
    pub unanswered_calls: usize,
    /// Results with an id that no call has left to answer.
    pub orphan_results: usize,
    /// Calls whose id an earlier call has.
    pub reused_ids: usize,
}

impl Counts {
    /// Counts `session`. Results are paired by id over the whole session, in order where ids repeat.
    pub fn of(session: &Session) -> Self {
        let mut counts = Self::default();
        let mut waiting: HashMap<&str, usize> = HashMap::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for turn in &session.turns {
            counts.turns += usize::from(!matches!(turn.role, Role::Marker(_)));
            match &turn.role {
                Role::System => counts.system += 1,
                Role::User if turn.synthetic.is_none() => counts.user += 1,
                Role::User => counts.synthetic_user += 1,
                Role::Assistant => counts.assistant += 1,
                Role::Tool => counts.results += 1,
                Role::Marker(_) => counts.markers += 1,
                Role::Other(_) => {}
            }
            counts.errors += usize::from(turn.is_error);
            counts.reasoning += usize::from(turn.reasoning.is_some());
            counts.images += turn.image_count() as usize;
            counts.calls += turn.calls.len();
            counts.max_calls_per_turn = counts.max_calls_per_turn.max(turn.calls.len());
            for call in &turn.calls {
                *waiting.entry(&call.id).or_default() += 1;
                let earlier = seen.entry(&call.id).or_default();
                counts.reused_ids += usize::from(*earlier > 0 && !call.id.is_empty());
                *earlier += 1;
            }
        }
        for turn in session.turns.iter().filter(|turn| turn.role == Role::Tool) {
            let id = turn.call_id.as_deref().unwrap_or_default();
            match waiting.get_mut(id) {
                _ if id.is_empty() => {}
                Some(left) if *left > 0 => *left -= 1,
                _ => counts.orphan_results += 1,
            }
        }
        counts.unanswered_calls = waiting.iter().filter(|(id, _)| !id.is_empty()).map(|(_, left)| left).sum();
        counts
    }
}

/// For each call (turn, place in the turn) the tool turn that answers it, and the turns that answer none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Tool turn of each answered call.
    pub answers: HashMap<(usize, usize), usize>,
    /// Tool turns that answer no call.
    pub orphans: Vec<usize>,
}

impl Pairing {
    /// Pairs over the whole session: a result answers the oldest unanswered call with its id.
    pub fn of(session: &Session) -> Self {
        let mut queues: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
        for (index, turn) in session.turns.iter().enumerate() {
            for (place, call) in turn.calls.iter().enumerate() {
                queues.entry(&call.id).or_default().push_back((index, place));
            }
        }
        let mut pairing = Self::default();
        for (index, turn) in session.turns.iter().enumerate().filter(|(_, turn)| turn.role == Role::Tool) {
            match queues.get_mut(turn.call_id.as_deref().unwrap_or_default()).and_then(VecDeque::pop_front) {
                Some(call) => {
                    pairing.answers.insert(call, index);
                }
                None => pairing.orphans.push(index),
            }
        }
        pairing
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;
    use crate::turn::{Call, Role, Session, Turn};

    #[test]
    fn nothing_is_missing_or_orphaned_without_ids() {
        let call = |id: &str| Call { id: id.to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
        let result = |id: Option<&str>| Turn { call_id: id.map(str::to_owned), ..Turn::text_of(Role::Tool, "x") };
        let turns = vec![
            Turn { calls: vec![call(""), call("a"), call("b")], ..Turn::text_of(Role::Assistant, "") },
            result(None),
            result(Some("a")),
            result(Some("z")),
            result(None),
        ];
        let counts = Counts::of(&Session { id: "s".to_owned(), title: None, origin: None, turns });
        assert_eq!((counts.calls, counts.results), (3, 4));
        assert_eq!((counts.unanswered_calls, counts.orphan_results, counts.reused_ids), (1, 1, 0));
    }
}
