//! Text that remembers which of its bytes were copied from the session, through redaction, caps
//! and sampling. Exposure is computed from these spans, never by searching for the plant.

use std::ops::Range;

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

/// Text with the origin of its bytes; what no span covers was written by the compactor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracked {
    text: String,
    spans: Vec<Copied>,
}

impl Tracked {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The copied runs, in order.
    pub fn spans(&self) -> &[Copied] {
        &self.spans
    }

    /// Appends text of the compactor's own.
    pub fn push_own(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a whole part of the session.
    pub fn push_copied(&mut self, text: &str, origin: Origin) {
        if !text.is_empty() {
            self.spans.push(Copied { at: self.text.len(), origin, from: 0, len: text.len() });
            self.text.push_str(text);
        }
    }

    /// Appends bytes `range` of `source`, with their origins.
    pub fn push_range(&mut self, source: &Self, range: Range<usize>) {
        let at = self.text.len();
        self.text.push_str(&source.text[range.clone()]);
        // Spans stand in order, so that many small ranges of one text cost no more than the text.
        let first = source.spans.partition_point(|span| span.at + span.len <= range.start);
        for span in source.spans[first..].iter().take_while(|span| span.at < range.end) {
            let start = span.at.max(range.start);
            let end = (span.at + span.len).min(range.end);
            if start < end {
                self.spans.push(Copied {
                    at: at + start - range.start,
                    origin: span.origin,
                    from: span.from + start - span.at,
                    len: end - start,
                });
            }
        }
    }

    /// Replaces byte ranges (in order, not overlapping) by texts of the compactor's own.
    pub fn replace<T: AsRef<str>>(&mut self, edits: &[(Range<usize>, T)]) {
        if !edits.is_empty() {
            *self = self.replaced(edits);
        }
    }

    /// The same in a new text.
    pub fn replaced<T: AsRef<str>>(&self, edits: &[(Range<usize>, T)]) -> Self {
        let added: usize = edits.iter().map(|(_, text)| text.as_ref().len()).sum();
        let mut out = Self {
            text: String::with_capacity(self.text.len() + added),
            spans: Vec::with_capacity(self.spans.len() + edits.len()),
        };
        let mut done = 0;
        for (range, text) in edits {
            out.push_range(self, done..range.start);
            out.push_own(text.as_ref());
            done = range.end;
        }
        out.push_range(self, done..self.text.len());
        out
    }

    /// Replaces byte ranges (in order, not overlapping) by pieces, of which some may be the text's own.
    pub fn splice(&mut self, edits: &[(Range<usize>, Vec<Piece>)]) {
        if edits.is_empty() {
            return;
        }
        let mut out = Self { text: String::with_capacity(self.text.len()), spans: Vec::new() };
        let mut done = 0;
        for (range, pieces) in edits {
            out.push_range(self, done..range.start);
            for piece in pieces {
                match piece {
                    Piece::Own(text) => out.push_own(text),
                    Piece::Copied(range) => out.push_range(self, range.clone()),
                }
            }
            done = range.end;
        }
        out.push_range(self, done..self.text.len());
        *self = out;
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
mod tests {
    use super::{Copied, Origin, Tracked};

    const ORIGIN: Origin = Origin { turn: 3, part: 0 };

    fn copied(text: &str) -> Tracked {
        let mut tracked = Tracked::default();
        tracked.push_copied(text, ORIGIN);
        tracked
    }

    /// Every span still copies what it says.
    fn check(tracked: &Tracked, source: &str) {
        for span in tracked.spans() {
            assert_eq!(&tracked.text()[span.at..span.at + span.len], &source[span.from..span.from + span.len]);
        }
    }

    #[test]
    fn replacing_keeps_the_origin_of_the_rest() {
        let source = "one secret two secret three";
        let mut tracked = copied(source);
        tracked.replace(&[(4..10, "***".to_owned()), (15..21, "*".to_owned())]);
        assert_eq!(tracked.text(), "one *** two * three");
        assert_eq!(tracked.spans().len(), 3);
        check(&tracked, source);
    }

    #[test]
    fn ends_are_counted_in_characters() {
        let source = "ääbbcc";
        let mut tracked = copied(source);
        tracked.keep_ends(1, 2, "…");
        assert_eq!(tracked.text(), "ä…cc");
        assert_eq!(tracked.spans()[1], Copied { at: 5, origin: ORIGIN, from: 6, len: 2 });
        check(&tracked, source);
        let mut no_tail = copied(source);
        no_tail.keep_ends(2, 0, "...");
        assert_eq!(no_tail.text(), "ää...");
    }
}
