//! The forms by name: what each needs of an arm, and which file builds it.

use super::{
    clear_only, flat_delta, flat_escaped, flat_fenced, flat_noroles, flat_split, flat_staged, flat_system, flat_user,
    flat_wrapped, static_fallback, tools_dropped, typed, typed_nosys, typed_self, typed_syshead, typed_systail,
    typed_toolasuser,
};
use crate::arm::Arm;
use crate::axes::{Instructions, choice};
use crate::compactor::Refusal;
use crate::prompt::Prose;
use crate::request::Request;
use crate::view::View;

choice! {
    /// The shape of a summarizer request.
    Form {
        /// Instructions and flattened turns in one user message.
        FlatUser = "flat-user",
        /// Instructions in a system message, flattened turns in a user message.
        FlatSplit = "flat-split",
        /// Instructions and flattened turns in the system message, a user message that asks for the summary.
        FlatSystem = "flat-system",
        /// Flattened turns in a wrapper that nothing keeps them from closing.
        FlatWrapped = "flat-wrapped",
        /// Flattened turns between reserved delimiters; refused where a turn holds one.
        FlatFenced = "flat-fenced",
        /// Flattened turns, session text escaped.
        FlatEscaped = "flat-escaped",
        /// Flattened turns that do not say who spoke.
        FlatNoroles = "flat-noroles",
        /// Flattened turns in several calls, partial summaries merged.
        FlatStaged = "flat-staged",
        /// Flattened turns and a state object that the reply changes.
        FlatDelta = "flat-delta",
        /// Instructions in a system message, turns in their roles, a final user message that points at them.
        Typed = "typed",
        /// The agent's own system prompt, turns in their roles, instructions in a final user message.
        TypedSelf = "typed-self",
        /// No system message, turns in their roles, instructions in a final user message.
        TypedNosys = "typed-nosys",
        /// Turns in their roles, instructions in a final system message.
        TypedSystail = "typed-systail",
        /// Instructions in a system message, turns in their roles, nothing behind them.
        TypedSyshead = "typed-syshead",
        /// Turns in their roles, but calls and results as text of the assistant's and the user's.
        TypedToolasuser = "typed-toolasuser",
        /// Turns in their roles without calls and results.
        ToolsDropped = "tools-dropped",
        /// No model: old tool results make way for a placeholder.
        ClearOnly = "clear-only",
        /// No model: a fixed extract.
        StaticFallback = "static-fallback",
    }
}

/// Whether a form takes an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It cannot do without.
    Required,
    /// It can have it.
    Optional,
    /// It has no use for it.
    Absent,
}

/// What a form takes of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// `labels`
    pub labels: Need,
    /// `pointer`
    pub pointer: Need,
    /// `[wrapper]`
    pub wrapper: Need,
    /// `escape`
    pub escape: Need,
    /// `[transcript]`
    pub transcript: Need,
    /// The places its instructions can stand in, the usual one first.
    pub places: &'static [Instructions],
}

/// What a form builds from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material<'a> {
    pub(crate) view: &'a View,
    pub(crate) arm: &'a Arm,
    pub(crate) prose: &'a Prose<'a>,
}

/// A built request and how much of it is turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) request: Request,
    /// Characters that count against the arm's bound.
    pub(crate) turn_chars: usize,
}

/// What a form does next, given the replies so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// It asks the summarizer.
    Ask(Built),
    /// It has its summary.
    Summary(String),
    /// It replaces the turns by these messages without asking anyone.
    Replace(Built),
}

const FLAT_PLACES: &[Instructions] = &[
    Instructions::System,
    Instructions::Around,
    Instructions::UserHead,
    Instructions::UserTail,
    Instructions::SystemUserHead,
    Instructions::SystemUserTail,
];

const FLAT: Traits = Traits {
    labels: Need::Required,
    pointer: Need::Absent,
    wrapper: Need::Optional,
    escape: Need::Absent,
    transcript: Need::Optional,
    places: FLAT_PLACES,
};

const TYPED: Traits = Traits {
    labels: Need::Absent,
    pointer: Need::Absent,
    wrapper: Need::Absent,
    escape: Need::Absent,
    transcript: Need::Absent,
    places: &[],
};

