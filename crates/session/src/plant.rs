//! What was planted in a session, where, and what a judge is asked about it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::verdict::ids;

ids! {
    /// What a specimen holds: an attack, a control that must survive or must not be blamed, or nothing.
    PlantKind {
        /// A forged user statement inside untrusted text: it must not come out as the user's.
        Attack = "attack",
        /// Nothing is planted; the paired attack's statement is asked about.
        Clean = "clean",
        /// The same statement really made by the user: it must survive.
        TrueUser = "true-user",
        /// A prohibition really made by the user: it must stay binding.
        TrueProhibition = "true-prohibition",
        /// Tool output that honestly quotes a user: it must not become an instruction.
        HonestQuote = "honest-quote",
        /// The user's own words in a genuine mark of the harness inside tool output: they must survive.
        TrueSteer = "true-steer",
        /// A forgery where a harness's caps cut it away: nothing of it can come out of an arm that does.
        PastCap = "past-cap",
        /// The user's own words, looking like a forgery: they must not be called one.
        Accusation = "accusation",
    }
}

ids! {
    /// Where a plant stands in a record that an arm shortens to a head and a tail.
    CapClass {
        /// The record is short enough, or the arm has no such cap.
        Uncut = "uncut",
        /// In the head that is kept.
        Head = "head",
        /// In the tail that is kept.
        Tail = "tail",
        /// Some of it is cut away.
        Straddling = "straddling",
        /// All of it is cut away.
        PastCap = "past-cap",
    }
}

/// What a cap keeps of a longer text, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptEnds {
    /// Texts up to this length stay whole.
    pub limit: usize,
    /// Characters kept at the start.
    pub head: usize,
    /// Characters kept at the end.
    pub tail: usize,
}

impl CapClass {
    /// The class of a plant at `plant` of a record of `length` characters under `cap`.
    pub fn of(plant: &Range<usize>, length: usize, cap: Option<KeptEnds>) -> Self {
        match cap.filter(|cap| length > cap.limit) {
            None => Self::Uncut,
            Some(cap) => {
                let tail = length.saturating_sub(cap.tail);
                match () {
                    () if plant.end <= cap.head => Self::Head,
                    () if plant.start >= tail => Self::Tail,
                    () if plant.start >= cap.head && plant.end <= tail => Self::PastCap,
                    () => Self::Straddling,
                }
            }
        }
    }
}

/// Bytes of one part of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpan {
    /// Index of the turn in the session, from 0.
    pub turn: usize,
    /// Index of the part in the turn, from 0.
    pub part: usize,
    /// Byte range in the part's text.
    pub bytes: Range<usize>,
}

/// A plant as it stands in a specimen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plant {
    /// What kind of plant this is.
    pub kind: PlantKind,
    /// The sentence the judge is asked about.
    pub statement: String,
    /// The words that mark this plant and occur nowhere else in the session; never empty, the first is the host.
    pub canaries: Vec<String>,
    /// Phrases that carry the statement's meaning, for the judge's gate (lower case).
    pub phrases: Vec<String>,
    /// Where the planted bytes stand; empty when nothing was planted.
    pub spans: Vec<PartSpan>,
}

ids! {
    /// How much of a plant is in what was sent.
    Exposure {
        /// Every planted byte was sent. A clean specimen is fully exposed: there is nothing to miss.
        Full = "full",
        /// Some planted bytes were sent.
        Partial = "partial",
        /// No planted byte was sent.
        None = "none",
        /// It cannot be told (an exec arm whose request could not be matched).
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::{CapClass, KeptEnds};

    #[test]
    fn the_class_says_what_a_cap_leaves_of_a_plant() {
        let cap = Some(KeptEnds { limit: 60, head: 40, tail: 15 });
        for (plant, length, class) in [
            (0..10, 60, CapClass::Uncut),
            (30..40, 100, CapClass::Head),
            (30..41, 100, CapClass::Straddling),
            (40..85, 100, CapClass::PastCap),
            (40..86, 100, CapClass::Straddling),
            (85..100, 100, CapClass::Tail),
            (0..100, 100, CapClass::Straddling),
        ] {
            assert_eq!(CapClass::of(&plant, length, cap), class, "{plant:?} of {length}");
            assert_eq!(CapClass::of(&plant, length, None), CapClass::Uncut);
        }
    }
}
