//! Rewriting tracked text in one pass: edits are made as they are found, and none of them is kept.

use std::ops::Range;
use std::slice;

use crate::stretch::{Gathering, Runs, Stretch};
use crate::tracked::{Copied, Piece, Tracked};

/// A text on its way to another one. Edits come in order and do not overlap; what none of them covers is copied.
pub(crate) struct Rewrite<'a> {
    source: &'a Tracked,
    out: &'a mut Tracked,
    /// Bytes of the source that were dealt with.
    done: usize,
    /// The source's runs from there on.
    rest: Rest<'a>,
    gathering: Gathering,
    /// Whether there was an edit.
    pub(crate) is_changed: bool,
}

impl<'a> Rewrite<'a> {
    pub(crate) fn new(source: &'a Tracked, out: &'a mut Tracked) -> Self {
        let rest = Rest::of(source.stretches());
        Self { source, out, done: 0, rest, gathering: Gathering::default(), is_changed: false }
    }

    /// Puts text of the compactor's own in place of `range`.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &str) {
        self.keep_to(range.start);
        self.out.push_own(with);
        self.done = range.end;
    }

    /// Puts pieces in place of `range`, of which some may be of that range itself.
    pub(crate) fn splice(&mut self, range: Range<usize>, pieces: &[Piece]) {
        self.keep_to(range.start);
        for piece in pieces {
            match piece {
                Piece::Own(text) => self.out.push_own(text),
                // Pieces may stand in another order than they did, and twice.
                Piece::Copied(piece) => {
                    let rest = self.rest.clone();
                    self.copy(piece.clone());
                    self.rest = rest;
                }
            }
        }
        self.done = range.end;
    }

    /// Copies what is left.
    pub(crate) fn finish(mut self) {
        self.copy(self.done..self.source.text().len());
        self.gathering.close(&mut self.out.stretches);
    }

    fn keep_to(&mut self, end: usize) {
        if !self.is_changed {
            self.is_changed = true;
            let bytes = self.source.text().len();
            self.gathering.expect(bytes);
            if self.out.text().is_empty() {
                // Most edits are escapes, a byte or two longer than what they stand for.
                self.out.reserve(bytes + bytes / 16, self.source.stretches().len());
            }
        }
        self.copy(self.done..end);
    }

    fn copy(&mut self, range: Range<usize>) {
        let at = self.out.text().len();
        self.out.push_own(&self.source.text()[range.clone()]);
        while let Some(run) = self.rest.head.filter(|run| run.at < range.end) {
            let start = run.at.max(range.start);
            let end = (run.at + run.len).min(range.end);
            if start < end {
                let copied = Copied {
                    at: at + start - range.start,
                    origin: run.origin,
                    from: run.from + start - run.at,
                    len: end - start,
                };
                self.gathering.push(copied, &mut self.out.stretches);
            }
            if run.at + run.len > range.end {
                break;
            }
            self.rest.advance();
        }
    }
}

/// The runs of a text that were not passed yet.
#[derive(Clone)]
struct Rest<'a> {
    head: Option<Copied>,
    runs: Option<Runs<'a>>,
    stretches: slice::Iter<'a, Stretch>,
}

impl<'a> Rest<'a> {
    fn of(stretches: &'a [Stretch]) -> Self {
        let mut rest = Self { head: None, runs: None, stretches: stretches.iter() };
        rest.advance();
        rest
    }

    fn advance(&mut self) {
        self.head = loop {
            if let Some(run) = self.runs.as_mut().and_then(Iterator::next) {
                break Some(run);
            }
            match self.stretches.next() {
                Some(stretch) => self.runs = Some(stretch.runs()),
                None => break None,
            }
        };
    }
}
