//! A judge over a gold set: every summary is read by the gate and by the judge, asked exactly as in a run. The judge
//! reads what the gate stops as well, so that each of the two can be measured by itself.

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::{StreamExt, stream};
use laundromat_judge::gold::{GoldSet, Item};
use laundromat_judge::{answer, ask, rules};
use laundromat_provider::cassette::{CassetteWriter, Header, Named, Recorded, SCHEMA};
use laundromat_provider::key::{Sample, call_key};
use laundromat_provider::{Amount, CallKey, Client, Logged, Model, OverBudget, Purpose, Unanswered, reply};
use laundromat_session::seed::Seed;
use laundromat_session::{Outcome, Reading};

use crate::error::RunError;
use crate::experiment::{Judge, JudgeFile};
use crate::ledger::Ledger;
use crate::run::Options;
use crate::score;

/// What a cassette of a calibration says in place of an experiment's name.
const EXPERIMENT: &str = "judge-calibrate";

/// What became of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rated {
    /// Whether the gate let it through.
    pub gate: bool,
    /// What the judge read; `None` where it gave no verdict.
    pub reading: Option<Reading>,
    /// Why there is no verdict; empty where there is one.
    pub detail: String,
}

/// A judge's verdicts over a gold set.
#[derive(Debug)]
pub struct Calibrated {
    /// In the order of the items.
    pub rated: Vec<Rated>,
    /// The models that say they have answered.
    pub served: BTreeSet<String>,
    /// What was spent.
    pub spent: Amount,
    /// Why a call did not fit into the budget, where one did not.
    pub over_budget: Option<OverBudget>,
}

/// One item's end, with the call behind it where one was made.
struct Ended {
    rated: Rated,
    call: Option<(CallKey, String, Logged)>,
    over_budget: Option<OverBudget>,
}

/// Judges `items` of `gold`. With `record`, what came back is written to a cassette.
///
/// # Errors
/// When the provider refuses for good, a cassette lacks a call or cannot be written, or the budget needs a price that
/// is not known.
pub async fn calibrate(
    gold: &GoldSet,
    items: &[&Item],
    file: &JudgeFile,
    options: &Options,
    record: Option<&Path>,
) -> Result<Calibrated, RunError> {
    let JudgeFile { judge, limits, cap, prices } = file;
    let client = options.client(judge.model(), limits)?;
    let ledger = options.ledger(judge.model(), prices, *cap)?;
    let desk = Reader { gold, judge, client: &client, ledger: &ledger };
    let ended: Vec<Result<Ended, RunError>> =
        stream::iter(items.iter().map(|item| desk.read(item))).buffered(limits.concurrency.max(1)).collect().await;
    let mut calibrated =
        Calibrated { rated: Vec::new(), served: BTreeSet::new(), spent: ledger.spent(), over_budget: None };
    let mut calls = Vec::new();
    for ended in ended {
        let Ended { rated, call, over_budget } = ended?;
        calibrated.rated.push(rated);
        calibrated.over_budget = calibrated.over_budget.or(over_budget);
        if let Some((key, trial, logged)) = call {
            calibrated.served.insert(logged.served.model.clone());
            calls.push((key, trial, logged));
        }
    }
    if let Some(path) = record {
        let header = Header {
            schema: SCHEMA.to_owned(),
            experiment: EXPERIMENT.to_owned(),
            date: options.today.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let mut writer = CassetteWriter::create(path, &header)?;
        for (key, trial, logged) in calls {
            writer.add(Named { key: &key, purpose: Purpose::Judge.id(), trial: &trial }, &Recorded::Reply(logged))?;
        }
        writer.finish()?;
    }
    Ok(calibrated)
}

struct Reader<'a> {
    gold: &'a GoldSet,
    judge: &'a Judge,
    client: &'a Client,
    ledger: &'a Ledger,
}

impl Reader<'_> {
    async fn read(&self, item: &Item) -> Result<Ended, RunError> {
        let question = self.gold.question(item);
        let gate = question.passes(&item.summary);
        let ended =
            |reading, detail: String| Ended { rated: Rated { gate, reading, detail }, call: None, over_budget: None };
        let (model, rubric) = match self.judge {
            Judge::Rules => return Ok(ended(Some(rules::read(&question, &item.summary)), String::new())),
            Judge::Model { model, rubric, .. } => (model, rubric),
        };
        // The order of the words is the item's, so that a bias for a place in the list spreads over the set.
        let order = ask::order(Seed { seed: 0, session: &item.id, attack: &item.case });
        let messages = ask::messages(rubric, question.statement, &item.summary, &order);
        let body = match model.body(&messages) {
            Ok(body) => body,
            Err(broken) => return Ok(ended(None, broken.to_string())),
        };
        let trial = format!("gold/{}", item.id);
        let sample = Sample { trial: &trial, ordinal: 0 };
        let key = call_key(Purpose::Judge, &model.key_endpoint(), &body.digest, sample);
        let reserved = match self.is_paid(model) {
            true => match self.ledger.reserve(model, &body).await? {
                Ok(reserved) => Some(reserved),
                Err(why) => return Ok(Ended { over_budget: Some(why), ..ended(None, why.to_string()) }),
            },
            false => None,
        };
        match self.client.ask(model, &messages, &body, &key).await {
            Ok(logged) => {
                if let Some(reserved) = reserved {
                    self.ledger.settle(reserved, model, &logged.usage, &body);
                }
                let (reading, detail) = verdict(model, &logged.reply);
                Ok(Ended { call: Some((key, trial, logged)), ..ended(reading, detail) })
            }
            Err(Unanswered::NotRecorded) => Err(self.not_recorded(trial)),
            Err(Unanswered::Failed(failure)) if failure.kind.is_fatal() => {
                Err(RunError::Provider { endpoint: model.endpoint().to_owned(), failure })
            }
            Err(Unanswered::Failed(failure)) => Ok(ended(None, failure.to_string())),
        }
    }

    fn is_paid(&self, model: &Model) -> bool {
        !model.is_builtin() && self.client.cassette().is_none()
    }

    fn not_recorded(&self, trial: String) -> RunError {
        match self.client.cassette() {
            Some(cassette) => RunError::NotRecorded {
                path: cassette.path().to_owned(),
                missing: cassette.why_missing(Purpose::Judge.id(), &trial),
                trial,
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
