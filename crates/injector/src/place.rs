//! Which places a session has for plants, and which of them are taken. A choice depends on the seed alone.

use laundromat_session::seed::Seed;
use laundromat_session::{Part, Role, Session, Turn};

use crate::attack::Payload;
use crate::axes::{Carrier, Embedding, Split, Third};

/// A part of a turn, both by index.
pub(crate) type PartPlace = (usize, usize);

/// The places of a session, by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carriers {
    results: usize,
    assistant: usize,
    user: usize,
    gaps: usize,
}

impl Carriers {
    /// The places of `session`.
    pub fn of(session: &Session) -> Self {
        Self {
            results: results(session).len(),
            assistant: assistant_texts(session).len(),
            user: user_texts(session).len(),
            gaps: gaps(session).len(),
        }
    }

    /// Tool results with text.
    pub fn results(self) -> usize {
        self.results
    }

    /// How many places `payload` needs, how many there are, and what they are.
    pub(crate) fn for_payload(self, payload: &Payload) -> (usize, usize, &'static str) {
        let (found, what) = match (payload.carrier, payload.embedding) {
            (Carrier::ToolResult, Embedding::ProcessRow) | (Carrier::UserTurn, _) => (self.gaps, "gaps between turns"),
            (Carrier::ToolResult, _) => (self.results, RESULTS),
            (Carrier::AssistantQuote, _) => (self.assistant, "assistant turns with text"),
            (Carrier::UserPaste, _) => (self.user, "user turns with text"),
            (Carrier::PreviousSummary, _) => (1, "turns"),
        };
        (needed(payload), found, what)
    }
}

/// What places in tool results are called.
pub(crate) const RESULTS: &str = "tool results with text";

/// In how many places a payload is planted.
pub(crate) fn needed(payload: &Payload) -> usize {
    match payload.split {
        Split::Whole => payload.copies,
        Split::Fragments(count) | Split::Clean(count) => count,
    }
}

/// The tool results that hold text, each as its turn and its last part with text.
pub(crate) fn results(session: &Session) -> Vec<PartPlace> {
    texts(session, |turn| turn.role == Role::Tool)
}

/// The assistant's turns that hold text.
pub(crate) fn assistant_texts(session: &Session) -> Vec<PartPlace> {
    texts(session, |turn| turn.role == Role::Assistant && turn.synthetic.is_none())
}

/// A person's turns that hold text.
pub(crate) fn user_texts(session: &Session) -> Vec<PartPlace> {
    texts(session, Turn::is_genuine_user)
}

fn texts(session: &Session, wanted: impl Fn(&Turn) -> bool) -> Vec<PartPlace> {
    let turns = session.turns.iter().enumerate().filter(|(_, turn)| wanted(turn));
    turns
        .filter_map(|(index, turn)| {
            let part = turn.parts.iter().rposition(|part| matches!(part, Part::Text(text) if !text.is_empty()))?;
            Some((index, part))
        })
        .collect()
}

/// The turns before which another one can stand without parting a call from its results: those behind the last of
/// some results. Where the session has none, those behind an assistant's turn without calls.
pub(crate) fn gaps(session: &Session) -> Vec<usize> {
    let behind = |is_last: fn(&Turn) -> bool| -> Vec<usize> {
        let pairs = session.turns.windows(2).enumerate();
        pairs.filter(|(_, pair)| is_last(&pair[0]) && pair[1].role != Role::Tool).map(|(index, _)| index + 1).collect()
    };
    let behind_results = behind(|turn| turn.role == Role::Tool);
    if behind_results.is_empty() {
        behind(|turn| turn.role == Role::Assistant && turn.calls.is_empty())
    } else {
        behind_results
    }
}

/// Takes `count` of `items`: one of the third, or one of each of as many runs of neighbours.
pub(crate) fn take<T: Copy>(items: &[T], which: Third, count: usize, seed: Seed<'_>) -> Option<Vec<T>> {
    let eligible = third(items, which);
    if count == 1 {
        return eligible.get(seed.pick("carrier", eligible.len())).map(|item| vec![*item]);
    }
    let eligible = if eligible.len() < count { items } else { eligible };
    if eligible.len() < count {
        return None;
    }
    let border = |index: usize| index * eligible.len() / count;
    let runs = (0..count).map(|index| &eligible[border(index)..border(index + 1)]);
    Some(runs.enumerate().map(|(index, run)| run[seed.pick(&format!("carrier {index}"), run.len())]).collect())
}

/// The middle third of few results is all of them, so that every session with a result has a place.
fn third<T>(items: &[T], third: Third) -> &[T] {
    let count = items.len();
    let (low, high) = match third {
        Third::Early => (0, count.div_ceil(3)),
        Third::Middle => (count / 3, count - count / 3),
        Third::Late => (count - count.div_ceil(3), count),
    };
    &items[low..high]
}

#[cfg(test)]
mod tests {
    use laundromat_session::seed::Seed;

    use super::{take, third};
    use crate::axes::Third;

    #[test]
    fn thirds_are_never_empty() {
        for count in 1..20 {
            let items: Vec<usize> = (0..count).collect();
            for which in Third::ALL {
                assert!(!third(&items, *which).is_empty(), "{count} {which:?}");
            }
        }
    }

    #[test]
    fn several_places_are_distinct_and_in_order() {
        let seed = Seed { seed: 1, session: "s", attack: "a" };
        for size in 1..20_usize {
            let items: Vec<usize> = (0..size).collect();
            for count in 1..8 {
                let taken = take(&items, Third::Late, count, seed);
                assert_eq!(taken.is_some(), count <= size || count == 1, "{count} of {size}");
                let taken = taken.unwrap_or_default();
                assert!(taken.windows(2).all(|pair| pair[0] < pair[1]), "{taken:?}");
            }
        }
    }
}
