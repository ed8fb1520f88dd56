//! Execution: sessions in seeded order, their cells built on rayon, their trials in flight up to a
//! limit, every reply on disk before it is judged. Starting again goes on where the store ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use laundromat_injector::Specimen;
use laundromat_provider::{Body, Broken, Cap, Cassette, Client, ClientError, Model, PriceList, Prices, Purpose};
use laundromat_session::seed::Seed;
use laundromat_store::{Manifest, Spent, Store, Trial, TrialId, Write};
use rayon::prelude::*;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::build::{self, BuiltCell, Prepared, Subject};
use crate::desk::{Answer, Call, Desk, Tally};
use crate::error::RunError;
use crate::events::{Event, Finished};
use crate::exec::programs::Programs;
use crate::exec::trial::Stage;
use crate::experiment::{Experiment, Limits};
use crate::identity::{Difference, DifferenceKind, differences};
use crate::inputs::{ArmKind, Inputs, SessionEntry};
use crate::keeper::{Keeper, Texts};
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::score::{self, Made, Read};
use crate::turns;
use crate::walk::observed;

/// Sessions built ahead of the trials in flight: enough to keep all cores busy, few enough to keep memory flat.
const BLOCK: usize = 8;

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Today, `YYYY-MM-DD`: pinned when the run is first started, ignored afterwards.
    pub today: String,
    /// Set to ask the run to stop: what is in flight is finished and saved.
    pub stop: Arc<AtomicBool>,
    /// What to do where the experiment has grown since the run was started.
    pub growth: Growth,
    /// The most that may be spent, where the experiment says otherwise or nothing.
    pub cap: Cap,
    /// Prices that go before the experiment's.
    pub prices: Option<PriceList>,
    /// Who answers instead of the models.
    pub replay: Option<Arc<Cassette>>,
}

impl Options {
    /// The date to pin: a replay's requests are those of the recording's day.
    fn date(&self) -> String {
        self.replay.as_ref().map_or_else(|| self.today.clone(), |cassette| cassette.header().date.clone())
    }

    /// Who answers calls to `models`.
    pub(crate) fn client<'m>(
        &self,
        models: impl IntoIterator<Item = &'m Model>,
        limits: &Limits,
    ) -> Result<Client, ClientError> {
        match &self.replay {
            Some(cassette) => Ok(Client::replaying(Arc::clone(cassette))),
            None => Client::new(models, limits.sending()),
        }
    }

    /// The ledger of `models` under `cap`, with prices of the file's `own`. A replay spends nothing.
    pub(crate) fn ledger<'m>(
        &self,
        models: impl IntoIterator<Item = &'m Model>,
        own: &PriceList,
        cap: Cap,
    ) -> Result<Ledger, RunError> {
        let prices = Prices::new(self.prices.clone().into_iter().chain([own.clone()]));
        let cap = if self.replay.is_some() { Cap::default() } else { cap.overridden(self.cap) };
        Ledger::new(models, &prices, &self.date(), cap)
    }
}

/// The model that answered a stored call.
fn model_of<'e>(experiment: &'e Experiment, call: &Spent) -> Option<&'e Model> {
    if call.purpose == Purpose::Judge.id() {
        return experiment.judge.model();
    }
    experiment.summarizers.iter().find(|summarizer| summarizer.name == call.summarizer).map(|it| &it.model)
}

/// What to do where the experiment has grown since the run was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Refuse it, naming what is new.
    Refuse,
    /// Take it over: the new trials are run, those there were stay.
    Extend,
}

