//! From a reply to a trial's row: outcome, reading, usability, recall.

use std::fmt::Display;

use laundromat_judge::{Question, is_usable};
use laundromat_metrics::recall::Recall;
use laundromat_provider::{
    Broken, CallFailure, CallKey, Completion, FailureKind, Finish, Money, OverBudget, Route, reply,
};
use laundromat_session::{Outcome, Plant, Reading};
use laundromat_store::{Cell, Trial, TrialId};

use crate::build::{BuiltCell, Subject};

/// The row of a trial whose arm refused to build a request.
pub fn refused(id: TrialId, cell: &BuiltCell, reason: &str) -> Trial {
    Trial { outcome: Outcome::ArmRefused, detail: reason.to_owned(), ..blank(id, cell, None) }
}

/// The row of a trial whose request the summarizer's provider would refuse: nothing is sent.
pub fn unsendable(id: TrialId, cell: &BuiltCell, broken: &Broken) -> Trial {
    Trial { outcome: Outcome::InvalidRequest, detail: broken.to_string(), ..blank(id, cell, None) }
}

/// The row of a trial whose arm asks nobody, before what it leaves is measured.
pub(crate) fn unasked(id: TrialId, cell: &BuiltCell) -> Trial {
    Trial { tokens_in: Some(0), tokens_out: Some(0), cost: Some(0.0), ..blank(id, cell, None) }
}

/// A call as a trial's row names it.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// The call's key.
    pub key: CallKey,
    /// blake3 of the body.
    pub body: [u8; 32],
    /// What it cost, where that is known.
    pub cost: Option<Money>,
}

/// What a reply holds: a summary, or a trial that ends without one.
pub enum Read {
    /// The text, with the row so far.
    Summary(String, Box<Trial>),
    /// The finished row.
    Ended(Box<Trial>),
}

/// Reads a summarizer's reply.
pub fn read(id: TrialId, cell: &BuiltCell, made: Made, route: Route, reply: &[u8]) -> Read {
    let cost = made.cost.map(Money::dollars);
    let blank = Trial { call: Some(made.key), cost, ..blank(id, cell, Some(made.body)) };
    let completion = match reply::stored(route, reply) {
        Ok(completion) => completion,
        Err(error) => {
            return Read::Ended(Box::new(Trial {
                outcome: Outcome::ProviderError,
                detail: error.to_string(),
                ..blank
            }));
        }
    };
    let trial = Trial { tokens_in: completion.usage.input, tokens_out: completion.usage.output, ..blank };
    match outcome(&completion) {
        Outcome::Scored => Read::Summary(completion.text, Box::new(trial)),
        outcome => Read::Ended(Box::new(Trial { outcome, detail: ending(&completion), ..trial })),
    }
}

/// A summary that did not end normally is none, whatever its text.
pub(crate) fn outcome(completion: &Completion) -> Outcome {
    match completion.finish {
        Finish::Blocked => Outcome::Refused,
        Finish::Truncated => Outcome::Truncated,
        Finish::ToolCall => Outcome::ToolCall,
        Finish::Unknown => Outcome::UnknownFinish,
        Finish::Complete if completion.is_empty() => Outcome::Empty,
        Finish::Complete => Outcome::Scored,
    }
}

/// How a reply that is no summary ended, in the provider's words.
fn ending(completion: &Completion) -> String {
    let mut said = match &completion.reason {
        Some(reason) => format!("finish reason \"{}\"", shown(reason)),
        None => "no finish reason".to_owned(),
    };
    if let Some(refusal) = &completion.refusal {
        said.push_str(&format!(", refusal \"{}\"", shown(refusal)));
    }
    if completion.has_reasoning && completion.is_empty() {
        said.push_str(", reasoning only");
    }
    said
}

/// The row of a trial whose summarizer call got no reply.
pub fn failed(id: TrialId, cell: &BuiltCell, body: [u8; 32], failure: &CallFailure) -> Trial {
    Trial { outcome: outcome_of(failure), detail: failure.to_string(), ..blank(id, cell, Some(body)) }
}

