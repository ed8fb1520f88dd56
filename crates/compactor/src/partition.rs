//! Which turns of a session are summarized and which stay, as an arm's `[keep]` says.
//!
//! Cuts are found on the turns of the session itself, by number: what a shield makes of their text
//! changes no number.

use std::collections::HashMap;
use std::ops::Range;

use laundromat_session::{Role, Session, Turn};

use crate::axes::{After, Verbatim};
use crate::keep::{CopySlots, EarlierSummaries, Keep, NewestRequest, Snap, Tail, TailTurn, Unit};
use crate::next_context::is_summary;

/// The copies of user turns that stand beside a summary.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// Which turns.
    pub verbatim: Verbatim,
    /// Characters of each: longer ones are cut.
    pub each: usize,
    /// Characters of all together: the oldest make way.
    pub total: usize,
}

impl Beside {
    /// As `after` says.
    pub fn of(after: Option<&After>) -> Self {
        let most = |limit: fn(&After) -> Option<usize>| after.and_then(limit).unwrap_or(usize::MAX);
        Self {
            verbatim: after.map_or(Verbatim::Nothing, |after| after.verbatim),
            each: most(|after| after.verbatim_chars),
            total: most(|after| after.verbatim_total),
        }
    }

    /// Those of `persons` that there is room for, newest first.
    fn fitting(self, turns: &[Turn], persons: &[usize]) -> Vec<usize> {
        let mut left = self.total;
        let fits = |turn: &usize| {
            let room = left.checked_sub(turns[*turn].text().chars().count().min(self.each));
            left = room.unwrap_or(left);
            room.is_some()
        };
        let mut fitting: Vec<usize> = persons.iter().rev().copied().take_while(fits).collect();
        fitting.reverse();
        fitting
    }
}

/// What a turn costs, by its number.
pub type Cost<'a> = dyn Fn(usize, &Turn) -> usize + 'a;

/// The turns of a session by what becomes of them; numbers are those of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Leading system turns, which stay.
    pub system: Range<usize>,
    /// Turns that stay in front.
    pub head: Range<usize>,
    /// Turns that are summarized.
    pub old: Range<usize>,
    /// The newest turns.
    pub tail: Range<usize>,
    /// Turns of the tail that are left out, since copies took their places.
    pub displaced: Range<usize>,
    /// Summarized user turns that also stand beside the summary, word for word.
    pub copies: Vec<usize>,
}

impl Partition {
    /// Parts `session`, each turn at its `cost` in tokens.
    pub fn new(session: &Session, keep: &Keep, beside: Beside, cost: &Cost<'_>) -> Self {
        let turns = &session.turns;
        let system = turns.iter().take_while(|turn| turn.role == Role::System).count();
        let request = turns.iter().rposition(Turn::is_genuine_user).filter(|_| keep.request != NewestRequest::BySize);
        let parted = request.filter(|_| keep.request == NewestRequest::Apart).unwrap_or(turns.len());
        let summaries = match keep.summaries {
            EarlierSummaries::Summarized => 0,
            EarlierSummaries::Stay => turns[system..parted].iter().take_while(|turn| is_summary(turn)).count(),
        };
        let units = units(&turns[..parted], system + summaries, keep.unit);
        let start_of = |unit: usize| units.get(unit).map_or(parted, |unit| unit.start);
        let mut head_end = start_of(keep.head);
        if keep.head > 0 && keep.snap == Snap::Pairs {
            // The results of what the head's last call asked for stay with it.
            head_end += turns[head_end..parted].iter().take_while(|turn| turn.role == Role::Tool).count();
        }
        let cost = |unit: &Range<usize>| unit.clone().map(|turn| cost(turn, &turns[turn])).sum();
        let first = first_kept(turns, &units, keep, &cost).min(units.len().saturating_sub(keep.least));
        let mut start = start_of(first).max(head_end);
        if let Some(request) = request {
            start = start.min(request.max(head_end));
        }
        if keep.snap == Snap::Pairs {
            start = snapped(turns, start).max(head_end);
        }
        let old = head_end..start;
        let (copies, displaced) = copies(turns, &old, keep, beside, &units);
        Self { system: 0..system, head: system..head_end, old, tail: start..turns.len(), displaced, copies }
    }

    /// Where the tail of `session` begins by its size alone: neither pairs nor the request move it.
    pub(crate) fn tail_by_size(session: &Session, keep: &Keep, cost: &Cost<'_>) -> usize {
        let turns = &session.turns;
        let system = turns.iter().take_while(|turn| turn.role == Role::System).count();
        let units = units(turns, system, keep.unit);
        let cost = |unit: &Range<usize>| unit.clone().map(|turn| cost(turn, &turns[turn])).sum();
        let first = first_kept(turns, &units, keep, &cost).min(units.len().saturating_sub(keep.least));
        units.get(first).map_or(turns.len(), |unit| unit.start)
    }

    /// Whether there is nothing to summarize.
    pub fn is_idle(&self) -> bool {
        self.old.is_empty()
    }