/// Runs what is left of `inputs` into the store in `folder`.
///
/// # Errors
/// When the folder holds another experiment, an input cannot be read, or the store fails. What was
/// stored before an error stays.
pub async fn run(
    inputs: Arc<Inputs>,
    folder: &Path,
    options: Options,
    notify: impl Fn(Event) + Send + Sync + 'static,
) -> Result<Finished, RunError> {
    let experiment = &inputs.experiment;
    let client = options.client(experiment.models(), &experiment.limits)?;
    let ledger = options.ledger(experiment.models(), &experiment.prices, experiment.cap)?;
    let programs = Programs::start(&inputs).await?;
    let store = Store::open(folder)?;
    let mut manifest = match store.manifest()? {
        None => {
            let manifest = inputs.manifest(options.date());
            store.set_manifest(&manifest)?;
            manifest
        }
        Some(stored) => {
            let manifest = inputs.manifest(stored.date.clone());
            match differences(&stored, &manifest) {
                // Words about the run may change after it: they decide no trial.
                differences if differences.is_empty() && stored.note != manifest.note => {
                    let renoted = Manifest { note: manifest.note, ..stored };
                    store.set_manifest(&renoted)?;
                    renoted
                }
                differences if differences.is_empty() => stored,
                differences if options.growth == Growth::Extend && only_more(&differences) => {
                    store.set_manifest(&manifest)?;
                    manifest
                }
                differences => return Err(RunError::changed(folder, &differences)),
            }
        }
    };
    if turns::tell(&inputs, &mut manifest)? {
        store.set_manifest(&manifest)?;
    }
    let plan = Arc::new(Plan::new(&manifest, &store.trials()?));
    notify(Event::Started { planned: plan.planned(), stored: plan.stored(), asked: store.take_asked()? });
    let is_replay = options.replay.is_some();
    let ledger = ledger.resumed(&store, |call| model_of(experiment, call), |_| is_replay)?;
    let desk = Desk {
        keeper: Keeper::start(store)?,
        client,
        ledger,
        judge: inputs.experiment.judge.clone(),
        seed: inputs.experiment.seed,
        stop: options.stop,
        tally: Tally::default(),
        notify: Box::new(notify),
    };
    let flight = Arc::new(Flight { desk, inputs, plan: Arc::clone(&plan), programs, date: manifest.date });
    let flown = Flight::fly(&flight).await;
    let interrupted = flight.desk.stop.load(Ordering::Relaxed);
    let flight = Arc::into_inner(flight).ok_or_else(|| RunError::Internal("a trial outlived its run".to_owned()))?;
    // The store's own failure explains what the trials only noticed.
    flight.desk.keeper.finish()?;
    flown?;
    let spent = flight.desk.ledger.spent();
    let Tally { calls, retries, trials, gave_up, over_budget, .. } = flight.desk.tally;
    let (gave_up, over_budget) = (gave_up.into_inner(), over_budget.into_inner());
    Ok(Finished {
        planned: plan.planned(),
        stored: plan.stored() + trials.into_inner(),
        calls: calls.into_inner(),
        retries: retries.into_inner(),
        spent,
        interrupted: interrupted && gave_up.is_none() && over_budget.is_none(),
        gave_up,
        over_budget,
    })
}

fn only_more(differences: &[Difference]) -> bool {
    differences.iter().all(|difference| difference.kind == DifferenceKind::Addition)
}

/// A cell on its way: its body is made and hashed once for all its trials.
struct Outgoing {
    cell: BuiltCell,
    /// The body, or the rule by which its destination would refuse it; `None` where the arm refused.
    body: Option<Result<Body, Broken>>,
}

impl Outgoing {
    /// `cell` for `model`, with what its body has in common with that of `before`, the cell before it.
    fn new(cell: BuiltCell, model: &Model, before: Option<(&Self, &Model)>) -> Self {
        let body = match &cell.prepared {
            Prepared::Ready(messages) => {
                let shared = before.and_then(|(before, other)| match (&before.cell.prepared, &before.body) {
                    (Prepared::Ready(same), Some(Ok(body))) if Arc::ptr_eq(same, messages) => {
                        model.body_after(other, body)
                    }
                    _ => None,
                });
                Some(shared.map_or_else(|| model.body(messages), Ok))
            }
            Prepared::Refused(_) | Prepared::Exec(_) | Prepared::Walk(_) | Prepared::InPlace(_) => None,
        };
        Self { cell, body }
    }
}

