//! Text that remembers which of its bytes were copied from the session, through redaction, caps
//! and sampling. Exposure is computed from these runs, never by searching for the plant.

use std::ops::Range;

use crate::rewrite::Rewrite;
use crate::stretch::Stretch;

/// Where copied bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Index of the turn in the session.
    pub turn: usize,
    /// Index of the part in the turn.
    pub part: usize,
}

/// A run of bytes copied without change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// First byte in the tracked text.
    pub at: usize,
    /// The part it was copied from.
    pub origin: Origin,
    /// First byte in that part.
    pub from: usize,
    /// Number of bytes.
    pub len: usize,
}

/// A piece of what stands in place of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text of the compactor's own.
    Own(String),
    /// Bytes of the text itself.
    Copied(Range<usize>),
}

/// Text with the origin of its bytes; what no run covers was written by the compactor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracked {
    text: String,
    pub(crate) stretches: Vec<Stretch>,
}

impl Tracked {
    /// Text of the compactor's own.
    pub fn own(text: &str) -> Self {
        Self { text: text.to_owned(), stretches: Vec::new() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The copied runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = Copied> {
        self.stretches.iter().flat_map(Stretch::runs)
    }

    /// The same runs, those together that stand close together.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The text and its stretches.
    pub(crate) fn into_parts(self) -> (String, Vec<Stretch>) {
        (self.text, self.stretches)
    }

    /// Makes room for `bytes` of text in `stretches`.
    pub(crate) fn reserve(&mut self, bytes: usize, stretches: usize) {
        self.text.reserve_exact(bytes);
        self.stretches.reserve_exact(stretches);
    }

    /// Appends text of the compactor's own.
    pub fn push_own(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a whole part of the session.
    pub fn push_copied(&mut self, text: &str, origin: Origin) {
        if !text.is_empty() {
            self.stretches.push(Stretch::of(Copied { at: self.text.len(), origin, from: 0, len: text.len() }));
            self.text.push_str(text);
        }
    }

    /// Appends a text with its origins.
    pub fn push_tracked(&mut self, source: &Self) {
        let at = self.text.len();
        self.stretches.extend(source.stretches.iter().map(|stretch| stretch.moved(at)));
        self.text.push_str(&source.text);
    }

    /// Appends a text as `change` rewrites it.
    pub(crate) fn push_rewritten(&mut self, source: &Self, change: impl FnOnce(&str, &mut Rewrite<'_>)) {
        let mut rewrite = Rewrite::new(source, self);
        change(&source.text, &mut rewrite);
        rewrite.finish();
    }

    /// Rewrites the text in place; whether `change` changed anything.
    pub(crate) fn rewrite(&mut self, change: impl FnOnce(&str, &mut Rewrite<'_>)) -> bool {
        let mut out = Self::default();
        let mut rewrite = Rewrite::new(self, &mut out);
        change(&self.text, &mut rewrite);
        let is_changed = rewrite.is_changed;
        if is_changed {
            rewrite.finish();
            // It stays as long as the session does.
            out.text.shrink_to_fit();
            *self = out;
        }
        is_changed
    }

    /// Replaces byte ranges (in order, not overlapping) by texts of the compactor's own.
    pub fn replace<T: AsRef<str>>(&mut self, edits: &[(Range<usize>, T)]) {
        self.rewrite(|_, rewrite| edits.iter().for_each(|(range, text)| rewrite.replace(range.clone(), text.as_ref())));
    }

    /// Keeps the first `head` and the last `tail` characters around `marker`; both must fit the text.
    pub fn keep_ends(&mut self, head: usize, tail: usize, marker: &str) {
        let head_end = char_offset(&self.text, head);
        let tail_start = if tail == 0 {
            self.text.len()
        } else {
            self.text.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at)
        };
        self.replace(&[(head_end..tail_start.max(head_end), marker.to_owned())]);
    }
}

/// Byte offset of character `n`, or the end.
pub(crate) fn char_offset(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::{Copied, Origin, Tracked};

    const ORIGIN: Origin = Origin { turn: 3, part: 0 };

    fn copied(text: &str) -> Tracked {
        let mut tracked = Tracked::default();
        tracked.push_copied(text, ORIGIN);
        tracked
    }

    /// Every run still copies what it says.
    fn check(tracked: &Tracked, source: &str) {
        for run in tracked.runs() {
            assert_eq!(&tracked.text()[run.at..run.at + run.len], &source[run.from..run.from + run.len]);
        }
    }

    #[test]
    fn replacing_keeps_the_origin_of_the_rest() {
        let source = "one secret two secret three";
        let mut tracked = copied(source);
        tracked.replace(&[(4..10, "***".to_owned()), (15..21, "*".to_owned())]);
        assert_eq!(tracked.text(), "one *** two * three");
        assert_eq!(tracked.runs().count(), 3);
        check(&tracked, source);
    }

    #[test]
    fn ends_are_counted_in_characters() {
        let source = "ääbbcc";
        let mut tracked = copied(source);
        tracked.keep_ends(1, 2, "…");
        assert_eq!(tracked.text(), "ä…cc");
        assert_eq!(tracked.runs().nth(1), Some(Copied { at: 5, origin: ORIGIN, from: 6, len: 2 }));
        check(&tracked, source);
        let mut no_tail = copied(source);
        no_tail.keep_ends(2, 0, "...");
        assert_eq!(no_tail.text(), "ää...");
    }
}
