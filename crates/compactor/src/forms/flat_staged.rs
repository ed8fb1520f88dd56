//! `flat-staged`: a long transcript goes out in parts. The partial summaries are joined, or summarized
//! once more, each as a user turn: what a part's summary says then stands under the user's label.

use laundromat_session::MessageRole;
use laundromat_session::labels::fill;

use super::flat::{Transcript, Written};
use super::form::{Built, Material, Step};
use crate::arm::Arm;
use crate::axes::Merge;
use crate::compactor::Refusal;
use crate::view::{Item, SEPARATOR, View};

/// The next request, or the summary, given the replies so far.
pub(super) fn step(from: Material<'_>, replies: &[String]) -> Result<Step, Refusal> {
    // Of many parts only those up to the next one are looked at.
    if let Some(items) = parts(from.view, from.arm).nth(replies.len()) {
        return Ok(Step::Ask(build(from, items)));
    }
    let parts = parts(from.view, from.arm).count();
    let merge = merge(from.arm);
    Ok(match replies.len() {
        1 if parts == 1 => Step::Summary(replies[0].clone()),
        _ if merge == Merge::Concatenate => Step::Summary(replies[..parts].join(SEPARATOR)),
        asked if asked == parts => Step::Ask(merged(from, replies)),
        _ => Step::Summary(replies[parts].clone()),
    })
}

pub(super) fn calls(view: &View, arm: &Arm) -> usize {
    match parts(view, arm).count() {
        1 => 1,
        parts => parts + usize::from(merge(arm) == Merge::Summarize),
    }
}

pub(super) fn first(from: Material<'_>) -> Built {
    build(from, parts(from.view, from.arm).next().unwrap_or_default())
}

fn build(from: Material<'_>, items: &[Item]) -> Built {
    Written::of(from, items).request(MessageRole::User)
}

fn merge(arm: &Arm) -> Merge {
    arm.staged.map_or(Merge::Summarize, |staged| staged.merge)
}

fn merged(from: Material<'_>, replies: &[String]) -> Built {
    let labels = Transcript::of(from.arm).labels;
    let entry =
        |(place, reply): (usize, &String)| format!("{}{reply}{}", fill(labels.user, "", place + 1), labels.ends.user);
    let text = replies.iter().enumerate().map(entry).collect::<Vec<_>>().join(labels.between);
    Written::with(from, |turns| turns.push_own(&text)).request(MessageRole::User)
}

/// Runs of whole records, each within the arm's size of a part where a record is not longer by itself.
fn parts<'v>(view: &'v View, arm: &Arm) -> impl Iterator<Item = &'v [Item]> {
    let most = arm.staged.map_or(usize::MAX, |staged| staged.chunk);
    let size = |item: &Item| match item {
        Item::Kept(index) => view.record_chars(*index),
        Item::Gap { marker, .. } => marker.chars().count(),
    };
    // No items at all are one part, which is empty.
    let mut rest = Some(view.items.as_slice());
    std::iter::from_fn(move || {
        let items = rest?;
        let mut used = 0;
        let fits = |(at, item): &(usize, &Item)| {
            used += size(item);
            *at == 0 || used <= most
        };
        let (part, behind) = items.split_at(items.iter().enumerate().take_while(fits).count());
        rest = Some(behind).filter(|behind| !behind.is_empty());
        Some(part)
    })
}
