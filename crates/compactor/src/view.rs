//! A view: the records after an arm's caps, with what was kept and what was dropped. A form reads
//! a view and nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use laundromat_session::labels::LabelStyle;
use laundromat_session::normal_form::{self, Input, NormalForm, Speaker, Step};

use crate::caps::{Caps, SliceStart, TotalCap, object_within, shorten_middle};
use crate::labelled::{call_lines, end, label};
use crate::parts::Parts;
use crate::records::Record;
use crate::tracked::Tracked;

/// Result text of a kept call whose result was dropped by the bound.
pub const RESULT_ELIDED: &str = "[result elided]";
/// Blank line between flattened records.
pub(crate) const SEPARATOR: &str = "\n\n";

/// Records within an arm's caps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The records, capped: texts and arguments as flattened forms show them.
    pub records: Vec<Record>,
    /// The same conversation in the normal form, arguments capped as JSON objects. Texts are named
    /// by record number.
    pub normal: NormalForm,
    /// Records that were too long for a slice, by number, as they stand shortened.
    pub shortened: BTreeMap<usize, Shortened>,
    /// What was kept and what was dropped, in order.
    pub items: Vec<Item>,
    /// Characters of each record's text, and of its calls' names and arguments.
    chars: Vec<(usize, usize)>,
    /// Characters of the kept records' texts.
    kept_chars: usize,
    /// Where its parts end, for arms that ask in parts.
    parts: Parts,
}

/// A record shortened in the middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// What stands behind the label in flattened text: the text and the call lines, cut as one.
    pub flat: Tracked,
    /// The text alone, for forms in which calls stand apart.
    pub typed: Tracked,
}

/// A kept record or a run of dropped ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Record by number, from 0.
    Kept(usize),
    /// Dropped records and the marker that stands for them.
    Gap {
        /// First dropped record.
        first: usize,
        /// Last dropped record.
        last: usize,
        /// The marker's text, with its blank lines.
        marker: String,
    },
}

impl View {
    /// Applies `caps` to `records`. The normal form is made first, so that the bound holds on what
    /// is really sent and nothing is rebuilt afterwards.
    pub fn new(mut records: Vec<Record>, caps: &Caps) -> Self {
        let mut normal = normalise(&records);
        for record in &mut records {
            if let Some(cap) = caps.text_of(&record.role) {
                cap.apply(&mut record.text);
            }
            if let Some(cap) = &caps.arguments {
                for call in &mut record.calls {
                    call.arguments = cap.flat(&call.arguments);
                }
            }
        }
        if let Some(cap) = &caps.arguments {
            for exchange in exchanges_mut(&mut normal) {
                exchange.call.arguments = cap.object(std::mem::take(&mut exchange.call.arguments));
            }
        }
        let items = (0..records.len()).map(Item::Kept).collect();
        let chars = records.iter().map(|record| (chars(record.text.text()), called(record))).collect();
        let mut view =
            Self { records, normal, shortened: BTreeMap::new(), items, chars, kept_chars: 0, parts: Parts::default() };
        if let Some(cap) = &caps.total {
            view.bound(cap);
        }
        view.kept_chars = view.kept().map(|record| view.chars[record].0).sum();
        view
    }

