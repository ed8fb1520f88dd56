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

    /// Whether the reply that is being written has anything yet, be it a result.
    pub(crate) fn is_replying(&self) -> bool {
        self.reply.as_ref().is_some_and(says_something) || !self.results.is_empty()
    }

    /// How many turns are complete.
    pub(crate) fn count(&self) -> usize {
        self.turns.len()
    }

    /// Gives the complete turns from `first` on the time `ts`, where they have none of their own.
    pub(crate) fn stamp(&mut self, first: usize, ts: Option<&str>) {
        for turn in self.turns[first..].iter_mut().filter(|turn| turn.ts.is_none()) {
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

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role};

    use super::Replies;
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
}
