//! Results of formats that seldom have ids: each answers a call by its tool's name and its place.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use laundromat_session::{Role, Turn};

/// A call: its turn, and its place in the turn.
type CallAt = (usize, usize);

/// Pairs results with calls where one of the two has no id: the n-th result of a tool answers the n-th
/// open call of that tool, first in the reply before it, then in earlier ones. `names` has the tool's name of
/// each result, in the order of the results.
///
/// Results are put into the order of the calls. Where order alone would give a result to another call than
/// its own, both get an id; a result that no call has asked for then gets one too, so that no call takes it.
pub(crate) fn pair_by_name(turns: &mut [Turn], names: &[String]) {
    let mut answers = answers(turns, names);
    share_ids(turns, &answers);
    order_results(turns, &mut answers);
    if !order_tells(turns, &answers) {
        make_ids(turns, &answers);
    }
}

/// The call that each result answers by name; `None` for results that are no matter of names, and for orphans.
fn answers(turns: &[Turn], names: &[String]) -> Vec<Option<CallAt>> {
    let called: HashSet<&str> = turns.iter().flat_map(|turn| &turn.calls).map(|call| call.id.as_str()).collect();
    let answered: HashSet<&str> = turns.iter().filter_map(|turn| turn.call_id.as_deref()).collect();
    let mut open = Open::default();
    let mut names = names.iter().map(String::as_str);
    let mut answers = vec![None; turns.len()];
    for (index, turn) in turns.iter().enumerate() {
        if turn.role == Role::Assistant {
            open.reply(index);
        }
        for (place, call) in turn.calls.iter().enumerate() {
            if call.id.is_empty() || !answered.contains(call.id.as_str()) {
                open.queues.entry(&call.name).or_default().insert((index, place));
            }
        }
        if turn.role == Role::Tool {
            let name = names.next().unwrap_or_default();
            let own = turn.call_id.as_deref();
            if own.is_none_or(|id| !called.contains(id)) {
                answers[index] = open.take(turns, name, own.is_some());
            }
        }
    }
    answers
}

/// The calls that nothing has answered yet, by tool.
#[derive(Default)]
struct Open<'t> {
    queues: HashMap<&'t str, BTreeSet<CallAt>>,
    /// The turn of the newest reply.
    reply: usize,
    /// The first call of that reply that may be open.
    first: usize,
}

impl<'t> Open<'t> {
    /// Begins with the reply `turn` at `index`.
    fn reply(&mut self, index: usize) {
        (self.reply, self.first) = (index, 0);
    }

    /// The call for a result of the tool `name`. One with an id of its own only answers a call without one.
    fn take(&mut self, turns: &'t [Turn], name: &str, has_id: bool) -> Option<CallAt> {
        // Where no name helps, the place has to.
        let here = self.here(name).or_else(|| self.here("")).or_else(|| self.next(turns, name));
        let at = here.or_else(|| self.queues.get(name)?.first().copied())?;
        let call = &turns[at.0].calls[at.1];
        if has_id && !call.id.is_empty() {
            return None;
        }
        self.queues.get_mut(call.name.as_str())?.remove(&at);
        Some(at)
    }

    /// The first open call of the tool `name` in the newest reply.
    fn here(&self, name: &str) -> Option<CallAt> {
        self.queues.get(name)?.range((self.reply, 0)..).next().copied()
    }

    /// The first open call of the newest reply, for a result that names no tool.
    fn next(&mut self, turns: &'t [Turn], name: &str) -> Option<CallAt> {
        while let Some(call) = turns[self.reply].calls.get(self.first).filter(|_| name.is_empty()) {
            if let Some(at) = self.here(&call.name) {
                return Some(at);
            }
            self.first += 1;
        }
        None
    }
}

/// Gives the id that one of a pair has to the other.
fn share_ids(turns: &mut [Turn], answers: &[Option<CallAt>]) {
    for (index, answer) in answers.iter().enumerate() {
        let Some((turn, place)) = *answer else { continue };
        match turns[index].call_id.clone() {
            Some(id) => turns[turn].calls[place].id = id,
            None => {
                let id = turns[turn].calls[place].id.clone();
                turns[index].call_id = Some(id).filter(|id| !id.is_empty());
            }
        }
    }
}

/// Puts the results behind each reply, where none has an id, into the order of the calls; what does not
/// answer this reply stays behind.
fn order_results(turns: &mut [Turn], answers: &mut [Option<CallAt>]) {
    let mut at = 0;
    while at < turns.len() {
        let results = turns[at + 1..].iter().take_while(|turn| turn.role == Role::Tool).count();
        let block = at + 1..=at + results;
        if results > 1 && turns[block.clone()].iter().all(|turn| turn.call_id.is_none()) {
            let mut order: Vec<usize> = block.clone().collect();
            order.sort_by_key(|index| match answers[*index] {
                Some((turn, place)) if turn == at => place,
                Some(_) | None => usize::MAX,
            });
            let sorted: Vec<_> = order.into_iter().map(|index| (turns[index].clone(), answers[index])).collect();
            for (index, (turn, answer)) in block.zip(sorted) {
                (turns[index], answers[index]) = (turn, answer);
            }
        }
        at += results + 1;
    }
}

