//! What tiers made of the turns of a session: edits by turn, each with its reason.

use std::collections::BTreeMap;
use std::ops::Range;

use laundromat_session::{Part, Session, Turn};

use crate::axes::choice;
use crate::records;
use crate::tracked::Tracked;

choice! {
    /// What was done to a turn.
    Cut {
        /// The middle of a long text or of long arguments was left out.
        Clamped = "clamped",
        /// A placeholder stands for a tool result, or arguments were emptied.
        Cleared = "cleared",
        /// One line stands for a tool result.
        Stubbed = "stubbed",
        /// A later result says the same.
        Superseded = "superseded",
        /// A long result of the kept tail was moved out of the context.
        Demoted = "demoted",
    }
}

/// How a turn was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What was done to it, last.
    pub cut: Cut,
    /// Edits of its flattened text, in order.
    text: Vec<(Range<usize>, String)>,
    /// New arguments, by the number of the call.
    arguments: BTreeMap<usize, String>,
}

/// The changed turns of a session, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruning {
    changes: BTreeMap<usize, Change>,
}

impl Pruning {
    /// The changed turns and how they were changed.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &Change)> {
        self.changes.iter().map(|(turn, change)| (*turn, change))
    }

    /// What was done to a turn.
    pub fn cut(&self, turn: usize) -> Option<Cut> {
        self.changes.get(&turn).map(|change| change.cut)
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Edits the flattened text of a turn, in place of earlier edits of it.
    pub(super) fn set_text(&mut self, turn: usize, cut: Cut, edits: Vec<(Range<usize>, String)>) {
        let change = self.change(turn, cut);
        change.text = edits;
    }

    /// Gives a call of a turn other arguments.
    pub(super) fn set_arguments(&mut self, turn: usize, cut: Cut, call: usize, arguments: String) {
        self.change(turn, cut).arguments.insert(call, arguments);
    }

    fn change(&mut self, turn: usize, cut: Cut) -> &mut Change {
        let change = Change { cut, text: Vec::new(), arguments: BTreeMap::new() };
        let change = self.changes.entry(turn).or_insert(change);
        change.cut = cut;
        change
    }

    /// Makes the edits of turn `turn` in its flattened text.
    pub(crate) fn edit(&self, turn: usize, text: &mut Tracked) {
        if let Some(change) = self.changes.get(&turn) {
            text.replace(&change.text);
        }
    }

    /// The arguments of a call as they stand, recorded as `recorded`.
    pub(crate) fn arguments<'a>(&'a self, turn: usize, call: usize, recorded: &'a str) -> &'a str {
        let changed = self.changes.get(&turn).and_then(|change| change.arguments.get(&call));
        changed.map_or(recorded, String::as_str)
    }

    /// A turn as it stands.
    pub(crate) fn turn(&self, number: usize, turn: &Turn) -> Turn {
        let mut turn = turn.clone();
        let Some(change) = self.changes.get(&number) else { return turn };
        if !change.text.is_empty() {
            let mut text = records::flatten(number, &turn);
            text.replace(&change.text);
            turn.parts = vec![Part::Text(text.text().to_owned())];
        }
        for (call, arguments) in &change.arguments {
            if let Some(call) = turn.calls.get_mut(*call) {
                call.arguments.clone_from(arguments);
            }
        }
        turn
    }

    /// The session as it stands: every turn has the number that it had.
    pub fn session(&self, before: &Session) -> Session {
        let turns = before.turns.iter().enumerate().map(|(number, turn)| self.turn(number, turn)).collect();
        Session { id: before.id.clone(), title: before.title.clone(), origin: before.origin.clone(), turns }
    }
}
