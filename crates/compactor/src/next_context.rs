//! The context that comes out of a compaction: a session again, from which the next round starts, with
//! a statement of where each of its turns is from. The statement is checked before it is used.

use std::collections::HashSet;

use laundromat_session::{Call, Part, Role, Session, Turn};

use crate::axes::{After, KeptTurns, Placement, VerbatimPlace};
use crate::keep::Boundary;
use crate::partition::Partition;
use crate::shield::Shield;
use crate::tracked::{Tracked, char_offset};

/// Why a turn of the summary's is in a session: no person wrote it.
pub const SUMMARY: &str = "compaction-summary";
/// Whether a turn was made of a summary.
pub fn is_summary(turn: &Turn) -> bool {
    turn.synthetic.as_deref() == Some(SUMMARY)
}

/// The id of the call that a recap answers.
const RECAP: &str = "compaction-recap";

/// Where a turn of the next context is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// It stays where it was.
    Turn(usize),
    /// It was summarized, and is copied.
    Copy(usize),
    /// The harness made it of the summary.
    Summary,
}

/// The next context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextContext {
    session: Session,
    from: Vec<From>,
    /// Turns whose text stands in the summary's message.
    flattened: Vec<usize>,
    /// Copies that lost their ends.
    cut: Vec<usize>,
    /// The turns that are not sent again in the round after this one.
    once: Vec<usize>,
}

/// A statement about a context that is not true of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// A turn is said to be there and is not.
    #[error("turn {turn} is said to be kept, and its text is not in the context")]
    Absent {
        /// Its number in the session.
        turn: usize,
    },
    /// A turn is there twice.
    #[error("turn {turn} is in the context twice")]
    Twice {
        /// Its number in the session.
        turn: usize,
    },
    /// A turn is in no part, or in two.
    #[error("turn {turn} is not in exactly one part of the session")]
    Unparted {
        /// Its number in the session.
        turn: usize,
    },
    /// A result is kept and its call is not.
    #[error("turn {turn} is a result that is kept without its call")]
    Orphan {
        /// Its number in the session.
        turn: usize,
    },
    /// The request that is being answered is not in the next context.
    #[error("turn {turn} is the request being answered, and it would not be in the context")]
    RequestGone {
        /// Its number in the session.
        turn: usize,
    },
}

/// A shield, and where it acts.
pub(crate) struct Covers<'a> {
    pub(crate) shield: Option<&'a Shield>,
    pub(crate) at: &'a [Boundary],
}

impl Covers<'_> {
    fn covered(&self, text: &str, boundary: Boundary) -> String {
        match self.shield.filter(|_| self.at.contains(&boundary)) {
            None => text.to_owned(),
            Some(shield) => {
                let mut tracked = Tracked::default();
                tracked.push_own(text);
                shield.apply(&mut tracked);
                tracked.text().to_owned()
            }
        }
    }

    /// A kept turn as it is sent.
    pub(crate) fn turn(&self, turn: &Turn) -> Turn {
        let is_user = turn.role == Role::User;
        let boundary = if is_user { Boundary::ReplayedUser } else { Boundary::ReplayedOther };
        let mut turn = turn.clone();
        for part in &mut turn.parts {
            if let Part::Text(text) = part {
                *text = self.covered(text, boundary);
            }
        }
        turn
    }
}

impl NextContext {
    /// The context after `summary` took the place of the old turns of `before`.
    pub(crate) fn new(
        before: &Session,
        partition: &Partition,
        after: &After,
        summary: &str,
        covers: &Covers<'_>,
    ) -> Result<Self, Unsound> {
        let summary = covers.covered(summary, Boundary::Summary);
        let mut text = format!("{}{summary}{}", after.prefix, after.end);
        let mut flattened = Vec::new();
        let mut from: Vec<From> = partition.system.clone().chain(partition.head.clone()).map(From::Turn).collect();
        let copies = || partition.copies.iter().copied().map(From::Copy);
        let most = after.verbatim_chars.unwrap_or(usize::MAX);
        let is_long = |turn: &usize| before.turns.get(*turn).is_some_and(|turn| turn.text().chars().count() > most);
        let cut = partition.copies.iter().copied().filter(is_long).collect();
        if after.verbatim_place == VerbatimPlace::Before {
            from.extend(copies());
        }
        let recap = usize::from(after.placement == Placement::ToolRecap);
        from.extend(std::iter::repeat_n(From::Summary, 1 + recap));
        if after.verbatim_place == VerbatimPlace::Behind {
            from.extend(copies());
        }
        if after.placement == Placement::UserWithFlatTail {
            // The request that is being answered stays a message of its own.
            let request = partition.sent_tail().filter(|turn| before.turns[*turn].is_genuine_user()).last();
            // A result goes where its call went: as a message of its own it would have none.
            let mut asked: HashSet<&str> = HashSet::new();
            for turn in partition.sent_tail() {
                let it = &before.turns[turn];
                let is_orphan = it.role == Role::Tool && !it.call_id.as_deref().is_some_and(|id| asked.contains(id));
                if request.is_some() && Some(turn) >= request && !is_orphan {
                    asked.extend(it.calls.iter().map(|call| call.id.as_str()));
                    from.push(From::Turn(turn));
                } else {
                    text.push_str(&flat(&covers.turn(it), after.flat_result_chars));
                    flattened.push(turn);
                }
            }
        } else {
            from.extend(partition.sent_tail().map(From::Turn));
        }
        let mut made = summary_turns(after.placement, text).into_iter();
        let turns = from.iter().filter_map(|from| match from {
            From::Turn(turn) => before.turns.get(*turn).map(|turn| covers.turn(turn)),
            From::Copy(turn) => before.turns.get(*turn).map(|turn| cut_to(after, covers.turn(turn))),
            From::Summary => made.next(),
        });
        let session = Session { turns: turns.collect(), ..before.clone() };
        let request = before.turns.iter().rposition(Turn::is_genuine_user);
        let once = match after.kept {
            KeptTurns::Stay => Vec::new(),
            KeptTurns::OneRound => partition.sent_tail().filter(|turn| Some(*turn) < request).collect(),
        };
        let next = Self { session, from, flattened, cut, once };
        next.check(before, after, covers)?;
        Ok(next)
    }

