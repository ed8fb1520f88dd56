//! `flat-staged`: a long transcript goes out in parts. The partial summaries are joined, or summarized
//! once more, each as a user turn: what a part's summary says then stands under the user's label.

use std::borrow::Cow;

use laundromat_session::MessageRole;
use laundromat_session::labels::fill;

use super::flat::{Transcript, Written};
use super::form::{Built, Material, Step};
use crate::arm::Arm;
use crate::axes::Merge;
use crate::compactor::Refusal;
use crate::view::{SEPARATOR, View};

/// The next request, or the summary, given the replies so far.
pub(super) fn step(from: Material<'_>, replies: &[String]) -> Result<Step, Refusal> {
    let parts = parts(from.view, from.arm);
    let asked = replies.len();
    if asked < parts.len() {
        return Ok(Step::Ask(build(from, &parts, asked)));
    }
    let merge = merge(from.arm);
    Ok(match asked {
        1 if parts.len() == 1 => Step::Summary(replies[0].clone()),
        _ if merge == Merge::Concatenate => Step::Summary(replies[..parts.len()].join(SEPARATOR)),
        _ if asked == parts.len() => Step::Ask(merged(from, replies)),
        _ => Step::Summary(replies[parts.len()].clone()),
    })
}

pub(super) fn calls(view: &View, arm: &Arm) -> usize {
    match parts(view, arm).len() {
        1 => 1,
        parts => parts + usize::from(merge(arm) == Merge::Summarize),
    }
}

pub(super) fn first(from: Material<'_>) -> Built {
    build(from, &parts(from.view, from.arm), 0)
}

/// Asks for the summary of a part.
fn build(from: Material<'_>, ends: &[usize], part: usize) -> Built {
    let start = part.checked_sub(1).map_or(0, |before| ends[before]);
    Written::of(from, &from.view.items[start..ends[part]]).request(MessageRole::User)
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

/// The ends of runs of whole items, each within the arm's size of a part where a record is not longer by itself.
fn parts<'v>(view: &'v View, arm: &Arm) -> Cow<'v, [usize]> {
    view.part_ends(arm.staged.map_or(usize::MAX, |staged| staged.chunk))
}
