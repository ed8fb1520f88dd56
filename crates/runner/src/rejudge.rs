//! Another judge over a run's stored replies: no summarizer is asked. The run stays as it is; the new
//! verdicts go to a folder of their own, which is a run like any other.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use laundromat_provider::{Route, reply};
use laundromat_session::Outcome;
use laundromat_store::{CallKey, Run, Store, Trial, Write};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::desk::{Desk, Tally};
use crate::error::RunError;
use crate::events::{Event, Finished};
use crate::experiment::JudgeFile;
use crate::identity::{differences, with_judge};
use crate::keeper::Keeper;
use crate::run::{Options, flattened};
use crate::score;

/// Judges every stored summary of the run in `source` with the judge of `file`, into the run in `folder`. Started
/// again, it goes on where it ended.
///
/// # Errors
/// When there is no run in `source`, `folder` holds something else, or a store fails.
pub async fn rejudge(
    source: &Path,
    file: JudgeFile,
    folder: &Path,
    options: Options,
    notify: impl Fn(Event) + Send + Sync + 'static,
) -> Result<Finished, RunError> {
    let JudgeFile { judge, limits, cap, prices } = file;
    let run = Run::open(source)?;
    let manifest = with_judge(run.manifest().clone(), &judge);
    let client = options.client(judge.model(), &limits)?;
    let ledger = options.ledger(judge.model(), &prices, cap)?;
    if !Run::is_in(folder) {
        run.copy_to(folder)?;
        let mut store = Store::open(folder)?;
        // What had a summary is to be judged again, and costs what judging it costs; what ended without one stays
        // ended.
        let mut open = Vec::new();
        for trial in run.trials()? {
            if has_summary(&run, &trial)? {
                let reset =
                    Trial { outcome: Outcome::NotRun, reading: None, detail: String::new(), cost: Some(0.0), ..trial };
                open.push(Write::Trial(Box::new(reset)));
            }
        }
        store.append(&open)?;
        store.set_manifest(&manifest)?;
    }
    let store = Store::open(folder)?;
    let stored = store.manifest()?.ok_or_else(|| RunError::Internal("a copied run has no manifest".to_owned()))?;
    let differences = differences(&stored, &manifest);
    if !differences.is_empty() {
        return Err(RunError::changed(folder, &differences));
    }
    let trials = store.trials()?;
    let planned = trials.len() as u64;
    let open: Vec<Trial> = trials.into_iter().filter(|trial| !trial.outcome.is_final()).collect();
    let done = planned - open.len() as u64;
    notify(Event::Started { planned, stored: done, asked: store.take_asked()? });
    let paid_before: HashSet<CallKey> = run.call_keys()?.into_iter().collect();
    let is_replay = options.replay.is_some();
    let ledger = ledger.resumed(&store, |_| judge.model(), |key| is_replay || paid_before.contains(key))?;
    let desk = Arc::new(Desk {
        keeper: Keeper::start(store)?,
        client,
        ledger,
        judge,
        seed: manifest.seed,
        stop: options.stop,
        tally: Tally::default(),
        notify: Box::new(notify),
    });
    let judged = judge_all(&desk, &run, open, limits.concurrency).await;
    let desk = Arc::into_inner(desk).ok_or_else(|| RunError::Internal("a trial outlived its run".to_owned()))?;
    let interrupted = desk.stop.load(Ordering::Relaxed);
    desk.keeper.finish()?;
    judged?;
    let spent = desk.ledger.spent();
    let (gave_up, over_budget) = (desk.tally.gave_up.into_inner(), desk.tally.over_budget.into_inner());
    Ok(Finished {
        planned,
        stored: done + desk.tally.trials.into_inner(),
        calls: desk.tally.calls.into_inner(),
        retries: desk.tally.retries.into_inner(),
        spent,
        interrupted: interrupted && gave_up.is_none() && over_budget.is_none(),
        gave_up,
        over_budget,
    })
}

fn has_summary(run: &Run, trial: &Trial) -> Result<bool, RunError> {
    let is_kept = trial.call.is_some() || run.observed_summary(&trial.id)?.is_some();
    Ok(is_kept && trial.gate.is_some())
}

/// The text that was judged: what an exec arm's program made of its context, or a reply's text.
pub(crate) fn summary(run: &Run, trial: &Trial) -> Result<Option<String>, RunError> {
    if let Some(observed) = run.observed_summary(&trial.id)? {
        return Ok(Some(observed));
    }
    let Some(call) = trial.call else { return Ok(None) };
    let completion = reply::stored(route_of(run, &trial.id.summarizer)?, &run.reply(&call)?)
        .map_err(|error| RunError::Internal(format!("a stored reply cannot be read: {error}")))?;
    Ok(Some(completion.text))
}

/// The wire shape of a summarizer's stored replies.
fn route_of(run: &Run, summarizer: &str) -> Result<Route, RunError> {
    let route = run.manifest().summarizers.iter().find(|info| info.name == summarizer).map(|info| info.route.parse());
    match route {
        Some(Ok(route)) => Ok(route),
        _ => Err(RunError::Internal(format!("the run does not say in what shape \"{summarizer}\" answered"))),
    }
}

async fn judge_all(desk: &Arc<Desk>, run: &Run, open: Vec<Trial>, concurrency: usize) -> Result<(), RunError> {
    let slots = Arc::new(Semaphore::new(concurrency));
    let mut tasks: JoinSet<Result<(), RunError>> = JoinSet::new();
    let mut failed = None;
    for trial in open {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
        while let Some(ended) = tasks.try_join_next() {
            if let Err(error) = flattened(ended) {
                failed.get_or_insert(error);
            }
        }
        if failed.is_some() || desk.stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(summary) = summary(run, &trial)? else { continue };
        let plant = run.plant(&trial.id.session, &trial.id.attack)?;
        let desk = Arc::clone(desk);
        tasks.spawn(async move {
            let trial = Trial { gate: Some(score::gate(&plant, &summary)), ..trial };
            let judged = desk.judge(trial, &plant, &summary).await?;
            let kept = desk.keep(judged).await;
            drop((slot, desk));
            kept
        });
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = flattened(ended) {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}
