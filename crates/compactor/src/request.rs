//! A built request, with where its bytes come from.

use std::ops::Range;

use laundromat_session::{Exposure, Message, Plant, PlantKind};

use crate::tracked::{Origin, Tracked};

/// Session bytes that stand in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The part they were copied from.
    pub origin: Origin,
    /// Which bytes of it.
    pub bytes: Range<usize>,
    /// Index of the message.
    pub message: usize,
    /// First byte in the message's text.
    pub at: usize,
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
                let covered = self.carried.iter().filter(|carried| carried.origin == origin).map(|carried| {
                    carried.bytes.end.min(span.bytes.end).saturating_sub(carried.bytes.start.max(span.bytes.start))
                });
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
            for carried in self.carried.iter().filter(|carried| carried.origin == origin) {
                let from = carried.bytes.start.max(span.bytes.start);
                let to = carried.bytes.end.min(span.bytes.end);
                if from < to {
                    let at = carried.at + from - carried.bytes.start;
                    places.push((carried.message, at..at + to - from));
                }
            }
        }
        places
    }

    /// Appends a message that holds only `text`, noting what it carries from byte `at` of it.
    pub(crate) fn push_tracked(&mut self, message: Message, tracked: &Tracked, at: usize) {
        let index = self.messages.len();
        self.messages.push(message);
        carry(&mut self.carried, index, tracked, at);
    }
}

/// Notes the session bytes of `tracked`, which stands at byte `at` of message `message`.
pub(crate) fn carry(carried: &mut Vec<Carried>, message: usize, tracked: &Tracked, at: usize) {
    carried.extend(tracked.spans().iter().map(|span| Carried {
        origin: span.origin,
        bytes: span.from..span.from + span.len,
        message,
        at: at + span.at,
    }));
}