impl Form {
    /// What the form takes of an arm.
    pub fn traits(self) -> Traits {
        use Instructions::{Around, System, SystemTail, SystemUserHead, SystemUserTail, UserHead, UserTail};
        match self {
            Self::FlatUser => Traits { places: &[Around, UserHead, UserTail], ..FLAT },
            Self::FlatSplit => Traits { places: &[System, SystemUserHead, SystemUserTail], ..FLAT },
            Self::FlatSystem => Traits { pointer: Need::Required, places: &[Around], ..FLAT },
            Self::FlatWrapped | Self::FlatFenced => Traits { wrapper: Need::Required, ..FLAT },
            Self::FlatEscaped => Traits { escape: Need::Required, ..FLAT },
            Self::FlatNoroles | Self::FlatStaged | Self::FlatDelta => FLAT,
            Self::Typed => Traits { pointer: Need::Required, places: &[System, SystemUserTail], ..TYPED },
            Self::TypedSelf | Self::TypedNosys => Traits { places: &[UserTail], ..TYPED },
            Self::TypedSystail => Traits { places: &[SystemTail], ..TYPED },
            Self::TypedSyshead => Traits { places: &[System], ..TYPED },
            Self::TypedToolasuser => Traits {
                labels: Need::Required,
                pointer: Need::Optional,
                places: &[System, SystemUserTail, UserTail],
                ..TYPED
            },
            Self::ToolsDropped => {
                Traits { pointer: Need::Optional, places: &[System, SystemUserTail, UserTail, SystemTail], ..TYPED }
            }
            Self::ClearOnly | Self::StaticFallback => TYPED,
        }
    }

    /// Whether the turns are flattened into text.
    pub fn is_flat(self) -> bool {
        self.traits().wrapper != Need::Absent
    }

    /// Whether a model is asked at all.
    pub fn asks_model(self) -> bool {
        !matches!(self, Self::ClearOnly | Self::StaticFallback)
    }

    /// What comes after `replies`.
    pub(crate) fn step(self, from: Material<'_>, replies: &[String]) -> Result<Step, Refusal> {
        match (self, replies) {
            (Self::FlatStaged, _) => flat_staged::step(from, replies),
            (Self::FlatDelta, [reply, ..]) => flat_delta::summary(from, reply).map(Step::Summary),
            (Self::ClearOnly, _) => Ok(Step::Replace(clear_only::build(from))),
            (Self::StaticFallback, _) => Ok(Step::Replace(static_fallback::build(from))),
            (_, [reply, ..]) => Ok(Step::Summary(reply.clone())),
            (_, []) => self.build(from).map(Step::Ask),
        }
    }

    /// How many calls the form makes.
    pub(crate) fn calls(self, view: &View, arm: &Arm) -> usize {
        match self {
            Self::FlatStaged => flat_staged::calls(view, arm),
            Self::ClearOnly | Self::StaticFallback => 0,
            _ => 1,
        }
    }

    fn build(self, from: Material<'_>) -> Result<Built, Refusal> {
        Ok(match self {
            Self::FlatUser => flat_user::build(from),
            Self::FlatSplit => flat_split::build(from),
            Self::FlatSystem => flat_system::build(from),
            Self::FlatWrapped => flat_wrapped::build(from),
            Self::FlatFenced => flat_fenced::build(from)?,
            Self::FlatEscaped => flat_escaped::build(from),
            Self::FlatNoroles => flat_noroles::build(from),
            Self::FlatStaged => flat_staged::first(from),
            Self::FlatDelta => flat_delta::build(from),
            Self::Typed => typed::build(from),
            Self::TypedSelf => typed_self::build(from),
            Self::TypedNosys => typed_nosys::build(from),
            Self::TypedSystail => typed_systail::build(from),
            Self::TypedSyshead => typed_syshead::build(from),
            Self::TypedToolasuser => typed_toolasuser::build(from),
            Self::ToolsDropped => tools_dropped::build(from),
            Self::ClearOnly => clear_only::build(from),
            Self::StaticFallback => static_fallback::build(from),
        })
    }
}