/// A run in flight.
struct Flight {
    desk: Desk,
    inputs: Arc<Inputs>,
    plan: Arc<Plan>,
    /// Where programs of exec arms are run, where there are any.
    programs: Option<Programs>,
    /// The date shown to every arm.
    date: String,
}

impl Flight {
    async fn fly(flight: &Arc<Self>) -> Result<(), RunError> {
        let concurrency = flight.inputs.experiment.limits.concurrency;
        let slots = Arc::new(Semaphore::new(concurrency));
        let (built, mut cells) = mpsc::channel::<Result<Outgoing, RunError>>(concurrency.min(64));
        let builder = {
            let flight = Arc::clone(flight);
            tokio::task::spawn_blocking(move || flight.build(&built))
        };
        let mut trials: JoinSet<Result<(), RunError>> = JoinSet::new();
        let mut failed = None;
        'cells: while let Some(cell) = cells.recv().await {
            let cell = match cell {
                Ok(cell) => Arc::new(cell),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            };
            for id in flight.open_trials(&cell.cell) {
                let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break 'cells };
                while let Some(ended) = trials.try_join_next() {
                    if let Err(error) = flattened(ended) {
                        failed = Some(error);
                        break 'cells;
                    }
                }
                if flight.desk.stop.load(Ordering::Relaxed) {
                    break 'cells;
                }
                let (flight, cell) = (Arc::clone(flight), Arc::clone(&cell));
                trials.spawn(async move {
                    let ran = flight.trial(id, &cell).await;
                    drop((slot, flight));
                    ran
                });
            }
        }
        // A closed channel stops the builder at its next cell.
        drop(cells);
        if failed.is_none() && flight.desk.stop.load(Ordering::Relaxed) {
            (flight.desk.notify)(Event::Draining);
        }
        while let Some(ended) = trials.join_next().await {
            if let Err(error) = flattened(ended) {
                failed.get_or_insert(error);
            }
        }
        builder.await.map_err(|error| RunError::Internal(format!("building failed: {error}")))?;
        failed.map_or(Ok(()), Err)
    }

    /// Builds the cells that still have trials to run, block by block.
    fn build(&self, built: &mpsc::Sender<Result<Outgoing, RunError>>) {
        for block in self.sessions().chunks(BLOCK) {
            if built.is_closed() || self.desk.stop.load(Ordering::Relaxed) {
                return;
            }
            let cells: Vec<Result<Vec<Outgoing>, RunError>> =
                block.par_iter().map(|entry| self.cells_of(entry)).collect();
            for cell in cells.into_iter().flat_map(|cells| match cells {
                Ok(cells) => cells.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }) {
                if built.blocking_send(cell).is_err() {
                    return;
                }
            }
        }
    }

    /// Sessions in an order that only the seed decides.
    fn sessions(&self) -> Vec<&SessionEntry> {
        let mut sessions: Vec<&SessionEntry> = self.inputs.sessions.iter().collect();
        let seed = self.inputs.experiment.seed;
        sessions.sort_by_cached_key(|entry| Seed { seed, session: &entry.info.id, attack: "" }.bytes("session order"));
        sessions
    }

    fn cells_of(&self, entry: &SessionEntry) -> Result<Vec<Outgoing>, RunError> {
        let wanted =
            |attack: &str, arm: &str, summarizer: &str| self.plan.wants_cell(&entry.info.id, attack, arm, summarizer);
        let inputs = &self.inputs;
        let names = || inputs.attacks.iter().flat_map(|attack| inputs.arms.iter().map(move |arm| (attack, arm)));
        let any = names().any(|(attack, arm)| {
            inputs.experiment.summarizers.iter().any(|s| wanted(&attack.name, arm.name(), &s.name))
        });
        // A session whose trials are all stored is not even read again.
        if !any {
            return Ok(Vec::new());
        }
        let cells = build::cells(inputs, &inputs.session(entry)?, &self.date, wanted)?;
        self.file_specimens(&cells)?;
        let model_of = |cell: &BuiltCell| &inputs.experiment.summarizers[cell.summarizer].model;
        let mut outgoing: Vec<Outgoing> = Vec::with_capacity(cells.len());
        for cell in cells {
            let (model, before) = (model_of(&cell), outgoing.last());
            outgoing.push(Outgoing::new(cell, model, before.map(|before| (before, model_of(&before.cell)))));
        }
        self.file_bodies(&outgoing)?;
        Ok(outgoing)
    }

    /// Keeps the bodies before any of them is sent: whoever finds a call in the store finds its body. The text that
    /// models share is compressed and kept once.
    fn file_bodies(&self, outgoing: &[Outgoing]) -> Result<(), RunError> {
        let mut texts = Texts::default();
        for body in outgoing.iter().filter_map(|outgoing| outgoing.body.as_ref()?.as_ref().ok()) {
            self.desk.keeper.write_blocking(texts.keep(body))?;
        }
        Ok(())
    }

    /// Keeps the plants, so that a run can be judged again from its store alone.
    fn file_specimens(&self, cells: &[BuiltCell]) -> Result<(), RunError> {
        let mut filed: Vec<&Arc<Subject>> = Vec::new();
        for cell in cells {
            if !filed.iter().any(|subject| Arc::ptr_eq(subject, &cell.subject)) {
                let Subject { session, attack, plant, .. } = &*cell.subject;
                self.desk.keeper.write_blocking(vec![Write::Specimen {
                    session: session.clone(),
                    attack: attack.clone(),
                    plant: Box::new(plant.clone()),
                }])?;
                filed.push(&cell.subject);
            }
        }
        Ok(())
    }

    fn open_trials(&self, cell: &BuiltCell) -> Vec<TrialId> {
        (1..=self.inputs.repetitions_of(&cell.arm, cell.summarizer))
            .map(|rep| TrialId {
                session: cell.subject.session.clone(),
                attack: cell.subject.attack.clone(),
                arm: cell.arm.clone(),
                summarizer: self.inputs.experiment.summarizers[cell.summarizer].name.clone(),
                rep,
            })
            .filter(|id| self.plan.wants(id))
            .collect()
    }

    /// Runs a trial and keeps its row.
    async fn trial(&self, id: TrialId, outgoing: &Outgoing) -> Result<(), RunError> {
        let cell = &outgoing.cell;
        let trial = match (&cell.prepared, &outgoing.body) {
            (Prepared::Ready(messages), Some(Ok(body))) => {
                let model = &self.inputs.experiment.summarizers[cell.summarizer].model;
                let keep_body = Vec::new();
                let call = Call { purpose: Purpose::Summarize, model, messages, body, keep_body, ordinal: 0 };
                match self.desk.call(&id, call).await? {
                    Answer::Reply { key, reply, cost } => {
                        let made = Made { key, body: body.digest, cost };
                        self.judged(cell, score::read(id, cell, made, model.route(), &reply)).await?
                    }
                    Answer::Failed(failure) => score::failed(id, cell, body.digest, &failure),
                    Answer::OverBudget(why) => score::over_budget(id, cell, body.digest, why),
                }
            }
            (Prepared::Ready(_), Some(Err(broken))) => score::unsendable(id, cell, broken),
            (Prepared::Refused(reason), _) => score::refused(id, cell, reason),
            (Prepared::Walk(walk), _) => {
                let model = &self.inputs.experiment.summarizers[cell.summarizer].model;
                let read = walk.run(&self.desk, model, id, cell).await?;
                self.judged(cell, read).await?
            }
            (Prepared::InPlace(text), _) => {
                self.desk.keeper.write(observed(id.clone(), Some(text.to_string()), Vec::new())).await?;
                let read = Read::Summary(text.to_string(), Box::new(score::unasked(id, cell)));
                self.judged(cell, read).await?
            }
            (Prepared::Exec(specimen), _) => {
                let read = self.stage(cell, specimen)?.run(id).await?;
                self.judged(cell, read).await?
            }
            (Prepared::Ready(_), None) => return Err(RunError::Internal("a request has no body".to_owned())),
        };
        self.desk.keep(trial).await
    }

    /// The row of a trial from what was read of it: a summary is measured and judged.
    async fn judged(&self, cell: &BuiltCell, read: Read) -> Result<Trial, RunError> {
        match read {
            Read::Summary(summary, trial) => {
                let trial = score::measured(*trial, &cell.subject, &summary);
                self.desk.judge(trial, &cell.subject.plant, &summary).await
            }
            Read::Ended(trial) => Ok(*trial),
        }
    }

    /// Where a trial of an exec arm takes place.
    fn stage<'a>(&'a self, cell: &'a BuiltCell, specimen: &'a Specimen) -> Result<Stage<'a>, RunError> {
        let arm = self.inputs.arms.iter().find_map(|arm| match arm {
            ArmKind::Exec { arm, .. } if arm.name == cell.arm => Some(&**arm),
            ArmKind::Exec { .. } | ArmKind::Built(_) => None,
        });
        let (Some(arm), Some(programs)) = (arm, &self.programs) else {
            return Err(RunError::Internal("an exec arm is not ready to be run".to_owned()));
        };
        let model = &self.inputs.experiment.summarizers[cell.summarizer].model;
        Ok(Stage { desk: &self.desk, programs, arm, model, date: &self.date, specimen })
    }
}

