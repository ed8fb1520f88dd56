//! Asking, once: a call that was answered is looked up and never made again, a reply is kept before
//! it is read, what passes the gate goes to the judge.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use laundromat_judge::{Question, answer, ask, rules};
use laundromat_provider::key::Sample;
use laundromat_provider::{
    Body, CallFailure, CallKey, CallLog, Client, Logged, Model, Money, OverBudget, Purpose, Route, Unanswered, key,
    reply,
};
use laundromat_session::seed::Seed;
use laundromat_session::{Message, Outcome, Plant, Reading};
use laundromat_store::{Trial, TrialId, Write};

use crate::error::RunError;
use crate::events::Event;
use crate::experiment::Judge;
use crate::keeper::{Filed, Keeper, Texts};
use crate::ledger::Ledger;
use crate::score;

/// Calls that may be lost before any was answered: then nothing gets through, and waiting for every
/// other trial to fail as well tells nothing new.
const LOST_BEFORE_GIVING_UP: u64 = 8;

/// A call to be made.
pub(crate) struct Call<'a> {
    pub(crate) purpose: Purpose,
    pub(crate) model: &'a Model,
    pub(crate) messages: &'a [Message],
    pub(crate) body: &'a Body,
    /// What keeps the body, where that was not handed over before.
    pub(crate) keep_body: Vec<Write>,
    /// Which of the trial's calls with this body, from 0.
    pub(crate) ordinal: u32,
}

/// What a start has done so far.
#[derive(Default)]
pub(crate) struct Tally {
    /// Calls that were answered.
    pub(crate) calls: AtomicU64,
    /// Attempts beyond the first that answered calls took.
    pub(crate) retries: AtomicU64,
    /// Trials that are over.
    pub(crate) trials: AtomicU64,
    /// Calls that no attempt got through, as long as none was answered.
    lost: AtomicU64,
    /// Why the start gave up.
    pub(crate) gave_up: OnceLock<String>,
    /// Why the next call did not fit into the budget.
    pub(crate) over_budget: OnceLock<OverBudget>,
}

/// What became of a call.
pub(crate) enum Answer {
    /// It has a reply.
    Reply {
        key: CallKey,
        reply: Vec<u8>,
        /// What the call cost, where that is known.
        cost: Option<Money>,
    },
    /// Nobody answered, or the provider refused.
    Failed(CallFailure),
    /// It does not fit into the budget, and was not made.
    OverBudget(OverBudget),
}

/// Where calls are made, kept and judged.
pub(crate) struct Desk {
    pub(crate) keeper: Keeper,
    pub(crate) client: Client,
    pub(crate) ledger: Ledger,
    pub(crate) judge: Judge,
    pub(crate) seed: u64,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) tally: Tally,
    pub(crate) notify: Box<dyn Fn(Event) + Send + Sync>,
}

impl Desk {
    /// Judges a summary whose gate was tried: what passes it is read by the judge.
    pub(crate) async fn judge(&self, trial: Trial, plant: &Plant, summary: &str) -> Result<Trial, RunError> {
        let question = Question::about(plant);
        match &self.judge {
            _ if trial.gate == Some(false) => Ok(score::scored(trial, Reading::Absent)),
            Judge::Rules => Ok(score::scored(trial, rules::read(&question, summary))),
            Judge::Model { model, rubric, .. } => {
                let order = ask::order(Seed { seed: self.seed, session: &trial.id.session, attack: &trial.id.attack });
                let messages = ask::messages(rubric, question.statement, summary, &order);
                let body = match model.body(&messages) {
                    Ok(body) => body,
                    Err(broken) => return Ok(score::unjudged(trial, &broken)),
                };
                let keep_body = Texts::default().keep(&body);
                let call =
                    Call { purpose: Purpose::Judge, model, messages: &messages, body: &body, keep_body, ordinal: 0 };
                Ok(match self.call(&trial.id, call).await? {
                    Answer::Reply { reply, cost, .. } => verdict(score::charged(trial, cost), model.route(), &reply),
                    Answer::Failed(failure) => score::unjudged(trial, &failure),
                    Answer::OverBudget(why) => score::unjudged_over_budget(trial, why),
                })
            }
        }
    }

