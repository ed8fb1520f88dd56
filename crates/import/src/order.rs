//! Results behind their calls. In files a result may stand before its call or far behind it; turns have
//! it directly after the assistant turn that called.

use std::collections::{BTreeMap, HashMap, VecDeque};

use laundromat_session::{Call, Role, Turn};

use crate::losses::Losses;

/// A call: its turn, and its place in the turn.
type CallAt = (usize, usize);

/// Puts results that stand elsewhere directly behind the assistant turn with their call, in call order.
///
/// A result answers the oldest unanswered call with its id. One that already follows a turn with such a
/// call stays where it is, and so does one that no call has asked for or that has no id.
pub fn results_after_calls(turns: Vec<Turn>, losses: &mut Losses) -> Vec<Turn> {
    let strays = strays(&turns);
    if strays.is_empty() {
        return turns;
    }
    // All results of a turn that gets a stray are put in call order.
    let mut behind: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (index, (turn, place)) in settled(&turns, &strays) {
        behind.entry(turn).or_default().push((place, index));
    }
    for (index, _) in &strays {
        let record = turns[*index].source.as_ref().map_or(0, |source| source.record);
        losses.moved.add(record);
    }
    let mut taken: Vec<Option<Turn>> = turns.into_iter().map(Some).collect();
    let mut blocks: HashMap<usize, Vec<Turn>> = HashMap::new();
    for (turn, mut results) in behind {
        results.sort_unstable();
        blocks.insert(turn, results.into_iter().filter_map(|(_, index)| taken[index].take()).collect());
    }
    let mut ordered = Vec::with_capacity(taken.len());
    for (index, turn) in taken.into_iter().enumerate() {
        ordered.extend(turn);
        ordered.extend(blocks.remove(&index).into_iter().flatten());
    }
    ordered
}

/// The results that do not stand behind their call, with the call they answer.
fn strays(turns: &[Turn]) -> Vec<(usize, CallAt)> {
    let pairs = pairs(turns);
    let mut strays = Vec::new();
    let mut host = None;
    for (index, turn) in turns.iter().enumerate() {
        if turn.role != Role::Tool {
            host = (turn.role == Role::Assistant).then_some(turn);
            continue;
        }
        let Some(call) = pairs.get(&index) else { continue };
        let at_home = host.is_some_and(|host| host.calls.iter().any(|call| Some(&call.id) == turn.call_id.as_ref()));
        if !at_home {
            strays.push((index, *call));
        }
    }
    strays
}

/// For each result with an id the oldest call with that id that no earlier result has answered.
fn pairs(turns: &[Turn]) -> HashMap<usize, CallAt> {
    let mut waiting: HashMap<&str, VecDeque<CallAt>> = HashMap::new();
    for (index, turn) in turns.iter().enumerate() {
        for (place, call) in turn.calls.iter().enumerate().filter(|(_, call)| !call.id.is_empty()) {
            waiting.entry(&call.id).or_default().push_back((index, place));
        }
    }
    let mut pairs = HashMap::new();
    for (index, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.role == Role::Tool) {
        let id = turn.call_id.as_deref().unwrap_or_default();
        if let Some(call) = waiting.get_mut(id).and_then(VecDeque::pop_front) {
            pairs.insert(index, call);
        }
    }
    pairs
}

/// The strays, and the results that already stand behind a turn that gets one.
fn settled(turns: &[Turn], strays: &[(usize, CallAt)]) -> Vec<(usize, CallAt)> {
    let mut all = strays.to_vec();
    let mut used: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (_, (host, place)) in strays {
        used.entry(*host).or_default().push(*place);
    }
    for (host, mut used) in used {
        let following = turns.iter().enumerate().skip(host + 1).take_while(|(_, turn)| turn.role == Role::Tool);
        for (index, turn) in following {
            let mut calls = turns[host].calls.iter().enumerate();
            let fits =
                |(place, call): &(usize, &Call)| !used.contains(place) && Some(&call.id) == turn.call_id.as_ref();
            if let Some((place, _)) = calls.find(fits) {
                used.push(place);
                all.push((index, (host, place)));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role, Turn};

    use super::results_after_calls;
    use crate::losses::Losses;

    /// `a:x,y` calls x and y, `t:x` is a result for x, `u` speaks.
    fn ordered(script: &str) -> (String, usize) {
        let turns = script.split(' ').map(|word| match word.split_once(':') {
            Some(("a", ids)) => Turn {
                calls: ids
                    .split(',')
                    .map(|id| Call { id: id.to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() })
                    .collect(),
                ..Turn::text_of(Role::Assistant, word)
            },
            Some((_, id)) => {
                Turn { call_id: (!id.is_empty()).then(|| id.to_owned()), ..Turn::text_of(Role::Tool, word) }
            }
            None => Turn::text_of(Role::User, word),
        });
        let mut losses = Losses::default();
        let turns = results_after_calls(turns.collect(), &mut losses);
        let words: Vec<_> = turns.iter().map(|turn| turn.text().into_owned()).collect();
        (words.join(" "), losses.moved.count)
    }

    #[test]
    fn strays_go_behind_their_call() {
        for (given, wanted, moved) in [
            ("u a:1,2 t:2 t:1 u", "u a:1,2 t:2 t:1 u", 0),
            ("t:1 a:1,2 t:2", "a:1,2 t:1 t:2", 1),
            ("a:1,2,3 t:3 u t:2 u t:1", "a:1,2,3 t:1 t:2 t:3 u u", 2),
            // What does not pair stays in place.
            ("u t:9 a:1 t:8 u t:1 t:7", "u t:9 a:1 t:1 t:8 u t:7", 1),
            // Without an id nothing is known; with ids used again, what stands behind a fitting call stays.
            ("a: u t:", "a: u t:", 0),
            ("a:1 u a:1 t:1", "a:1 u a:1 t:1", 0),
            ("a:1 a:1 t:1 t:1", "a:1 a:1 t:1 t:1", 0),
        ] {
            assert_eq!(ordered(given), (wanted.to_owned(), moved), "{given}");
        }
    }
}