/// The outcome of a call that got no reply.
pub(crate) fn outcome_of(failure: &CallFailure) -> Outcome {
    match failure.kind {
        FailureKind::ContextOverflow | FailureKind::TooLarge => Outcome::ContextOverflow,
        FailureKind::Blocked => Outcome::Refused,
        FailureKind::Invalid => Outcome::InvalidRequest,
        _ => Outcome::ProviderError,
    }
}

/// The row of a trial whose summarizer call did not fit into the budget.
pub(crate) fn over_budget(id: TrialId, cell: &BuiltCell, body: [u8; 32], why: OverBudget) -> Trial {
    Trial { outcome: Outcome::OverBudget, detail: why.to_string(), ..blank(id, cell, Some(body)) }
}

/// The row of a trial whose judge call did not fit into the budget. Its summary is paid for and stays.
pub(crate) fn unjudged_over_budget(trial: Trial, why: OverBudget) -> Trial {
    Trial { outcome: Outcome::OverBudget, detail: why.to_string(), ..trial }
}

/// The row with the cost of its judge call added; one unknown part makes the whole unknown.
pub(crate) fn charged(trial: Trial, judging: Option<Money>) -> Trial {
    // Added as amounts: fractions of a cent do not add up as floating numbers.
    let cost = trial.cost.and_then(Money::from_dollars).zip(judging);
    Trial { cost: cost.map(|(cost, judging)| (cost + judging).dollars()), ..trial }
}

/// What is known about a summary without asking anyone: length, usability, recall, the gate.
pub fn measured(trial: Trial, subject: &Subject, summary: &str) -> Trial {
    // A session without identifiers has no recall, which is neither 0 nor 1.
    let recall = subject.identifiers.as_deref().and_then(|identifiers| Recall::measure(identifiers, summary).ok());
    Trial {
        gate: Some(gate(&subject.plant, summary)),
        usable: Some(is_usable(summary)),
        summary_chars: Some(summary.chars().count() as u64),
        identifiers: recall.as_ref().map(|recall| recall.named as u64),
        found: recall.as_ref().map(|recall| recall.found as u64),
        ..trial
    }
}

/// Whether a summary holds any trace of what is asked about.
pub fn gate(plant: &Plant, summary: &str) -> bool {
    Question::about(plant).passes(summary)
}

/// The row of a judged trial.
pub fn scored(trial: Trial, reading: Reading) -> Trial {
    Trial { outcome: Outcome::Scored, reading: Some(reading), ..trial }
}

/// The row of a trial whose judge's reply is no verdict: none is ever taken as safe.
pub fn unparsable(trial: Trial, reply: &str) -> Trial {
    Trial { outcome: Outcome::Unparsable, detail: format!("the judge answered \"{}\"", shown(reply)), ..trial }
}

/// The beginning of what a model or a server said, on one line.
fn shown(text: &str) -> String {
    text.chars().take(60).collect::<String>().escape_debug().to_string()
}

/// The row of a trial whose judge could not be asked.
pub fn unjudged(trial: Trial, why: &impl Display) -> Trial {
    Trial { outcome: Outcome::JudgeError, detail: why.to_string(), ..trial }
}

fn blank(id: TrialId, cell: &BuiltCell, body: Option<[u8; 32]>) -> Trial {
    row(id, Cell { body, input_chars: cell.input_chars, exposure: cell.exposure })
}

/// The row of a trial of which nothing but its request is known.
pub(crate) fn row(id: TrialId, cell: Cell) -> Trial {
    Trial {
        id,
        cell,
        outcome: Outcome::NotRun,
        detail: String::new(),
        gate: None,
        reading: None,
        usable: None,
        summary_chars: None,
        identifiers: None,
        found: None,
        tokens_in: None,
        tokens_out: None,
        cost: None,
        call: None,
    }
}
