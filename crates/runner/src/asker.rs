//! Asking a judge outside of a run: over a gold set, or a second time about a run's summaries. It is asked exactly as in a
//! run, under the same budget; nothing is stored but the cassette that the user names.

use std::path::Path;

use laundromat_judge::{Question, answer, ask, rules};
use laundromat_provider::cassette::{CassetteWriter, Header, Named, Recorded, SCHEMA};
use laundromat_provider::key::{Sample, call_key};
use laundromat_provider::{CallKey, Client, Logged, Model, OverBudget, Purpose, Unanswered, reply};
use laundromat_session::seed::Seed;
use laundromat_session::{Outcome, Reading};

use crate::error::RunError;
use crate::experiment::Judge;
use crate::ledger::Ledger;
use crate::run::Options;
use crate::score;

/// Who is asked.
pub(crate) struct Asker<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) client: &'a Client,
    pub(crate) ledger: &'a Ledger,
}

/// What is asked.
pub(crate) struct Asking<'a> {
    /// The name under which the call is known.
    pub(crate) trial: &'a str,
    /// Which of several equal questions, from 0.
    pub(crate) ordinal: u32,
    /// What decides the order of the words.
    pub(crate) seed: Seed<'a>,
    pub(crate) question: Question<'a>,
    pub(crate) summary: &'a str,
}

/// A call that was answered.
pub(crate) struct Made {
    key: CallKey,
    trial: String,
    pub(crate) logged: Logged,
}

/// What came of a question.
pub(crate) struct Asked {
    /// The verdict, where there is one.
    pub(crate) reading: Option<Reading>,
    /// Why there is none; empty where there is one.
    pub(crate) detail: String,
    pub(crate) made: Option<Made>,
    /// Why the call did not fit into the budget.
    pub(crate) over_budget: Option<OverBudget>,
}

impl Asked {
    fn of(reading: Option<Reading>, detail: String) -> Self {
        Self { reading, detail, made: None, over_budget: None }
    }
}

impl Asker<'_> {
    /// Asks once.
    ///
    /// # Errors
    /// When the provider refuses for good, or a cassette lacks the call.
    pub(crate) async fn ask(&self, asking: Asking<'_>) -> Result<Asked, RunError> {
        let Asking { trial, ordinal, seed, question, summary } = asking;
        let (model, rubric) = match self.judge {
            Judge::Rules => return Ok(Asked::of(Some(rules::read(&question, summary)), String::new())),
            Judge::Model { model, rubric, .. } => (model, rubric),
        };
        let messages = ask::messages(rubric, question.statement, summary, &ask::order(seed));
        let body = match model.body(&messages) {
            Ok(body) => body,
            Err(broken) => return Ok(Asked::of(None, broken.to_string())),
        };
        let key = call_key(Purpose::Judge, &model.key_endpoint(), &body.digest, Sample { trial, ordinal });
        let reserved = match !model.is_builtin() && self.client.cassette().is_none() {
            true => match self.ledger.reserve(model, &body).await? {
                Ok(reserved) => Some(reserved),
                Err(why) => return Ok(Asked { over_budget: Some(why), ..Asked::of(None, why.to_string()) }),
            },
            false => None,
        };
        match self.client.ask(model, &messages, &body, &key).await {
            Ok(logged) => {
                if let Some(reserved) = reserved {
                    self.ledger.settle(reserved, model, &logged.usage, &body);
                }
                let (reading, detail) = verdict(model, &logged.reply);
                let made = Made { key, trial: trial.to_owned(), logged };
                Ok(Asked { made: Some(made), ..Asked::of(reading, detail) })
            }
            Err(Unanswered::NotRecorded) => Err(self.not_recorded(trial)),
            Err(Unanswered::Failed(failure)) if failure.kind.is_fatal() => {
                Err(RunError::Provider { endpoint: model.endpoint().to_owned(), failure })
            }
            Err(Unanswered::Failed(failure)) => Ok(Asked::of(None, failure.to_string())),
        }
    }

    fn not_recorded(&self, trial: &str) -> RunError {
        match self.client.cassette() {
            Some(cassette) => RunError::NotRecorded {
                path: cassette.path().to_owned(),
                missing: cassette.why_missing(Purpose::Judge.id(), trial),
                trial: trial.to_owned(),
                purpose: Purpose::Judge.id(),
                recorded: cassette.header().experiment.clone(),
                version: cassette.header().version.clone(),
            },
            None => RunError::Internal("a call without a cassette was not recorded".to_owned()),
        }
    }
}

/// A reply's verdict, or why it is none: read exactly as in a run.
fn verdict(model: &Model, bytes: &[u8]) -> (Option<Reading>, String) {
    match reply::stored(model.route(), bytes) {
        Ok(completion) if score::outcome(&completion) == Outcome::Scored => match answer::parse(&completion.text) {
            Some(reading) => (Some(reading), String::new()),
            None => (None, Outcome::Unparsable.id().to_owned()),
        },
        Ok(completion) => (None, score::outcome(&completion).id().to_owned()),
        Err(error) => (None, error.to_string()),
    }
}

/// Writes what came back to a cassette; `what` stands in place of an experiment's name.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn tape(path: &Path, what: &str, options: &Options, calls: Vec<Made>) -> Result<(), RunError> {
    let header = Header {
        schema: SCHEMA.to_owned(),
        experiment: what.to_owned(),
        date: options.today.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut writer = CassetteWriter::create(path, &header)?;
    for Made { key, trial, logged } in calls {
        writer.add(Named { key: &key, purpose: Purpose::Judge.id(), trial: &trial }, &Recorded::Reply(logged))?;
    }
    Ok(writer.finish()?)
}
