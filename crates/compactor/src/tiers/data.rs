//! The tiers of an arm as data, and the order that they run in.

use laundromat_session::Session;
use laundromat_session::fields::{Document, Fields};

use super::clamp::Clamp;
use super::clear::ClearResults;
use super::demote::Demote;
use super::pruning::Pruning;
use super::stub::Stub;
use crate::axes::choice;
use crate::estimate::Estimator;
use crate::trigger;

choice! {
    /// A step of a compaction, in the order that they run in.
    Tier {
        /// Long texts and arguments of the assistant's lose their middle.
        Clamp = "clamp",
        /// A placeholder stands for old tool results.
        Clear = "clear",
        /// One line stands for each old tool result.
        Stub = "stub",
        /// A model is asked.
        Summarize = "summarize",
        /// Long results of the kept tail make way for a line.
        Demote = "demote",
    }
}

/// What an arm does before it summarizes, and to what it keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tiers {
    /// Tokens at which no further tier is needed; `None` where every tier runs.
    pub target: Option<usize>,
    /// Clamping.
    pub clamp: Option<Clamp>,
    /// Clearing.
    pub clear: Option<ClearResults>,
    /// Stubbing.
    pub stub: Option<Stub>,
    /// Demoting.
    pub demote: Option<Demote>,
}

impl Tiers {
    /// Those of them that the arm has, in order; summarizing is always one.
    pub fn order(&self) -> impl Iterator<Item = Tier> {
        let has = |tier: Tier| match tier {
            Tier::Clamp => self.clamp.is_some(),
            Tier::Clear => self.clear.is_some(),
            Tier::Stub => self.stub.is_some(),
            Tier::Summarize => true,
            Tier::Demote => self.demote.is_some(),
        };
        Tier::ALL.iter().copied().filter(move |tier| has(*tier))
    }

    /// Runs a tier over `session`, whose tail begins at turn `tail`.
    pub(crate) fn run(&self, tier: Tier, session: &Session, tail: usize, by: Estimator, pruning: &mut Pruning) {
        match tier {
            Tier::Clamp => self.clamp.iter().for_each(|clamp| clamp.apply(session, by, pruning)),
            Tier::Clear => self.clear.iter().for_each(|clear| clear.apply(session, pruning)),
            Tier::Stub => self.stub.iter().for_each(|stub| stub.apply(session, tail, pruning)),
            Tier::Demote => self.demote.iter().for_each(|demote| demote.apply(session, tail, pruning)),
            Tier::Summarize => {}
        }
    }
}

/// Reads `[tiers]`.
pub(crate) fn tiers<'i>(document: &mut Document<'i>, mut fields: Fields<'i>, window: usize) -> Tiers {
    let share = trigger::share(document, &mut fields, "target-fraction");
    let tokens = fields.optional_at::<usize>(document, "target-tokens");
    if let (Some(_), Some((_, span))) = (share, &tokens) {
        let path = fields.path_of("target-tokens");
        document.fault(span, &path, "a target is one size", "write target-tokens or target-fraction");
    }
    let target = share.map(|share| share.of(window)).or(tokens.map(|(tokens, _)| tokens));
    let clamp = fields.table(document, "clamp").and_then(|fields| Clamp::read(document, fields));
    let clear = fields.table(document, "clear").and_then(|fields| ClearResults::read(document, fields));
    let stub = fields.table(document, "stub").and_then(|fields| Stub::read(document, fields));
    let demote = fields.table(document, "demote").and_then(|fields| Demote::read(document, fields));
    fields.finish(document);
    Tiers { target, clamp, clear, stub, demote }
}
