//! A judge over a gold set: every summary is read by the gate and by the judge, asked exactly as in a run. The judge
//! reads what the gate stops as well, so that each of the two can be measured by itself.

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::{StreamExt, stream};
use laundromat_judge::gold::{GoldSet, Item};
use laundromat_provider::{Amount, OverBudget};
use laundromat_session::Reading;
use laundromat_session::seed::Seed;

use crate::asker::{Asked, Asker, Asking, tape};
use crate::error::RunError;
use crate::experiment::JudgeFile;
use crate::run::Options;

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
    let asker = Asker { judge, client: &client, ledger: &ledger };
    let asker = &asker;
    let asked: Vec<Result<Asked, RunError>> = stream::iter(items.iter().map(|item| async move {
        let trial = format!("gold/{}", item.id);
        // The order of the words is the item's, so that a bias for a place in the list spreads over the set.
        let seed = Seed { seed: 0, session: &item.id, attack: &item.case };
        let question = gold.question(item);
        asker.ask(Asking { trial: &trial, ordinal: 0, seed, question, summary: &item.summary }).await
    }))
    .buffered(limits.concurrency.max(1))
    .collect()
    .await;
    let mut calibrated =
        Calibrated { rated: Vec::new(), served: BTreeSet::new(), spent: ledger.spent(), over_budget: None };
    let mut calls = Vec::new();
    for (asked, item) in asked.into_iter().zip(items) {
        let Asked { reading, detail, made, over_budget } = asked?;
        let gate = gold.question(item).passes(&item.summary);
        calibrated.rated.push(Rated { gate, reading, detail });
        calibrated.over_budget = calibrated.over_budget.or(over_budget);
        if let Some(made) = made {
            calibrated.served.insert(made.logged.served.model.clone());
            calls.push(made);
        }
    }
    if let Some(path) = record {
        tape(path, EXPERIMENT, options, calls)?;
    }
    Ok(calibrated)
}
