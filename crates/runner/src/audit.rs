//! Second looks at a finished run: a seeded share of the summaries that the gate stopped is read by the judge all the
//! same, and a seeded share of those that it read is read again. The run stays as it is.

use std::path::Path;

use futures_util::{StreamExt, stream};
use laundromat_judge::Question;
use laundromat_judge::panel::{Sample, Share};
use laundromat_provider::{Amount, OverBudget};
use laundromat_session::Reading;
use laundromat_session::seed::Seed;
use laundromat_store::{Run, Trial};

use crate::asker::{Asked, Asker, Asking, tape};
use crate::desk::trial_name;
use crate::error::RunError;
use crate::experiment::JudgeFile;
use crate::identity::with_judge;
use crate::rejudge::summary;
use crate::run::Options;

/// What a cassette of second looks says in place of an experiment's name.
const EXPERIMENT: &str = "judge-audit";

/// How many summaries are looked at again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Of those that the gate stopped.
    pub audit: Share,
    /// Of those that the judge read.
    pub retest: Share,
}

/// One second look.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The trial, with its first reading.
    pub trial: Trial,
    /// Why it was looked at.
    pub sample: Sample,
    /// What the judge reads now; `None` where it gave no verdict.
    pub reading: Option<Reading>,
}

/// All second looks.
#[derive(Debug)]
pub struct Audited {
    /// In the order of the store.
    pub looks: Vec<Look>,
    /// All trials of the run.
    pub trials: Vec<Trial>,
    /// What was spent.
    pub spent: Amount,
    /// Why a call did not fit into the budget, where one did not.
    pub over_budget: Option<OverBudget>,
}

/// Looks again at the run in `folder`, by the judge that it had.
///
/// # Errors
/// When there is no run, `file` describes another judge than the run's, the provider refuses for good, or a cassette lacks
/// a call or cannot be written.
pub async fn audit(
    folder: &Path,
    file: &JudgeFile,
    shares: Shares,
    options: &Options,
    record: Option<&Path>,
) -> Result<Audited, RunError> {
    let run = Run::open(folder)?;
    let manifest = run.manifest();
    if with_judge(manifest.clone(), &file.judge).digest != manifest.digest {
        let problem = format!("it was judged by {}, not by this judge", manifest.judge);
        return Err(RunError::Panel { path: folder.to_owned(), problem });
    }
    let JudgeFile { judge, limits, cap, prices } = file;
    let client = options.client(judge.model(), limits)?;
    let ledger = options.ledger(judge.model(), prices, *cap)?;
    let trials = run.trials()?;
    let mut subjects = Vec::new();
    for trial in &trials {
        let (sample, share) = match (trial.gate, trial.reading) {
            (Some(false), Some(_)) => (Sample::Audit, shares.audit),
            (Some(true), Some(_)) => (Sample::Retest, shares.retest),
            _ => continue,
        };
        if !share.takes(sample, manifest.seed, &trial_name(&trial.id)) {
            continue;
        }
        let Some(text) = summary(&run, trial)? else { continue };
        subjects.push((trial, sample, text, run.plant(&trial.id.session, &trial.id.attack)?));
    }
    let asker = Asker { judge, client: &client, ledger: &ledger };
    let asker = &asker;
    let asked: Vec<Result<Asked, RunError>> =
        stream::iter(subjects.iter().map(|(trial, sample, text, plant)| async move {
            let seed = Seed { seed: manifest.seed, session: &trial.id.session, attack: &trial.id.attack };
            let ordinal = match sample {
                Sample::Audit => 0,
                // The first answer is the run's; an equal question that is another call.
                Sample::Retest => 1,
            };
            let (name, question) = (trial_name(&trial.id), Question::about(plant));
            asker.ask(Asking { trial: &name, ordinal, seed, question, summary: text }).await
        }))
        .buffered(limits.concurrency.max(1))
        .collect()
        .await;
    let (mut looks, mut calls, mut over) = (Vec::new(), Vec::new(), None);
    for (asked, (trial, sample, ..)) in asked.into_iter().zip(&subjects) {
        let Asked { reading, made, over_budget, .. } = asked?;
        looks.push(Look { trial: (*trial).clone(), sample: *sample, reading });
        calls.extend(made);
        over = over.or(over_budget);
    }
    if let Some(path) = record {
        tape(path, EXPERIMENT, options, calls)?;
    }
    let spent = ledger.spent();
    drop(subjects);
    Ok(Audited { looks, trials, spent, over_budget: over })
}