    /// The context as a session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Where each turn of it is from.
    pub fn from(&self) -> &[From] {
        &self.from
    }

    /// Whether turn `turn` of the session before is in the context, word for word.
    pub fn holds(&self, turn: usize) -> bool {
        let stands = |from: &From| matches!(from, From::Turn(it) | From::Copy(it) if *it == turn);
        (self.from.iter().any(stands) && !self.cut.contains(&turn)) || self.flattened.contains(&turn)
    }

    /// Whether it is still there in the round after this one.
    pub fn holds_on(&self, turn: usize) -> bool {
        self.holds(turn) && !self.once.contains(&turn)
    }

    /// What the round after this one starts from, before anything new is said.
    pub fn following(&self) -> Session {
        let stays = |from: &From| !matches!(from, From::Turn(turn) if self.once.contains(turn));
        let turns = self.session.turns.iter().zip(&self.from).filter(|(_, from)| stays(from));
        Session { turns: turns.map(|(turn, _)| turn.clone()).collect(), ..self.session.clone() }
    }

    /// Every turn that is said to be kept is there, once.
    fn check(&self, before: &Session, after: &After, covers: &Covers<'_>) -> Result<(), Unsound> {
        let mut seen = vec![false; before.turns.len()];
        for (place, from) in self.from.iter().enumerate() {
            let (From::Turn(turn) | From::Copy(turn)) = *from else { continue };
            let said = before.turns.get(turn).map(|turn| covers.turn(turn));
            let said = match from {
                From::Copy(_) => said.map(|turn| cut_to(after, turn)),
                From::Turn(_) | From::Summary => said,
            };
            if said.is_none() || self.session.turns.get(place) != said.as_ref() {
                return Err(Unsound::Absent { turn });
            }
            if std::mem::replace(&mut seen[turn], true) {
                return Err(Unsound::Twice { turn });
            }
        }
        Ok(())
    }
}

/// The turns that a harness makes of a summary.
fn summary_turns(placement: Placement, text: String) -> Vec<Turn> {
    let made = |role: Role, text: String| Turn { synthetic: Some(SUMMARY.to_owned()), ..Turn::text_of(role, text) };
    match placement {
        Placement::User | Placement::FramedUser | Placement::UserWithFlatTail => vec![made(Role::User, text)],
        Placement::Assistant => vec![made(Role::Assistant, text)],
        Placement::System => vec![made(Role::System, text)],
        Placement::ToolRecap => {
            let call = Call { id: RECAP.to_owned(), name: "recap".to_owned(), arguments: "{}".to_owned() };
            let asks = Turn { calls: vec![call], parts: Vec::new(), ..made(Role::Assistant, String::new()) };
            let answers = Turn { call_id: Some(RECAP.to_owned()), ..made(Role::Tool, text) };
            vec![asks, answers]
        }
    }
}

/// A copy as it stands beside the summary.
fn cut_to(after: &After, mut turn: Turn) -> Turn {
    if let Some(most) = after.verbatim_chars {
        let text = turn.text().into_owned();
        let end = char_offset(&text, most);
        if end < text.len() {
            turn.parts = vec![Part::Text(format!("{}{}", &text[..end], after.verbatim_marker))];
        }
    }
    turn
}

/// What a flattened tail opens a person's turn with. The text of any turn can write it.
pub(crate) const FLAT_USER: &str = "\n\n[User]: ";

/// A kept turn as text: who spoke stands in a label that the text itself can forge.
fn flat(turn: &Turn, result_chars: Option<usize>) -> String {
    let text = turn.text();
    let cut = match (&turn.role, result_chars) {
        (Role::Tool, Some(most)) => &text[..char_offset(&text, most)],
        _ => &text,
    };
    let label = match turn.role {
        Role::User if turn.synthetic.is_none() => FLAT_USER,
        Role::Assistant => "\n\n[Assistant]: ",
        Role::Tool if turn.is_error => "\n\n[Tool error]: ",
        Role::Tool => "\n\n[Tool result]: ",
        Role::User | Role::System | Role::Marker(_) | Role::Other(_) => "\n\n[Synthetic context]: ",
    };
    let mut flat = String::new();
    if let Some(thought) = turn.reasoning.as_deref().filter(|thought| !thought.trim().is_empty()) {
        flat.push_str(&format!("\n\n[Assistant reasoning]: {thought}"));
    }
    if !cut.trim().is_empty() || turn.calls.is_empty() {
        flat.push_str(&format!("{label}{cut}"));
    }
    for call in &turn.calls {
        flat.push_str(&format!("\n\n[Assistant tool call]: {}({})", call.name, call.arguments));
    }
    flat
}