/// Whether each result without an id stands where the oldest open call without an id is its own.
fn order_tells(turns: &[Turn], answers: &[Option<CallAt>]) -> bool {
    let mut waiting: VecDeque<CallAt> = VecDeque::new();
    let mut host = None;
    for (index, turn) in turns.iter().enumerate() {
        if turn.role != Role::Tool {
            host = Some(index);
            let open = turn.calls.iter().enumerate().filter(|(_, call)| call.id.is_empty());
            waiting.extend(open.map(|(place, _)| (index, place)));
        } else if turn.call_id.is_none() {
            let oldest = waiting.pop_front();
            if oldest != answers[index] || oldest.is_some_and(|(turn, _)| Some(turn) != host) {
                return false;
            }
        }
    }
    true
}

/// Gives new ids to results without one, and to the calls they answer.
fn make_ids(turns: &mut [Turn], answers: &[Option<CallAt>]) {
    let calls = turns.iter().flat_map(|turn| &turn.calls).map(|call| call.id.clone());
    let taken: HashSet<String> = calls.chain(turns.iter().filter_map(|turn| turn.call_id.clone())).collect();
    let mut ids = (1_usize..).map(|number| format!("by-name-{number}")).filter(|id| !taken.contains(id));
    for index in 0..turns.len() {
        if turns[index].role != Role::Tool || turns[index].call_id.is_some() {
            continue;
        }
        let id = ids.next();
        if let (Some((turn, place)), Some(id)) = (answers[index], &id) {
            turns[turn].calls[place].id.clone_from(id);
        }
        turns[index].call_id = id;
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role, Turn};

    use super::pair_by_name;

    fn reply(calls: &[&str]) -> Turn {
        let call = |name: &str| {
            let (name, id) = name.split_once('#').unwrap_or((name, ""));
            Call { id: id.to_owned(), name: name.to_owned(), arguments: String::new() }
        };
        Turn { calls: calls.iter().map(|name| call(name)).collect(), ..Turn::text_of(Role::Assistant, "") }
    }

    /// A result: its tool's name, an id, a text.
    type Given<'t> = (&'t str, &'t str, &'t str);

    /// What comes of replies, given as their calls, and the results behind each: of a reply the ids of its calls,
    /// of a result its text and id.
    fn paired(turns: &[(&[&str], &[Given<'_>])]) -> Vec<String> {
        let (mut all, mut names) = (Vec::new(), Vec::new());
        for (calls, results) in turns {
            all.push(reply(calls));
            for (name, id, text) in *results {
                names.push((*name).to_owned());
                let call_id = Some((*id).to_owned()).filter(|id| !id.is_empty());
                all.push(Turn { call_id, ..Turn::text_of(Role::Tool, *text) });
            }
        }
        pair_by_name(&mut all, &names);
        let ids = |turn: &Turn| turn.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>().join(",");
        let line = |turn: &Turn| match turn.role {
            Role::Tool => format!("{}<{}", turn.text(), turn.call_id.as_deref().unwrap_or_default()),
            _ => ids(turn),
        };
        all.iter().map(line).collect()
    }

    #[test]
    fn the_order_of_the_calls_is_enough_where_all_are_answered() {
        let results = [("b", "", "1"), ("a", "", "2"), ("a", "", "3")];
        assert_eq!(paired(&[(&["a", "b", "a"], &results)]), [",,", "2<", "1<", "3<"]);
        // A call at the end that nothing answers moves none.
        assert_eq!(paired(&[(&["a"], &[("a", "", "1")]), (&["b", "b"], &[("b", "", "2")])]), ["", "1<", ",", "2<"]);
    }

    #[test]
    fn no_call_takes_the_result_of_its_neighbour() {
        assert_eq!(paired(&[(&["a", "b"], &[("b", "", "1")])]), [",by-name-1", "1<by-name-1"]);
        // The open call of an earlier reply does not get it either.
        let later = paired(&[(&["a"], &[]), (&["a"], &[("a", "", "1")])]);
        assert_eq!(later, ["", "by-name-1", "1<by-name-1"]);
        let orphan = paired(&[(&["a", "b"], &[("c", "", "1"), ("b", "", "2")])]);
        assert_eq!(orphan, [",by-name-1", "2<by-name-1", "1<by-name-2"]);
        let taken = paired(&[(&["c#by-name-1"], &[("c", "by-name-1", "1")]), (&["a", "b"], &[("b", "", "2")])]);
        assert_eq!(taken, ["by-name-1", "1<by-name-1", ",by-name-2", "2<by-name-2"]);
    }

    #[test]
    fn a_late_result_finds_its_call() {
        let late = paired(&[(&["a"], &[]), (&["b"], &[("b", "", "1"), ("a", "", "2")])]);
        assert_eq!(late, ["by-name-2", "by-name-1", "1<by-name-1", "2<by-name-2"]);
    }

    #[test]
    fn one_id_is_enough_for_a_pair_and_two_that_differ_are_none() {
        assert_eq!(paired(&[(&["a#x"], &[("a", "", "1")])]), ["x", "1<x"]);
        assert_eq!(paired(&[(&["a"], &[("a", "x", "1")])]), ["x", "1<x"]);
        assert_eq!(paired(&[(&["a#x"], &[("a", "y", "1")])]), ["x", "1<y"]);
    }

    #[test]
    fn without_names_the_place_tells() {
        assert_eq!(paired(&[(&["a", "b"], &[("", "", "1"), ("", "", "2")])]), [",", "1<", "2<"]);
        assert_eq!(paired(&[(&["", ""], &[("a", "", "1"), ("b", "", "2")])]), [",", "1<", "2<"]);
    }
}
