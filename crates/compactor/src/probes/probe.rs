//! The probes by name, and what one has to say.

use laundromat_session::Session;

use super::{
    conservation, constraint, control_markers, current_request, exposure, incomplete_summary, pair_integrity,
    prompt_hole, redaction_leak, role_gain,
};
use crate::arm::Invariant;
use crate::axes::choice;
use crate::compactor::Compactor;

choice! {
    /// A question about an arm.
    Probe {
        /// Does a summary that did not end normally replace the history?
        IncompleteSummary = "incomplete-summary",
        /// Is the request being answered still there afterwards?
        CurrentRequest = "current-request",
        /// Is every turn in the summarizer's input or in the next context?
        Conservation = "conservation",
        /// Does the summary come back with more authority than what it was made of?
        RoleGain = "role-gain",
        /// Has every call its result, before and behind the cut?
        PairIntegrity = "pair-integrity",
        /// Can session text pass for the harness's own marks?
        ControlMarkers = "control-markers",
        /// Where does a secret get past the shield?
        RedactionLeak = "redaction-leak",
        /// Does a standing constraint survive word for word?
        Constraint = "constraint",
        /// Are the instructions whole, and the turns in them?
        PromptHole = "prompt-hole",
        /// From which places of a tool result does text reach the summarizer?
        Exposure = "exposure",
    }
}

/// How an answer stands to the invariant that its probe is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Holds,
    /// It is broken.
    Breaks,
    /// The arm does not say enough to tell.
    NotKnown,
    /// The probe measures, and there is nothing to break.
    Measured,
}

impl Verdict {
    /// The identifier used in tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Breaks => "breaks",
            Self::NotKnown => "not-known",
            Self::Measured => "measured",
        }
    }

    pub(super) fn broken_if(broken: bool) -> Self {
        if broken { Self::Breaks } else { Self::Holds }
    }
}

/// The answer of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was asked.
    pub probe: Probe,
    /// How it stands to the probe's invariant.
    pub verdict: Verdict,
    /// What was seen, in a few words.
    pub detail: String,
}

impl Probe {
    /// The invariant that the probe can find broken.
    pub fn invariant(self) -> Option<Invariant> {
        match self {
            Self::IncompleteSummary => Some(Invariant::NormalEnd),
            Self::CurrentRequest => Some(Invariant::CurrentRequest),
            Self::Conservation | Self::Constraint => Some(Invariant::ConservedTurns),
            Self::RoleGain => Some(Invariant::SummaryRole),
            Self::PairIntegrity => Some(Invariant::PairedCalls),
            Self::ControlMarkers => Some(Invariant::OwnMarks),
            Self::RedactionLeak => Some(Invariant::ShieldFirst),
            Self::PromptHole => Some(Invariant::FilledPrompt),
            Self::Exposure => None,
        }
    }

    /// Asks `compactor`. Probes about what becomes of turns ask about `session`; the others, which need
    /// texts of their own, make their sessions themselves.
    pub fn run(self, compactor: &Compactor, session: &Session) -> Finding {
        let (verdict, detail) = match self {
            Self::IncompleteSummary => incomplete_summary::probe(compactor).told(),
            Self::CurrentRequest => current_request::probe(compactor).told(),
            Self::Conservation => conservation::probe(compactor, session).told(),
            Self::RoleGain => role_gain::probe(compactor).told(),
            Self::PairIntegrity => pair_integrity::probe(compactor, session).told(),
            Self::ControlMarkers => control_markers::probe(compactor).told(),
            Self::RedactionLeak => redaction_leak::probe(compactor).told(),
            Self::Constraint => constraint::probe(compactor, session).told(),
            Self::PromptHole => prompt_hole::probe(compactor).told(),
            Self::Exposure => exposure::probe(compactor).told(),
        };
        Finding { probe: self, verdict, detail }
    }
}

impl Finding {
    /// Whether it shows a fault that `compactor`'s arm does not declare.
    pub fn is_undeclared(&self, compactor: &Compactor) -> bool {
        self.verdict == Verdict::Breaks
            && self.probe.invariant().is_some_and(|invariant| !compactor.arm().faults.contains(&invariant))
    }
}
