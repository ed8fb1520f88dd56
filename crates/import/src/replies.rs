//! Turns of a conversation whose pieces come one by one: what belongs to one reply becomes one assistant
//! turn, and results that come with it stand behind it.

use laundromat_session::{Role, Turn};

use crate::chat::At;

/// Turns while their pieces come.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    turns: Vec<Turn>,
    reply: Option<Turn>,
    results: Vec<Turn>,
}

impl Replies {
    /// The reply that is being written; one is begun where there is none.
    pub(crate) fn reply(&mut self, at: At<'_>) -> &mut Turn {
        self.reply.get_or_insert_with(|| at.turn(Role::Assistant, Vec::new()))
    }

    /// Adds a result that came inside of the reply, which goes on.
    pub(crate) fn result_inside(&mut self, turn: Turn) {
        self.results.push(turn);
    }

    /// Adds any other turn; the reply before it is over.
    pub(crate) fn turn(&mut self, turn: Turn) {
        self.end_reply();
        self.turns.push(turn);
    }

    /// Ends the reply. One that has nothing at all is none.
    pub(crate) fn end_reply(&mut self) {
        self.turns.extend(self.reply.take().filter(says_something));
        self.turns.append(&mut self.results);
    }

    /// Whether the reply that is being written has anything yet.
    pub(crate) fn is_replying(&self) -> bool {
        self.reply.as_ref().is_some_and(says_something)
    }

    /// How many turns are complete.
    pub(crate) fn count(&self) -> usize {
        self.turns.len()
    }

    /// Gives the complete turns from `first` on their time.
    pub(crate) fn stamp(&mut self, first: usize, ts: Option<&str>) {
        for turn in &mut self.turns[first..] {
            turn.ts = ts.map(str::to_owned);
        }
    }

    /// All turns.
    pub(crate) fn finish(mut self) -> Vec<Turn> {
        self.end_reply();
        self.turns
    }
}

fn says_something(reply: &Turn) -> bool {
    !reply.parts.is_empty() || !reply.calls.is_empty() || reply.reasoning.is_some()
}

/// Puts the results of each reply whose calls have no ids into the order of the calls: the n-th result of a
/// tool answers its n-th call. `names` has the tool's name of each result, in the order of the results.
pub(crate) fn order_by_name(turns: &mut [Turn], names: &[String]) {
    let (mut at, mut seen) = (0, 0);
    while at < turns.len() {
        let results = turns[at + 1..].iter().take_while(|turn| turn.role == Role::Tool).count();
        seen += usize::from(turns[at].role == Role::Tool);
        if turns[at].role == Role::Assistant && results > 1 {
            let calls: Vec<String> = turns[at].calls.iter().map(|call| call.name.clone()).collect();
            let names = names.get(seen..).unwrap_or_default();
            order_block(&calls, &mut turns[at + 1..=at + results], names);
        }
        seen += results;
        at += results + 1;
    }
}

fn order_block(calls: &[String], results: &mut [Turn], names: &[String]) {
    if results.iter().any(|turn| turn.call_id.is_some()) {
        return;
    }
    let mut free: Vec<Option<&String>> = calls.iter().map(Some).collect();
    let mut wanted: Vec<(usize, usize)> = Vec::with_capacity(results.len());
    for place in 0..results.len() {
        let slot = free.iter().position(|call| call.is_some() && *call == names.get(place));
        if let Some(slot) = slot {
            free[slot] = None;
        }
        // What no call has asked for stays behind.
        wanted.push((slot.unwrap_or(usize::MAX), place));
    }
    wanted.sort_unstable();
    let sorted: Vec<Turn> = wanted.into_iter().map(|(_, place)| results[place].clone()).collect();
    results.clone_from_slice(&sorted);
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role, Turn};

    use super::{Replies, order_by_name};
    use crate::chat::At;

    const AT: At<'_> = At { file: "f", record: 1 };

    #[test]
    fn pieces_of_a_reply_are_one_turn() {
        let mut replies = Replies::default();
        replies.turn(AT.says(Role::User, "u"));
        replies.reply(AT).reasoning = Some("r".to_owned());
        replies.result_inside(AT.says(Role::Tool, "t"));
        replies.reply(AT).calls.push(Call { id: String::new(), name: "f".to_owned(), arguments: String::new() });
        replies.end_reply();
        replies.reply(AT);
        let roles: Vec<Role> = replies.finish().into_iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    }

    #[test]
    fn results_without_ids_go_by_name_and_order() {
        let call = |name: &str| Call { id: String::new(), name: name.to_owned(), arguments: String::new() };
        let calls = vec![call("a"), call("b"), call("a")];
        let mut turns = vec![Turn { calls, ..AT.says(Role::Assistant, "") }];
        let mut named = Vec::new();
        for (name, text) in [("b", "1"), ("a", "2"), ("c", "3"), ("a", "4")] {
            named.push(name.to_owned());
            turns.push(AT.says(Role::Tool, text));
        }
        order_by_name(&mut turns, &named);
        let texts: Vec<String> = turns[1..].iter().map(|turn| turn.text().into_owned()).collect();
        assert_eq!(texts, ["2", "1", "4", "3"]);
    }
}
