//! A built request, with where its bytes come from.

use std::ops::Range;

use laundromat_session::{Exposure, Message, Plant, PlantKind};

use crate::stretch::Stretch;
use crate::tracked::{Copied, Origin, Tracked};

/// Session bytes that stand in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Index of the message.
    pub message: usize,
    /// Where the text that they were copied into begins in the message's text.
    at: usize,
    stretches: Vec<Stretch>,
}

impl Carried {
    /// What the stretches of a text copied that begins at byte `at` of message `message`; `None` where they
    /// copied nothing.
    pub(crate) fn new(message: usize, at: usize, stretches: Vec<Stretch>) -> Option<Self> {
        (!stretches.is_empty()).then_some(Self { message, at, stretches })
    }

    /// The runs of bytes, as they stand in the message's text, in order.
    pub fn runs(&self) -> impl Iterator<Item = Copied> {
        self.runs_where(|_| true)
    }

    /// Those of the parts that `is_wanted` names.
    fn runs_where(&self, is_wanted: impl Fn(Origin) -> bool) -> impl Iterator<Item = Copied> {
        let stretches = self.stretches.iter().filter(move |stretch| is_wanted(stretch.origin()));
        stretches.flat_map(|stretch| stretch.runs().map(|run| Copied { at: self.at + run.at, ..run }))
    }
}

/// A summarizer request before any route has shaped it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The messages.
    pub messages: Vec<Message>,
    /// Which session bytes they carry, in order.
    pub carried: Vec<Carried>,
}

impl Request {
    /// All runs of session bytes, in the order of the messages.
    pub fn runs(&self) -> impl Iterator<Item = Copied> {
        self.carried.iter().flat_map(Carried::runs)
    }

    /// Characters sent: texts, call names and arguments.
    pub fn chars(&self) -> usize {
        self.messages.iter().map(Message::chars).sum()
    }

    /// How much of `plant` is sent.
    pub fn exposure(&self, plant: &Plant) -> Exposure {
        if plant.kind == PlantKind::Clean {
            return Exposure::Full;
        }
        let planted: usize = plant.spans.iter().map(|span| span.bytes.len()).sum();
        let sent: usize = plant
            .spans
            .iter()
            .map(|span| {
                let origin = Origin { turn: span.turn, part: span.part };
                let covered = self.runs_of(origin).map(|(_, run)| overlap(&run, &span.bytes).len());
                // A form may send a byte twice; it is exposed once.
                covered.sum::<usize>().min(span.bytes.len())
            })
            .sum();
        match sent {
            0 => Exposure::None,
            _ if sent == planted => Exposure::Full,
            _ => Exposure::Partial,
        }
    }

    /// Where the bytes of `plant` stand: index of the message, and bytes of its text.
    pub fn places(&self, plant: &Plant) -> Vec<(usize, Range<usize>)> {
        let mut places = Vec::new();
        for span in &plant.spans {
            let origin = Origin { turn: span.turn, part: span.part };
            for (message, run) in self.runs_of(origin) {
                let bytes = overlap(&run, &span.bytes);
                if !bytes.is_empty() {
                    let at = run.at + bytes.start - run.from;
                    places.push((message, at..at + bytes.len()));
                }
            }
        }
        places
    }

    /// The runs copied from a part, each with the message that it stands in.
    fn runs_of(&self, origin: Origin) -> impl Iterator<Item = (usize, Copied)> {
        self.carried
            .iter()
            .flat_map(move |carried| carried.runs_where(move |it| it == origin).map(|run| (carried.message, run)))
    }

    /// Appends a message that holds only `text`, noting what it carries from byte `at` of it.
    pub(crate) fn push_tracked(&mut self, message: Message, tracked: &Tracked, at: usize) {
        let index = self.messages.len();
        self.messages.push(message);
        self.carried.extend(Carried::new(index, at, tracked.stretches().to_vec()));
    }
}

/// Which bytes of its part a run and `bytes` have in common; an empty range where they have none.
fn overlap(run: &Copied, bytes: &Range<usize>) -> Range<usize> {
    let start = run.from.max(bytes.start);
    start..(run.from + run.len).min(bytes.end).max(start)
}
