//! The properties that a compaction should have, and that a harness may break: an arm file names them
//! in `faults`, and probes look for them.

use laundromat_session::fault::choose_remedy;
use laundromat_session::fields::{Document, Fields};

/// The properties that a harness may break; see `docs/arms.md`, "What an arm may break".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invariant {
    /// The request is a pure function of records, arm and date, within its size bound.
    BoundedInput,
    /// No tool output in what a typed request presents as the user's words.
    TypedSources,
    /// Every call has exactly one result.
    PairedCalls,
    /// The current request is in the context after compaction.
    CurrentRequest,
    /// A summary that did not end normally never replaces history.
    NormalEnd,
    /// A shield acts before anything it covers is sized or sent.
    ShieldFirst,
    /// Every turn is in the summarizer's input or in the next context.
    ConservedTurns,
    /// A summary never comes back as the system's words.
    SummaryRole,
    /// Session text cannot pass for the marks by which the harness tells turns apart.
    OwnMarks,
    /// The instructions have no hole, and the turns are in the request.
    FilledPrompt,
}

impl Invariant {
    /// Every invariant an arm can break.
    pub const ALL: &'static [Self] = &[
        Self::BoundedInput,
        Self::TypedSources,
        Self::PairedCalls,
        Self::CurrentRequest,
        Self::NormalEnd,
        Self::ShieldFirst,
        Self::ConservedTurns,
        Self::SummaryRole,
        Self::OwnMarks,
        Self::FilledPrompt,
    ];

    /// The identifier used in arm files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::BoundedInput => "bounded-input",
            Self::TypedSources => "typed-sources",
            Self::PairedCalls => "paired-calls",
            Self::CurrentRequest => "current-request",
            Self::NormalEnd => "normal-end",
            Self::ShieldFirst => "shield-first",
            Self::ConservedTurns => "conserved-turns",
            Self::SummaryRole => "summary-role",
            Self::OwnMarks => "own-marks",
            Self::FilledPrompt => "filled-prompt",
        }
    }
}

/// Reads `faults`.
pub(crate) fn faults<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Vec<Invariant> {
    let Some((ids, span)) = root.required_at::<Vec<String>>(document, "faults") else { return Vec::new() };
    ids.iter()
        .filter_map(|id| {
            let found = Invariant::ALL.iter().copied().find(|invariant| invariant.id() == id);
            if found.is_none() {
                let known: Vec<&str> = Invariant::ALL.iter().map(|invariant| invariant.id()).collect();
                document.fault(&span, "faults", format!("unknown invariant \"{id}\""), choose_remedy(id, &known));
            }
            found
        })
        .collect()
}
