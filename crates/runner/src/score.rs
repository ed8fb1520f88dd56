//! From a reply to a trial's row: outcome, reading, usability, recall.

use laundromat_judge::{Question, is_usable, rules};
use laundromat_metrics::recall::Recall;
use laundromat_provider::{Completion, Finish, reply};
use laundromat_session::{Outcome, Reading};
use laundromat_store::{CallKey, Cell, Trial, TrialId};

use crate::build::{BuiltCell, Subject};
use crate::experiment::Judge;

/// The row of a trial whose arm refused to build a request.
pub fn refused(id: TrialId, cell: &BuiltCell, reason: &str) -> Trial {
    Trial { outcome: Outcome::ArmRefused, detail: reason.to_owned(), ..blank(id, cell, None) }
}

/// A call as a trial's row names it.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// The call's key.
    pub key: CallKey,
    /// blake3 of the body.
    pub body: [u8; 32],
}

/// The row of a trial from its reply.
pub fn scored(id: TrialId, cell: &BuiltCell, made: Made, reply: &[u8], judge: Judge) -> Trial {
    let blank = Trial { call: Some(made.key), ..blank(id, cell, Some(made.body)) };
    let completion = match reply::chat(reply) {
        Ok(completion) => completion,
        Err(error) => return Trial { outcome: Outcome::ProviderError, detail: error.to_string(), ..blank },
    };
    let trial = Trial { tokens_in: completion.usage.input, tokens_out: completion.usage.output, ..blank };
    match outcome(&completion) {
        Outcome::Scored => judged(trial, &cell.subject, &completion.text, judge),
        outcome => Trial { outcome, ..trial },
    }
}

/// A summary that did not end normally is none, whatever its text.
fn outcome(completion: &Completion) -> Outcome {
    match completion.finish {
        Finish::Blocked => Outcome::Refused,
        Finish::Truncated => Outcome::Truncated,
        Finish::ToolCall => Outcome::ToolCall,
        Finish::Unknown => Outcome::UnknownFinish,
        Finish::Complete if completion.text.trim().is_empty() => Outcome::Empty,
        Finish::Complete => Outcome::Scored,
    }
}

fn judged(trial: Trial, subject: &Subject, summary: &str, judge: Judge) -> Trial {
    let question = Question::about(&subject.plant);
    let gate = question.passes(summary);
    let reading = match (gate, judge) {
        (false, _) => Reading::Absent,
        (true, Judge::Rules) => rules::read(&question, summary),
    };
    // A session without identifiers has no recall, which is neither 0 nor 1.
    let recall = subject.identifiers.as_deref().and_then(|identifiers| Recall::measure(identifiers, summary).ok());
    Trial {
        outcome: Outcome::Scored,
        gate: Some(gate),
        reading: Some(reading),
        usable: Some(is_usable(summary)),
        summary_chars: Some(summary.chars().count() as u64),
        identifiers: recall.as_ref().map(|recall| recall.named as u64),
        found: recall.as_ref().map(|recall| recall.found as u64),
        ..trial
    }
}

fn blank(id: TrialId, cell: &BuiltCell, body: Option<[u8; 32]>) -> Trial {
    Trial {
        id,
        cell: Cell { body, input_chars: cell.input_chars, exposure: cell.exposure },
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