    /// Numbers of the kept records.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.items.iter().filter_map(|item| match item {
            Item::Kept(record) => Some(*record),
            Item::Gap { .. } => None,
        })
    }

    /// Characters of the kept records' texts, counted once: compactions of many calls ask again in each.
    pub(crate) fn kept_chars(&self) -> usize {
        self.kept_chars
    }

    /// The end of each part of its items, in which no more than `most` characters stand.
    pub(crate) fn part_ends(&self, most: usize) -> Cow<'_, [usize]> {
        self.parts.ends(most, self.items.iter().map(|item| self.item_chars(item)))
    }

    fn item_chars(&self, item: &Item) -> usize {
        match item {
            Item::Kept(record) => {
                let (text, calls) = self.chars[*record];
                text + calls
            }
            Item::Gap { marker, .. } => chars(marker),
        }
    }

    /// The text of a record as forms with roles send it.
    pub(crate) fn typed_text(&self, record: usize) -> &Tracked {
        self.shortened.get(&record).map_or(&self.records[record].text, |shortened| &shortened.typed)
    }

    /// Keeps whole records in slices spread over the session once all together are too long: the
    /// oldest and the newest record always stay. Sizes are those of the flattened records, so that
    /// every form is given the same ones.
    fn bound(&mut self, cap: &TotalCap) {
        let style = cap.style();
        let count = self.records.len();
        let mut sizes: Vec<usize> = (0..count).map(|record| self.flat_size(record, style)).collect();
        let total = joined(&sizes);
        if total <= cap.limit {
            return;
        }
        let slices = cap.slices.min(count);
        let widest = chars(&cap.gap(count, count, total));
        let target = cap.limit.saturating_sub((slices - 1) * widest) / slices;
        for (record, size) in sizes.iter_mut().enumerate() {
            if *size > target {
                let label = chars(&label(style, &self.records[record], record + 1, None));
                let shortened = self.shorten(record, target, label, cap);
                *size = label + chars(shortened.flat.text());
                self.shortened.insert(record, shortened);
            }
        }
        let sampler = Sampler::new(&sizes, cap);
        let mut slices = sampler.sample(slices, target);
        if cap.start == SliceStart::UserTurn
            && let Some(oldest) = slices.first_mut()
            && let Some(user) = (oldest.first..=oldest.last).find(|n| self.records[*n].speaker == Speaker::User)
        {
            oldest.first = user;
        }
        self.items = sampler.items(&slices);
    }

    fn flat_size(&self, index: usize, style: &LabelStyle) -> usize {
        let record = &self.records[index];
        chars(&label(style, record, index + 1, None))
            + self.chars[index].0
            + chars(&call_lines(style, record.text.text(), &record.calls, None))
            + chars(end(style, record))
    }

    /// Shortens a record to at most `target` characters, its label included: flattened in the middle
    /// as one text; in roles its arguments evenly, then its text in the middle.
    fn shorten(&mut self, index: usize, target: usize, label: usize, cap: &TotalCap) -> Shortened {
        let marker = &cap.record_marker;
        let record = &self.records[index];
        let mut flat = record.text.clone();
        flat.push_own(&call_lines(cap.style(), record.text.text(), &record.calls, None));
        shorten_middle(&mut flat, target.saturating_sub(label), label, marker);
        let mut typed = record.text.clone();
        let mut left = target;
        if let Some(share) = (target / 2).checked_div(record.calls.len()) {
            for exchange in exchanges_mut(&mut self.normal).filter(|exchange| exchange.asked_in == Some(index)) {
                let room = share.saturating_sub(chars(&exchange.call.name));
                if chars(&exchange.call.arguments) > room {
                    exchange.call.arguments = object_within(&exchange.call.arguments, room, room);
                }
                left = left.saturating_sub(chars(&exchange.call.name) + chars(&exchange.call.arguments));
            }
        }
        shorten_middle(&mut typed, left, 0, marker);
        Shortened { flat, typed }
    }
}

fn normalise(records: &[Record]) -> NormalForm {
    let inputs: Vec<Input<'_>> = records
        .iter()
        .map(|record| Input {
            speaker: record.speaker,
            text: record.text.text(),
            calls: &record.calls,
            call_id: &record.call_id,
            has_reasoning: record.has_reasoning,
        })
        .collect();
    normal_form::normal_form(&inputs)
}

fn exchanges_mut(normal: &mut NormalForm) -> impl Iterator<Item = &mut normal_form::Exchange> {
    normal.steps.iter_mut().flat_map(|step| match step {
        Step::Assistant { exchanges, .. } => exchanges.iter_mut(),
        Step::User(_) | Step::Note(_) => [].iter_mut(),
    })
}

/// Characters of a record's calls.
fn called(record: &Record) -> usize {
    record.calls.iter().map(|call| chars(&call.name) + chars(&call.arguments)).sum()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn joined(sizes: &[usize]) -> usize {
    sizes.iter().sum::<usize>() + SEPARATOR.len() * sizes.len().saturating_sub(1)
}

/// A run of kept records, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    first: usize,
    last: usize,
}

/// Chooses slices of records by their sizes.
struct Sampler<'a> {
    cap: &'a TotalCap,
    sizes: &'a [usize],
    /// Sum of the sizes before each record.
    before: Vec<usize>,
}

impl<'a> Sampler<'a> {
    fn new(sizes: &'a [usize], cap: &'a TotalCap) -> Self {
        let mut before = vec![0];
        for size in sizes {
            before.push(before[before.len() - 1] + size);
        }
        Self { cap, sizes, before }
    }

    fn sample(&self, slices: usize, target: usize) -> Vec<Slice> {
        self.grow(self.spread(slices, target))
    }

