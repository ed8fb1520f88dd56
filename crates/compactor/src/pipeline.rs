//! The whole of a compaction up to the summarizer: the trigger, the tiers in their order, and which turns
//! are summarized. What comes out is a typed statement about every turn, checked before it is used.
//!
//! A trial makes the summary step alone; the pipeline also prunes, which decides what a summarizer can see.

use std::collections::HashMap;
use std::ops::Range;

use laundromat_session::{Role, Session, Turn};

use crate::arm::Arm;
use crate::estimate::{Estimator, Price};
use crate::invariant::Invariant;
use crate::keep::Snap;
use crate::next_context::Unsound;
use crate::partition::Partition;
use crate::tiers::{Cut, Pruning, Tier};
use crate::trigger::Pressure;

/// What starts a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It was asked for.
    Asked,
    /// The session's size, as the arm's trigger says; an arm without one compacts.
    ByTrigger,
}

/// What becomes of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It stays.
    Kept,
    /// It is summarized.
    Summarized,
    /// It is summarized, and a copy stands beside the summary.
    Copied,
    /// It is left out, and no summary holds it.
    LeftOut,
}

/// A tier that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Which one.
    pub tier: Tier,
    /// Tokens of the session before it.
    pub before: usize,
    /// Tokens behind it; for the summary those of what is kept, since no summary has been written.
    pub after: usize,
}

/// A compaction up to the summarizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// What every figure was counted with.
    pub estimator: Estimator,
    /// The session's size against the arm's trigger; `None` where the arm states none.
    pub pressure: Option<Pressure>,
    /// The tiers that ran, in order.
    pub ran: Vec<Ran>,
    /// What they made of turns.
    pub pruning: Pruning,
    /// Which turns are summarized; `None` where no model is asked, or the arm does not say what stays.
    pub partition: Option<Partition>,
    places: Vec<Place>,
}

impl Pipeline {
    /// What becomes of each turn, and what was done to it.
    pub fn fates(&self) -> impl Iterator<Item = (Place, Option<Cut>)> {
        self.places.iter().enumerate().map(|(turn, place)| (*place, self.pruning.cut(turn)))
    }

    /// Whether the session stays as it was.
    pub fn is_idle(&self) -> bool {
        self.partition.is_none() && self.pruning.is_empty()
    }
}

/// Parts a session that was pruned so far.
pub(crate) type Part<'a> = dyn Fn(&Pruning) -> Option<Partition> + 'a;

/// Runs the tiers of `arm` over `session`.
pub(crate) fn run(
    arm: &Arm,
    session: &Session,
    start: Start,
    tail: usize,
    part: &Part<'_>,
) -> Result<Pipeline, Unsound> {
    let mut sizes = Sizes::new(session, arm.price);
    let system = session.turns.iter().take_while(|turn| turn.role == Role::System).count();
    let pressure = arm.trigger.map(|trigger| trigger.pressure(sizes.total(), session.turns.len() - system));
    let mut pipeline = Pipeline {
        estimator: arm.price.by,
        pressure,
        ran: Vec::new(),
        pruning: Pruning::default(),
        partition: None,
        places: vec![Place::Kept; session.turns.len()],
    };
    if start == Start::ByTrigger && pressure.is_some_and(|pressure| !pressure.fires) {
        return Ok(pipeline);
    }
    let asks = arm.form.asks_model();
    for tier in arm.tiers.order().filter(|tier| asks || *tier != Tier::Summarize) {
        let before = sizes.total();
        if tier != Tier::Demote && arm.tiers.target.is_some_and(|target| before <= target) {
            break;
        }
        // What is demoted lies in the tail as it came out; everything before it ran on the tail as it was.
        let tail = pipeline.partition.as_ref().map_or(tail, |partition| partition.tail.start);
        match tier {
            Tier::Summarize => pipeline.partition = part(&pipeline.pruning),
            Tier::Demote if pipeline.partition.is_none() => continue,
            _ => {
                arm.tiers.run(tier, session, tail, arm.price.by, &mut pipeline.pruning);
                sizes.renew(session, &pipeline.pruning);
            }
        }
        let gone = match (tier, &pipeline.partition) {
            (Tier::Summarize, Some(partition)) => sizes.of(partition.old.clone()),
            _ => 0,
        };
        pipeline.ran.push(Ran { tier, before, after: sizes.total() - gone });
    }
    if let Some(partition) = &pipeline.partition {
        pipeline.places = places(session, partition)?;
        check(arm, session, partition, &pipeline.places)?;
    }
    Ok(pipeline)
}

/// Tokens of each turn as it stands.
struct Sizes {
    price: Price,
    turns: Vec<usize>,
}

impl Sizes {
    fn new(session: &Session, price: Price) -> Self {
        Self { price, turns: session.turns.iter().map(|turn| price.turn(turn)).collect() }
    }

    fn renew(&mut self, session: &Session, pruning: &Pruning) {
        for (turn, _) in pruning.changes() {
            self.turns[turn] = self.price.turn(&pruning.turn(turn, &session.turns[turn]));
        }
    }

    fn total(&self) -> usize {
        self.turns.iter().sum()
    }

    fn of(&self, turns: Range<usize>) -> usize {
        self.turns[turns].iter().sum()
    }
}

/// What becomes of each turn; every one is in exactly one part.
fn places(session: &Session, partition: &Partition) -> Result<Vec<Place>, Unsound> {
    let mut places = vec![None; session.turns.len()];
    let parts = [
        (&partition.system, Place::Kept),
        (&partition.head, Place::Kept),
        (&partition.old, Place::Summarized),
        (&partition.tail, Place::Kept),
    ];
    for (range, place) in parts {
        for turn in range.clone() {
            if places.get(turn).is_none_or(Option::is_some) {
                return Err(Unsound::Unparted { turn });
            }
            places[turn] = Some(place);
        }
    }
    partition.displaced.clone().for_each(|turn| places[turn] = Some(Place::LeftOut));
    partition.copies.iter().for_each(|turn| places[*turn] = Some(Place::Copied));
    let whole = |(turn, place): (usize, Option<Place>)| place.ok_or(Unsound::Unparted { turn });
    places.into_iter().enumerate().map(whole).collect()
}

/// Pairs stay together, and the request that is being answered stays, unless the arm says otherwise.
fn check(arm: &Arm, session: &Session, partition: &Partition, places: &[Place]) -> Result<(), Unsound> {
    if arm.keep.is_some_and(|keep| keep.snap == Snap::Pairs) {
        let is_gone = |turn: usize| matches!(places[turn], Place::Summarized | Place::LeftOut);
        // Ids may be used again: a result is an orphan where every call with its id before it is gone.
        let mut is_asked: HashMap<&str, bool> = HashMap::new();
        for (number, turn) in session.turns.iter().enumerate() {
            for call in &turn.calls {
                *is_asked.entry(&call.id).or_default() |= !is_gone(number);
            }
            let is_result = turn.role == Role::Tool && partition.tail.contains(&number) && !is_gone(number);
            if is_result && turn.call_id.as_deref().and_then(|id| is_asked.get(id)) == Some(&false) {
                return Err(Unsound::Orphan { turn: number });
            }
        }
    }
    match session.turns.iter().rposition(Turn::is_genuine_user) {
        Some(turn) if matches!(places[turn], Place::Summarized | Place::LeftOut) => {
            let declared = arm.faults.contains(&Invariant::CurrentRequest);
            if declared { Ok(()) } else { Err(Unsound::RequestGone { turn }) }
        }
        _ => Ok(()),
    }
}