    /// The turns of the tail that are sent.
    pub fn sent_tail(&self) -> impl Iterator<Item = usize> {
        self.tail.clone().filter(|turn| !self.displaced.contains(turn))
    }
}

/// Runs of turns that the harness counts as one message each.
fn units(turns: &[Turn], from: usize, unit: Unit) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    for (index, turn) in turns.iter().enumerate().skip(from) {
        let goes_on = match unit {
            Unit::Messages => false,
            Unit::Exchanges => turn.role == Role::Tool && turns[..index].last().is_some_and(|t| t.role == Role::Tool),
            Unit::Texts => turn.role == Role::Tool || turn.text().trim().is_empty(),
        };
        match units.last_mut() {
            Some(last) if goes_on => last.end = index + 1,
            _ => units.push(index..index + 1),
        }
    }
    units
}

/// The first unit of the tail, by its size alone.
fn first_kept(turns: &[Turn], units: &[Range<usize>], keep: &Keep, cost: &dyn Fn(&Range<usize>) -> usize) -> usize {
    match keep.tail {
        Tail::Messages(count) => units.len().saturating_sub(count),
        Tail::Tokens(most) => {
            let mut left = most;
            let fits = units.iter().rev().take_while(|unit| {
                let fits = left.checked_sub(cost(unit));
                left = fits.unwrap_or_default();
                fits.is_some()
            });
            units.len() - fits.count()
        }
        Tail::Share(share) => {
            let costs: Vec<usize> = units.iter().map(cost).collect();
            let whole: usize = costs.iter().sum();
            let mut before = 0;
            let mut newest = units.len();
            for (place, unit) in units.iter().enumerate().filter(|(_, unit)| !unit.is_empty()) {
                if turns[unit.start].is_genuine_user() {
                    newest = place;
                    if before >= whole - share.of(whole) {
                        break;
                    }
                }
                before += costs[place];
            }
            newest
        }
        Tail::Turns { count, turn, most } => {
            let first_of = |count: usize| match turn {
                TailTurn::TwoMessages => units.len().checked_sub(2 * count),
                TailTurn::Person => {
                    let persons = units.iter().enumerate().filter(|(_, unit)| turns[unit.start].is_genuine_user());
                    persons.map(|(place, _)| place).rev().nth(count - 1)
                }
            };
            let fits = |first: &usize| most.is_none_or(|most| units[*first..].iter().map(cost).sum::<usize>() <= most);
            let sizes = (1..=count).rev().filter_map(first_of);
            sizes.into_iter().find(fits).unwrap_or(units.len())
        }
    }
}

/// The start of a tail in which every result has its call, at most `start`.
fn snapped(turns: &[Turn], mut start: usize) -> usize {
    // Where each result's call stands; ids may be used again, so the newest call before it counts.
    let mut asked: HashMap<&str, usize> = HashMap::new();
    let mut calls = vec![None; turns.len()];
    for (index, turn) in turns.iter().enumerate() {
        asked.extend(turn.calls.iter().map(|call| (call.id.as_str(), index)));
        if turn.role == Role::Tool {
            calls[index] = turn.call_id.as_deref().and_then(|id| asked.get(id)).copied();
        }
    }
    let mut checked = turns.len();
    while checked > start {
        let earliest = calls[start..checked].iter().flatten().min().copied().unwrap_or(start);
        checked = start;
        start = start.min(earliest);
    }
    start
}

/// Which summarized user turns are copied, and which turns of the tail make way for them.
fn copies(
    turns: &[Turn],
    old: &Range<usize>,
    keep: &Keep,
    beside: Beside,
    units: &[Range<usize>],
) -> (Vec<usize>, Range<usize>) {
    let mut persons: Vec<usize> = old.clone().filter(|turn| turns[*turn].is_genuine_user()).collect();
    match beside.verbatim {
        Verbatim::Nothing => persons.clear(),
        Verbatim::FirstUser => persons.truncate(1),
        Verbatim::LastUser => persons = persons.split_off(persons.len().saturating_sub(1)),
        Verbatim::UserTurns => {}
    }
    let mut persons = beside.fitting(turns, &persons);
    let (Tail::Messages(slots), CopySlots::Tail | CopySlots::TailButNewest) = (keep.tail, keep.copies) else {
        return (persons, old.end..old.end);
    };
    let reserved = usize::from(keep.copies == CopySlots::TailButNewest).min(slots);
    persons = persons.split_off(persons.len().saturating_sub(slots - reserved));
    let room = slots - persons.len();
    // The newest stay, as far as there is room.
    let tail: Vec<&Range<usize>> = units.iter().filter(|unit| unit.start >= old.end).collect();
    let gone = tail.len().saturating_sub(room);
    let mut end = gone.checked_sub(1).map_or(old.end, |last| tail[last].end);
    if keep.snap == Snap::Pairs {
        end = snapped(turns, end).max(old.end);
    }
    (persons, old.end..end)
}