    /// Makes a call, or finds it made. Every call of a run goes this way: look-up, budget, sending under the
    /// account's limits, commit.
    pub(crate) async fn call(&self, id: &TrialId, call: Call<'_>) -> Result<Answer, RunError> {
        let name = trial_name(id);
        let sample = Sample { trial: &name, ordinal: call.ordinal };
        let key = key::call_key(call.purpose, &call.model.key_endpoint(), &call.body.digest, sample);
        if let Some(Logged { reply, usage, .. }) = self.keeper.look_up(&key).await? {
            return Ok(Answer::Reply { key, reply, cost: self.ledger.cost(call.model, &usage) });
        }
        let reserved = match self.is_paid(call.model) {
            true => match self.ledger.reserve(call.model, call.body).await? {
                Ok(reserved) => {
                    self.keeper.reserve(key).await?;
                    Some(reserved)
                }
                Err(why) => return Ok(self.refuse(why)),
            },
            false => None,
        };
        match self.client.ask(call.model, call.messages, call.body, &key).await {
            Ok(logged) => {
                self.tally.calls.fetch_add(1, Ordering::Relaxed);
                self.tally.retries.fetch_add(u64::from(logged.attempts.saturating_sub(1)), Ordering::Relaxed);
                if let Some(reserved) = reserved {
                    self.ledger.settle(reserved, call.model, &logged.usage, call.body);
                }
                let (reply, cost) = (logged.reply.clone(), self.ledger.cost(call.model, &logged.usage));
                let (purpose, body) = (call.purpose.id(), call.body.digest);
                let filed = Filed { purpose, trial: id.clone(), body, keep_body: call.keep_body };
                self.keeper.commit(key, filed, logged).await?;
                Ok(Answer::Reply { key, reply, cost })
            }
            Err(Unanswered::NotRecorded) => Err(self.not_recorded(name, call.purpose)),
            Err(Unanswered::Failed(failure)) if failure.kind.is_fatal() => {
                Err(RunError::Provider { endpoint: call.model.endpoint().to_owned(), failure })
            }
            Err(Unanswered::Failed(failure)) => {
                self.count_lost(call.model, &failure);
                Ok(Answer::Failed(failure))
            }
        }
    }

    /// Whether asking `model` costs anything: a built-in one and a cassette are free.
    fn is_paid(&self, model: &Model) -> bool {
        !model.is_builtin() && self.client.cassette().is_none()
    }

    /// No further trial is begun once a call did not fit.
    fn refuse(&self, why: OverBudget) -> Answer {
        self.tally.over_budget.get_or_init(|| why);
        self.stop.store(true, Ordering::Relaxed);
        Answer::OverBudget(why)
    }

    fn not_recorded(&self, trial: String, purpose: Purpose) -> RunError {
        match self.client.cassette() {
            Some(cassette) => RunError::NotRecorded {
                path: cassette.path().to_owned(),
                missing: cassette.why_missing(purpose.id(), &trial),
                trial,
                purpose: purpose.id(),
                recorded: cassette.header().experiment.clone(),
                version: cassette.header().version.clone(),
            },
            None => RunError::Internal("a call without a cassette was not recorded".to_owned()),
        }
    }

    /// Gives up when nothing gets through from the start.
    fn count_lost(&self, model: &Model, failure: &CallFailure) {
        if !failure.kind.is_transport() || self.tally.calls.load(Ordering::Relaxed) > 0 {
            return;
        }
        if self.tally.lost.fetch_add(1, Ordering::Relaxed) + 1 >= LOST_BEFORE_GIVING_UP {
            self.tally.gave_up.get_or_init(|| format!("no call got through to {}: {failure}", model.endpoint()));
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Keeps a trial's row and tells of it.
    pub(crate) async fn keep(&self, trial: Trial) -> Result<(), RunError> {
        let event = Event::Trial { id: trial.id.clone(), outcome: trial.outcome };
        let is_final = trial.outcome.is_final();
        self.keeper.write(Write::Trial(Box::new(trial))).await?;
        self.tally.trials.fetch_add(u64::from(is_final), Ordering::Relaxed);
        (self.notify)(event);
        Ok(())
    }
}

/// A trial's name, as calls and cassettes have it.
pub(crate) fn trial_name(id: &TrialId) -> String {
    format!("{}/{}/{}/{}/{}", id.session, id.attack, id.arm, id.summarizer, id.rep)
}

/// The row of a trial from its judge's reply. A reply that did not end normally is no verdict.
fn verdict(trial: Trial, route: Route, reply: &[u8]) -> Trial {
    match reply::stored(route, reply) {
        Ok(completion) if score::outcome(&completion) == Outcome::Scored => match answer::parse(&completion.text) {
            Some(reading) => score::scored(trial, reading),
            None => score::unparsable(trial, &completion.text),
        },
        Ok(completion) => score::unparsable(trial, score::outcome(&completion).id()),
        Err(error) => score::unparsable(trial, &error.to_string()),
    }
}
