//! A view: the records after an arm's caps, with what was kept and what was dropped. A form reads
//! a view and nothing else.

use laundromat_session::Call;
use laundromat_session::labels::LabelStyle;
use laundromat_session::normal_form::{self, Input, NOTE_PREFIX, NormalForm, Step, Text};

use crate::caps::{Caps, TotalCap, object_within, shorten_middle};
use crate::records::{Record, RecordCall, label};

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
    /// What was kept and what was dropped, in order.
    pub items: Vec<Item>,
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
            if let Some(cap) = &caps.text {
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
        let mut view = Self { items: (0..records.len()).map(Item::Kept).collect(), records, normal };
        if let Some(cap) = &caps.total {
            view.bound(cap);
        }
        view
    }

    /// Numbers of the kept records.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.items.iter().filter_map(|item| match item {
            Item::Kept(record) => Some(*record),
            Item::Gap { .. } => None,
        })
    }

    /// Keeps whole records in slices spread over the session once all together are too long:
    /// the oldest and the newest record always stay.
    fn bound(&mut self, cap: &TotalCap) {
        let mut sizes = self.sizes(cap);
        if joined(&sizes) <= cap.limit {
            return;
        }
        let count = self.records.len();
        let slices = cap.slices.min(count);
        let widest = cap.gap(count, count, joined(&sizes)).chars().count() + NOTE_PREFIX.chars().count();
        let budget = cap.limit.saturating_sub((slices - 1) * widest);
        let target = budget / slices;
        let long: Vec<usize> = (0..count).filter(|record| sizes[*record] > target).collect();
        for record in long {
            self.shorten(record, target, cap);
        }
        sizes = self.sizes(cap);
        let kept = grow(&mut spread(&sizes, slices, target), &sizes, budget);
        self.items = items(&kept, &sizes, cap);
    }

    /// What each record costs: the longer of its flattened and its typed shape, so that one view
    /// is within the bound in every form.
    fn sizes(&self, cap: &TotalCap) -> Vec<usize> {
        let style = cap.style();
        let mut typed = vec![0; self.records.len()];
        for step in &self.normal.steps {
            match step {
                Step::User(Text::Recorded(record)) => typed[*record] += chars(self.records[*record].text.text()),
                // The lead stands in front of record 0, which is always kept.
                Step::User(Text::Fixed(lead)) => typed[0] += chars(lead),
                Step::Note(record) => typed[*record] += chars(NOTE_PREFIX) + chars(self.records[*record].text.text()),
                Step::Assistant { text, exchanges } => {
                    if let Some(record) = text {
                        typed[*record] += chars(self.records[*record].text.text());
                    }
                    for exchange in exchanges {
                        let asked = chars(&exchange.call.name) + chars(&exchange.call.arguments);
                        if let Some(record) = exchange.asked_in {
                            typed[record] += asked + chars(normal_form::NO_RESULT);
                        }
                        if let Text::Recorded(record) = exchange.result {
                            // Where the call is dropped the result brings a stub call of its name.
                            typed[record] += chars(self.records[record].text.text()) + chars(&exchange.call.name) + 2;
                        }
                    }
                }
            }
        }
        let flat = self.records.iter().enumerate().map(|(index, record)| flat_size(index, record, style));
        flat.zip(typed).map(|(flat, typed)| flat.max(typed)).collect()
    }

    /// Shortens a record to at most `target` characters: its arguments evenly, then its text in
    /// the middle.
    fn shorten(&mut self, index: usize, target: usize, cap: &TotalCap) {
        let calls = self.records[index].calls.len();
        if let Some(share) = (target / 2).checked_div(calls) {
            let share = share.saturating_sub(40);
            for call in &mut self.records[index].calls {
                let end = crate::tracked::char_offset(&call.arguments, share);
                call.arguments.truncate(end);
            }
            for exchange in exchanges_mut(&mut self.normal).filter(|exchange| exchange.asked_in == Some(index)) {
                if chars(&exchange.call.arguments) > share {
                    exchange.call.arguments = object_within(&exchange.call.arguments, share, share);
                }
            }
        }
        let size = self.sizes(cap)[index];
        let text = chars(self.records[index].text.text());
        let over = size.saturating_sub(target);
        shorten_middle(&mut self.records[index].text, text.saturating_sub(over), &cap.record_marker);
    }
}