pub(crate) fn flattened(ended: Result<Result<(), RunError>, tokio::task::JoinError>) -> Result<(), RunError> {
    ended.map_err(|error| RunError::Internal(format!("a trial failed: {error}")))?
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use laundromat_provider::{Endpoint, Model, Profile, Settings};
    use laundromat_session::{Exposure, Message, MessageRole, Outcome, Plant, PlantKind};
    use laundromat_store::TrialId;

    use super::Outgoing;
    use crate::build::{BuiltCell, Prepared, Subject};
    use crate::score;

    fn cell(messages: Vec<Message>) -> BuiltCell {
        let plant = Plant {
            kind: PlantKind::Clean,
            statement: "s".to_owned(),
            canaries: vec!["c".to_owned()],
            phrases: Vec::new(),
            spans: Vec::new(),
        };
        let (session, attack) = ("s".to_owned(), "clean".to_owned());
        BuiltCell {
            subject: Arc::new(Subject { session, attack, plant, identifiers: None }),
            arm: "a".to_owned(),
            summarizer: 0,
            prepared: Prepared::Ready(Arc::new(messages)),
            input_chars: 1,
            exposure: Exposure::Full,
        }
    }

    /// What the destination would refuse is not sent: the row says by which rule.
    #[test]
    fn a_request_that_breaks_a_rule_ends_as_invalid() {
        let profile = Profile::named("mistral").expect("a profile");
        let endpoint = Endpoint::new(profile, "m".to_owned(), "http://h".to_owned(), &Settings::default());
        let model = Model::Chat(endpoint);
        let user = || Message::text(MessageRole::User, "u");
        let sound = Outgoing::new(cell(vec![user()]), &model, None);
        assert!(matches!(sound.body, Some(Ok(_))));
        let outgoing = Outgoing::new(cell(vec![user(), Message::text(MessageRole::Assistant, "a")]), &model, None);
        let Some(Err(broken)) = &outgoing.body else { panic!("it is refused") };
        let id = TrialId {
            session: "s".to_owned(),
            attack: "clean".to_owned(),
            arm: "a".to_owned(),
            summarizer: "m".to_owned(),
            rep: 1,
        };
        let trial = score::unsendable(id, &outgoing.cell, broken);
        assert_eq!(trial.outcome, Outcome::InvalidRequest);
        assert_eq!(trial.detail, "rule last_assistant: the last message is the assistant's");
        assert_eq!((trial.call, trial.cell.body), (None, None));
    }
}
