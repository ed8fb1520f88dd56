//! Demoting: long results of the kept tail, save those of the newest rounds, make way for a line that says
//! where they can be found.

use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Role, Session, holes};

use super::pruning::{Cut, Pruning};
use crate::caps::thousands;
use crate::labelled::fill;
use crate::records;

/// What the line may tell.
const HOLES: &[&str] = &["{tool}", "{chars}"];

/// Which results of the tail are demoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demote {
    /// Steps of calls and results, newest first, that stay whole.
    pub keep_rounds: usize,
    /// Results of at least so many characters are demoted.
    pub from_chars: usize,
    /// What stands in their place; may hold `{tool}` and `{chars}`.
    pub line: String,
}

impl Demote {
    pub(super) fn read<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Self> {
        let keep_rounds = fields.required(document, "keep-rounds");
        let from_chars = fields.required(document, "from-chars");
        let line = fields.required_at::<String>(document, "line");
        if let Some((line, span)) = &line {
            for problem in holes::unknown(line, HOLES) {
                let remedy = format!("write no other braces than {}", holes::listed(HOLES));
                document.fault(span, &fields.path_of("line"), problem, remedy);
            }
        }
        fields.finish(document);
        Some(Self { keep_rounds: keep_rounds?, from_chars: from_chars?, line: line?.0 })
    }

    /// Demotes results of `session` from turn `tail` on.
    pub(super) fn apply(&self, session: &Session, tail: usize, pruning: &mut Pruning) {
        let asked = records::askers(session);
        let asks = |turn: &usize| !session.turns[*turn].calls.is_empty();
        let rounds = (tail..session.turns.len()).rev().filter(asks);
        let Some(newest) = rounds.take(self.keep_rounds).last().filter(|_| self.keep_rounds > 0) else { return };
        for turn in (tail..newest).filter(|turn| session.turns[*turn].role == Role::Tool) {
            let text = records::flatten(turn, &session.turns[turn]);
            let chars = text.text().chars().count();
            if chars < self.from_chars || pruning.cut(turn).is_some() {
                continue;
            }
            let name = asked.get(&turn).map_or("tool", |(asker, call)| &session.turns[*asker].calls[*call].name);
            let line = fill(&self.line, &[("{tool}", name), ("{chars}", &thousands(chars))]);
            pruning.set_text(turn, Cut::Demoted, vec![(0..text.text().len(), line)]);
        }
    }
}