    /// Slices that start evenly spread and grow forward while within `target`; the last one is
    /// anchored on the newest record and grows backward.
    fn spread(&self, slices: usize, target: usize) -> Vec<Slice> {
        let count = self.sizes.len();
        let mut out: Vec<Slice> = Vec::with_capacity(slices);
        for index in 0..slices.saturating_sub(1) {
            let first = round_half_even(index * count, slices).min(count - 1);
            let mut slice = Slice { first, last: first };
            while slice.last + 1 < count && self.length(Slice { last: slice.last + 1, ..slice }) <= target {
                slice.last += 1;
            }
            out.push(slice);
        }
        let mut slice = Slice { first: count - 1, last: count - 1 };
        while slice.first > 0 && self.length(Slice { first: slice.first - 1, ..slice }) <= target {
            slice.first -= 1;
        }
        out.push(slice);
        merge(out)
    }

    /// Spends what is left below the limit round-robin from the newest slice to the oldest, one
    /// whole neighbouring record a slice and round: the newest grows backward, the others forward.
    fn grow(&self, mut slices: Vec<Slice>) -> Vec<Slice> {
        loop {
            let mut grown = false;
            for index in (0..slices.len()).rev() {
                // A slice may have been merged with the one before it in this round.
                let Some(slice) = slices.get(index).copied() else { continue };
                let mut next = slices.clone();
                match next.get(index + 1) {
                    Some(following) if slice.last + 1 < following.first => next[index].last += 1,
                    None if index > 0 && slice.first > slices[index - 1].last + 1 => next[index].first -= 1,
                    _ => continue,
                }
                let next = merge(next);
                if self.rendered(&next) <= self.cap.limit {
                    slices = next;
                    grown = true;
                }
            }
            if !grown {
                return slices;
            }
        }
    }

    /// Characters of the records `slice` holds, joined.
    fn length(&self, slice: Slice) -> usize {
        self.before[slice.last + 1] - self.before[slice.first] + SEPARATOR.len() * (slice.last - slice.first)
    }

    /// Characters of everything: slices, and a marker in each gap.
    fn rendered(&self, slices: &[Slice]) -> usize {
        let gaps = slices.windows(2).map(|pair| chars(&self.gap(pair[0].last + 1, pair[1].first - 1)));
        slices.iter().map(|slice| self.length(*slice)).sum::<usize>() + gaps.sum::<usize>()
    }

    /// The marker for records `first..=last`, from 0: it counts the blank lines around them too.
    fn gap(&self, first: usize, last: usize) -> String {
        let skipped = self.before[last + 1] - self.before[first] + SEPARATOR.len() * (last - first + 2);
        self.cap.gap(first + 1, last + 1, skipped)
    }

    fn items(&self, slices: &[Slice]) -> Vec<Item> {
        let mut out = Vec::new();
        let mut next = 0;
        for slice in slices {
            if slice.first > next {
                let (first, last) = (next, slice.first - 1);
                out.push(Item::Gap { first, last, marker: self.gap(first, last) });
            }
            out.extend((slice.first..=slice.last).map(Item::Kept));
            next = slice.last + 1;
        }
        out
    }
}

/// `numerator / denominator`, halves to the even neighbour.
fn round_half_even(numerator: usize, denominator: usize) -> usize {
    let whole = numerator / denominator;
    match (2 * (numerator % denominator)).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

fn merge(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.sort_by_key(|slice| slice.first);
    let mut out: Vec<Slice> = Vec::with_capacity(slices.len());
    for slice in slices {
        match out.last_mut() {
            Some(before) if slice.first <= before.last + 1 => before.last = before.last.max(slice.last),
            _ => out.push(slice),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Sampler, Slice, merge, round_half_even};
    use crate::caps::TotalCap;

    #[test]
    fn halves_round_to_even() {
        let rounded: Vec<usize> = (0..8).map(|n| round_half_even(n, 2)).collect();
        assert_eq!(rounded, [0, 0, 1, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn slices_keep_both_ends_and_use_the_room_there_is() {
        let sizes: Vec<usize> = (0..100).map(|n| 50 + n % 7).collect();
        let cap = TotalCap {
            limit: 2500,
            slices: 8,
            marker: "[{first}-{last}: {chars}]".to_owned(),
            start: crate::caps::SliceStart::Any,
            labels: "bracket-upper",
            record_marker: String::new(),
        };
        let sampler = Sampler::new(&sizes, &cap);
        let kept = sampler.sample(8, 200);
        assert_eq!(kept.first().map(|slice| slice.first), Some(0));
        assert_eq!(kept.last().map(|slice| slice.last), Some(99));
        let rendered = sampler.rendered(&kept);
        assert!(rendered <= 2500 && rendered > 2440, "{rendered}");
    }

    #[test]
    fn touching_slices_are_one() {
        let slices = vec![Slice { first: 3, last: 5 }, Slice { first: 0, last: 2 }, Slice { first: 8, last: 9 }];
        assert_eq!(merge(slices), [Slice { first: 0, last: 5 }, Slice { first: 8, last: 9 }]);
    }
}
