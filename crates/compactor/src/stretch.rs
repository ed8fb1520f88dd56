//! Runs of copied bytes that stand close together, kept as one. Escaped text copies some bytes, writes a few
//! anew and copies on: a span for each run would take more room than the text.

use std::sync::Arc;

use crate::tracked::{Copied, Origin};

/// Bytes of escaped text for each byte that its gaps take, about.
const USUAL_RUN: usize = 16;

/// Runs of one part, in order, between which little was left out and little was written. What lies between two
/// runs takes two bytes as a rule, so that a stretch is a small share of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// First byte in the tracked text.
    pub(crate) at: usize,
    origin: Origin,
    /// First byte in the part.
    from: usize,
    /// All runs but the last, each with the gap behind it: [`Gap`] says how. Shared by all copies of a text.
    gaps: Option<Arc<[u8]>>,
    /// Length of the last run.
    last: usize,
}

impl Stretch {
    /// One run.
    pub(crate) fn of(run: Copied) -> Self {
        Self { at: run.at, origin: run.origin, from: run.from, gaps: None, last: run.len }
    }

    /// The part that all of it was copied from.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// The runs, in order.
    pub(crate) fn runs(&self) -> Runs<'_> {
        Runs {
            next: Some(Place { at: self.at, from: self.from }),
            stretch: self,
            gaps: self.gaps.as_deref().unwrap_or_default(),
        }
    }

    /// The same in a text that stands `by` bytes into another.
    pub(crate) fn moved(&self, by: usize) -> Self {
        Self { at: self.at + by, ..self.clone() }
    }
}

/// A place in the tracked text, and in the part.
#[derive(Debug, Default, Clone, Copy)]
struct Place {
    at: usize,
    from: usize,
}

/// The runs of a stretch.
#[derive(Debug, Clone)]
pub(crate) struct Runs<'s> {
    stretch: &'s Stretch,
    /// What is left of its gaps.
    gaps: &'s [u8],
    next: Option<Place>,
}

impl Iterator for Runs<'_> {
    type Item = Copied;

    fn next(&mut self) -> Option<Copied> {
        let Place { at, from } = self.next?;
        let copied = |len| Copied { at, origin: self.stretch.origin, from, len };
        match Gap::read(&mut self.gaps) {
            Some((run, gap)) => {
                self.next = Some(Place { at: at + run + gap.written, from: from + run + gap.left_out });
                Some(copied(run))
            }
            None => {
                self.next = None;
                Some(copied(self.stretch.last))
            }
        }
    }
}

/// What lies between two runs of a stretch.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// Bytes of the part that were not copied.
    left_out: usize,
    /// Bytes of the text that were not copied.
    written: usize,
}

impl Gap {
    /// The most bytes of either kind: both counts stand in one byte.
    const MOST: usize = 15;

    /// Appends the length of a run, seven bits a byte, the lowest first, all but the last byte with the eighth
    /// bit set; then the gap.
    fn write(self, mut run: usize, bytes: &mut Vec<u8>) {
        while run > 0x7f {
            bytes.push((run & 0x7f) as u8 | 0x80);
            run >>= 7;
        }
        bytes.extend([run as u8, (self.left_out << 4 | self.written) as u8]);
    }

    fn read(bytes: &mut &[u8]) -> Option<(usize, Self)> {
        let (mut run, mut shift) = (0, 0);
        loop {
            let byte = usize::from(*bytes.split_off_first()?);
            run |= (byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let counts = usize::from(*bytes.split_off_first()?);
        Some((run, Self { left_out: counts >> 4, written: counts & 0xf }))
    }
}

/// Runs as they are copied, in the order of the text; those that stand close together become one stretch.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// The first run of the stretch that is open.
    first: Option<Copied>,
    /// The length of its last one, and where that ends.
    last: usize,
    end: Place,
    gaps: Vec<u8>,
}

impl Gathering {
    /// Makes room for what lies between the runs of a text of `bytes`.
    pub(crate) fn expect(&mut self, bytes: usize) {
        self.gaps.reserve(bytes / USUAL_RUN);
    }

    pub(crate) fn push(&mut self, run: Copied, stretches: &mut Vec<Stretch>) {
        match self.gap_before(&run) {
            Some(gap) => gap.write(self.last, &mut self.gaps),
            None => {
                self.close(stretches);
                self.first = Some(run);
            }
        }
        self.last = run.len;
        self.end = Place { at: run.at + run.len, from: run.from + run.len };
    }

    /// What lies between the open stretch and `run`; `None` where it does not go on with that.
    fn gap_before(&self, run: &Copied) -> Option<Gap> {
        let is_same = self.first.as_ref().is_some_and(|first| first.origin == run.origin);
        let left_out = run.from.checked_sub(self.end.from)?;
        let written = run.at.checked_sub(self.end.at)?;
        (is_same && left_out <= Gap::MOST && written <= Gap::MOST).then_some(Gap { left_out, written })
    }

    /// Ends the stretch that is open.
    pub(crate) fn close(&mut self, stretches: &mut Vec<Stretch>) {
        if let Some(first) = self.first.take() {
            let gaps = (!self.gaps.is_empty()).then(|| Arc::from(&*self.gaps));
            stretches.push(Stretch { gaps, last: self.last, ..Stretch::of(first) });
            self.gaps.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gathering, Stretch};
    use crate::tracked::{Copied, Origin};

    fn run(at: usize, turn: usize, from: usize, len: usize) -> Copied {
        Copied { at, origin: Origin { turn, part: 0 }, from, len }
    }

    fn gathered(runs: &[Copied]) -> Vec<Stretch> {
        let (mut gathering, mut stretches) = (Gathering::default(), Vec::new());
        runs.iter().for_each(|run| gathering.push(*run, &mut stretches));
        gathering.close(&mut stretches);
        stretches
    }

    #[test]
    fn runs_come_back_as_they_were() {
        let lengths = [1, 127, 128, 16_384, 3_000_000, 5];
        let (mut at, mut from, mut runs) = (7, 0, Vec::new());
        for (n, len) in lengths.into_iter().enumerate() {
            runs.push(run(at, 1, from, len));
            at += len + 3 * n;
            from += len + 15 - n;
        }
        let stretches = gathered(&runs);
        assert_eq!(stretches.len(), 1);
        assert_eq!(stretches[0].runs().collect::<Vec<_>>(), runs);
    }

    #[test]
    fn what_stands_far_apart_is_not_one_stretch() {
        let apart = [
            run(0, 1, 0, 4),
            // 16 bytes written.
            run(20, 1, 4, 4),
            // 16 bytes left out.
            run(24, 1, 24, 4),
            // Another turn.
            run(28, 2, 28, 4),
            // A byte that was copied before.
            run(32, 2, 30, 4),
        ];
        let stretches = gathered(&apart);
        assert_eq!(stretches.len(), apart.len());
        assert_eq!(stretches.iter().flat_map(Stretch::runs).collect::<Vec<_>>(), apart);
    }

    #[test]
    fn runs_that_touch_stay_apart() {
        let touching = [run(0, 1, 0, 4), run(4, 1, 4, 4)];
        assert_eq!(gathered(&touching).iter().flat_map(Stretch::runs).collect::<Vec<_>>(), touching);
    }
}