fn normalise(records: &[Record]) -> NormalForm {
    let calls: Vec<Vec<Call>> = records
        .iter()
        .map(|record| {
            let call = |call: &RecordCall| Call {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            };
            record.calls.iter().map(call).collect()
        })
        .collect();
    let inputs: Vec<Input<'_>> = records
        .iter()
        .zip(&calls)
        .map(|(record, calls)| Input {
            speaker: record.speaker,
            text: record.text.text(),
            calls,
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

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn flat_size(index: usize, record: &Record, style: &LabelStyle) -> usize {
    chars(&label(style, record, index + 1)) + chars(record.text.text()) + call_lines(&record.calls)
}

/// Characters of a record's call lines in flattened text.
fn call_lines(calls: &[RecordCall]) -> usize {
    match calls {
        [] => 0,
        calls => {
            16 + calls.iter().map(|call| chars(&call.name) + chars(&call.arguments) + 4).sum::<usize>() + calls.len()
                - 1
        }
    }
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

/// Slices that start evenly spread and grow forward while within `target`; the last one is
/// anchored on the newest record and grows backward.
fn spread(sizes: &[usize], slices: usize, target: usize) -> Vec<Slice> {
    let count = sizes.len();
    let mut out: Vec<Slice> = Vec::with_capacity(slices);
    for index in 0..slices.saturating_sub(1) {
        let first = round_half_even(index * count, slices).min(count - 1);
        let mut last = first;
        let mut size = sizes[first];
        while last + 1 < count && size + SEPARATOR.len() + sizes[last + 1] <= target {
            last += 1;
            size += SEPARATOR.len() + sizes[last];
        }
        out.push(Slice { first, last });
    }
    let mut first = count - 1;
    let mut size = sizes[first];
    while first > 0 && size + SEPARATOR.len() + sizes[first - 1] <= target {
        first -= 1;
        size += SEPARATOR.len() + sizes[first];
    }
    out.push(Slice { first, last: count - 1 });
    merge(out)
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

/// Spends what is left of the budget round-robin from the newest slice to the oldest, one whole
/// neighbouring record a slice and round: the newest grows backward, the others forward.
fn grow(slices: &mut Vec<Slice>, sizes: &[usize], budget: usize) -> Vec<Slice> {
    let cost = |slice: &Slice| joined(&sizes[slice.first..=slice.last]);
    let mut spent: usize = slices.iter().map(cost).sum();
    loop {
        let mut grown = false;
        for index in (0..slices.len()).rev() {
            let newest = index + 1 == slices.len();
            let (low, high) = (
                if index == 0 { 0 } else { slices[index - 1].last + 1 },
                if newest { sizes.len() } else { slices[index + 1].first },
            );
            let slice = slices[index];
            let next = if newest {
                slice.first.checked_sub(1).filter(|next| *next >= low)
            } else {
                Some(slice.last + 1).filter(|next| *next < high)
            };
            let Some(next) = next else { continue };
            let price = sizes[next] + SEPARATOR.len();
            if spent + price <= budget {
                spent += price;
                grown = true;
                slices[index] = Slice { first: slice.first.min(next), last: slice.last.max(next) };
            }
        }
        *slices = merge(std::mem::take(slices));
        if !grown {
            return std::mem::take(slices);
        }
    }
}

fn items(slices: &[Slice], sizes: &[usize], cap: &TotalCap) -> Vec<Item> {
    let mut out = Vec::new();
    let mut next = 0;
    for slice in slices {
        if slice.first > next {
            let (first, last) = (next, slice.first - 1);
            let skipped = &sizes[first..=last];
            let chars = skipped.iter().sum::<usize>() + SEPARATOR.len() * (skipped.len() + 1);
            out.push(Item::Gap { first, last, marker: cap.gap(first + 1, last + 1, chars) });
        }
        out.extend((slice.first..=slice.last).map(Item::Kept));
        next = slice.last + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Slice, grow, merge, round_half_even, spread};

    #[test]
    fn halves_round_to_even() {
        let rounded: Vec<usize> = (0..8).map(|n| round_half_even(n, 2)).collect();
        assert_eq!(rounded, [0, 0, 1, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn slices_keep_both_ends_and_stay_within_the_budget() {
        let sizes: Vec<usize> = (0..100).map(|n| 50 + n % 7).collect();
        let mut slices = spread(&sizes, 8, 200);
        let kept = grow(&mut slices, &sizes, 1700);
        assert_eq!(kept.first().map(|slice| slice.first), Some(0));
        assert_eq!(kept.last().map(|slice| slice.last), Some(99));
        let spent: usize = kept.iter().map(|slice| super::joined(&sizes[slice.first..=slice.last])).sum();
        assert!(spent <= 1700 && spent > 1600, "{spent}");
    }

    #[test]
    fn touching_slices_are_one() {
        let slices = vec![Slice { first: 3, last: 5 }, Slice { first: 0, last: 2 }, Slice { first: 8, last: 9 }];
        assert_eq!(merge(slices), [Slice { first: 0, last: 5 }, Slice { first: 8, last: 9 }]);
    }
}
