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
