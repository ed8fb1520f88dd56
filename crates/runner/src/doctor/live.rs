//! Asking each model once in each arm, over one small session with a plant in it: is the request accepted, and what
//! comes of it? It goes through the client, the limits, the validator and the budget of a run, and is kept nowhere.

use std::path::Path;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use laundromat_compactor::Request;
use laundromat_injector::{Attack, Specimen, inject};
use laundromat_provider::budget::max_output;
use laundromat_provider::key::{Sample, call_key};
use laundromat_provider::{
    Amount, Body, CallFailure, Client, Model, OverBudget, Prices, Purpose, Served, Unanswered, Usage, reply,
};
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Exposure, MessageRole, Outcome, Plant, canonical};

use super::Health;
use crate::error::RunError;
use crate::inputs::{ArmKind, Inputs};
use crate::ledger::{Ledger, Terms};
use crate::score;

/// The attack whose plant is looked for.
pub const ATTACK: &str = "standing-approval";
/// Longest reply where the experiment bounds none: room for a summary, and for some thought before it.
pub const LONGEST_REPLY: u64 = 2048;
/// The session.
const SESSION: &str = include_str!("../../../../sessions/trace-flaky-metronome-job.json");
/// Its plant is the same in every check.
const SEED: u64 = 1;

/// The requests of a check.
#[derive(Debug)]
pub struct Live {
    rows: Vec<Planned>,
    models: Vec<Model>,
    plant: Plant,
}

/// A row before it is asked for.
#[derive(Debug)]
struct Planned {
    summarizer: String,
    model: Model,
    arm: String,
    /// The request and its body, or what came of it already.
    request: Result<(Request, Body), Came>,
}

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toll {
    /// Calls that cost something.
    pub calls: usize,
    /// What they come to at worst.
    pub worst: Amount,
    /// Whether all replies have a bound.
    pub is_bounded: bool,
}

/// A model in an arm.
#[derive(Debug)]
pub struct Row {
    /// The summarizer's name.
    pub summarizer: String,
    /// Its route.
    pub route: &'static str,
    /// The arm's name.
    pub arm: String,
    /// What was sent, where there was something to send.
    pub sent: Option<Sent>,
    /// What came of it.
    pub came: Came,
}

/// What was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Messages, as the arm builds them.
    pub messages: usize,
    /// Tool messages among them.
    pub tool_messages: usize,
    /// How much of the plant.
    pub exposure: Exposure,
}

/// What came of a request.
#[derive(Debug)]
pub enum Came {
    /// The arm asks nothing that could be tried here: why.
    NotAsked(String),
    /// It could not be sent: why.
    NotSent(String),
    /// It does not fit into the experiment's budget.
    OverBudget(OverBudget),
    /// No reply.
    Failure(CallFailure),
    /// A reply.
    Reply(Box<Replied>),
}

/// A reply.
#[derive(Debug)]
pub struct Replied {
    /// `scored` where it is a summary, else what it is.
    pub outcome: Outcome,
    /// Whether the forged line left a trace in the summary; `None` where there is none.
    pub forged: Option<bool>,
    /// Who answered.
    pub served: Served,
    /// Tokens.
    pub usage: Usage,
}

impl Row {
    /// What there is to say of it beside the table, where there is something.
    pub fn note(&self) -> Option<String> {
        match &self.came {
            Came::NotAsked(why) => Some(format!("not asked, {why}")),
            _ => self.health().problem().map(str::to_owned),
        }
    }

    /// Whether it went as a run needs it.
    pub fn health(&self) -> Health {
        match &self.came {
            Came::NotAsked(_) => Health::Well,
            Came::NotSent(why) => Health::Misconfigured(why.clone()),
            Came::OverBudget(why) => Health::Misconfigured(format!("{why}; raise [budget] for this check")),
            Came::Failure(failure) => Health::of(failure),
            Came::Reply(replied) => match replied.outcome {
                Outcome::Scored => Health::Well,
                Outcome::Truncated => Health::Misconfigured("the reply was cut off; raise max-tokens".to_owned()),
                Outcome::Refused => Health::Misconfigured(
                    "the model or a filter refused; a run counts such trials as refused".to_owned(),
                ),
                other => {
                    Health::Misconfigured(format!("the reply is no summary: {other}; try another model or profile"))
                }
            },
        }
    }
}

impl Live {
    /// The requests of every summarizer of `inputs`, which stand at `path`, in each of its arms, or in those of `arms` where it names some.
    ///
    /// # Errors
    /// When an arm is not the experiment's.
    pub fn plan(inputs: &Inputs, path: &Path, arms: &[String], date: &str) -> Result<Self, RunError> {
        let known: Vec<&str> = inputs.arms.iter().map(ArmKind::name).collect();
        if let Some(stranger) = arms.iter().find(|arm| !known.contains(&arm.as_str())) {
            let problem = format!("there is no arm \"{}\"", stranger.escape_debug());
            let fault = Fault::new(Place::of_path("arms"), problem, choose_remedy(stranger, &known));
            return Err(RunError::Faults { path: path.to_owned(), faults: vec![fault] });
        }
        let specimen = specimen()?;
        let mut rows = Vec::new();
        for summarizer in &inputs.experiment.summarizers {
            let model = bounded(&summarizer.model);
            for arm in inputs.arms.iter().filter(|arm| arms.is_empty() || arms.iter().any(|name| name == arm.name())) {
                let request = request(arm, &model, &specimen, date);
                let (summarizer, arm) = (summarizer.name.clone(), arm.name().to_owned());
                rows.push(Planned { summarizer, model: model.clone(), arm, request });
            }
        }
        let models = inputs.experiment.summarizers.iter().map(|summarizer| bounded(&summarizer.model)).collect();
        Ok(Self { rows, models, plant: specimen.plant })
    }

    /// What asking comes to.
    pub fn toll(&self, prices: &Prices, date: &str) -> Toll {
        let sendable = self.rows.iter().filter(|row| !row.model.is_builtin());
        let paid: Vec<(Terms, usize)> = sendable
            .filter_map(|row| Some((Terms::of(&row.model, prices, date), row.request.as_ref().ok()?.1.bytes.len())))
            .collect();
        Toll {
            calls: paid.len(),
            worst: paid.iter().fold(Amount::default(), |sum, (terms, bytes)| sum.plus(terms.worst(*bytes))),
            is_bounded: paid.iter().all(|(terms, _)| terms.max_output.is_some()),
        }
    }

    /// Asks, under the limits and the budget of `inputs`. The rows come in the order of summarizers and arms.
    ///
    /// # Errors
    /// When the budget needs a price or a bound that is not known.
    pub async fn ask(self, inputs: &Inputs, prices: &Prices, date: &str) -> Result<Vec<Row>, RunError> {
        let experiment = &inputs.experiment;
        let ledger = Ledger::new(&self.models, prices, date, experiment.cap)?;
        // A model without its key keeps no other from being asked.
        let clients: Vec<(&Model, Result<Arc<Client>, String>)> = self
            .models
            .iter()
            .map(|model| {
                let client = Client::new([model], experiment.limits.sending());
                (model, client.map(Arc::new).map_err(|error| error.to_string()))
            })
            .collect();
        let (ledger, plant) = (&ledger, &self.plant);
        let asked = self.rows.into_iter().map(|planned| {
            let client = clients.iter().find(|(model, _)| **model == planned.model).map(|(_, client)| client.clone());
            async move { planned.ask(client, ledger, plant).await }
        });
        let rows: Vec<Result<Row, RunError>> =
            stream::iter(asked).buffered(experiment.limits.concurrency).collect().await;
        rows.into_iter().collect()
    }
}

impl Planned {
    async fn ask(
        self,
        client: Option<Result<Arc<Client>, String>>,
        ledger: &Ledger,
        plant: &Plant,
    ) -> Result<Row, RunError> {
        let Self { summarizer, model, arm, request } = self;
        let route = model.route().id();
        let row = |sent, came| Ok(Row { summarizer: summarizer.clone(), route, arm: arm.clone(), sent, came });
        let (request, body) = match request {
            Ok(built) => built,
            Err(came) => return row(None, came),
        };
        let is_tool = |role: MessageRole| role == MessageRole::Tool;
        let sent = Some(Sent {
            messages: request.messages.len(),
            tool_messages: request.messages.iter().filter(|message| is_tool(message.role)).count(),
            exposure: request.exposure(plant),
        });
        let client = match client {
            Some(Ok(client)) => client,
            Some(Err(why)) => return row(None, Came::NotSent(why)),
            None => return Err(RunError::Internal("a model has no client".to_owned())),
        };
        let reserved = match model.is_builtin() {
            true => None,
            false => match ledger.reserve(&model, &body).await? {
                Ok(reserved) => Some(reserved),
                Err(why) => return row(None, Came::OverBudget(why)),
            },
        };
        let sample = Sample { trial: &format!("doctor/{summarizer}/{arm}"), ordinal: 0 };
        let key = call_key(Purpose::Summarize, &model.key_endpoint(), &body.digest, sample);
        match client.ask(&model, &request.messages, &body, &key).await {
            Ok(logged) => {
                if let Some(reserved) = reserved {
                    ledger.settle(reserved, &model, &logged.usage, &body);
                }
                let completion = reply::stored(model.route(), &logged.reply)
                    .map_err(|error| RunError::Internal(format!("a reply cannot be read: {error}")))?;
                let outcome = score::outcome(&completion);
                let forged = (outcome == Outcome::Scored).then(|| score::gate(plant, &completion.text));
                let replied = Replied { outcome, forged, served: logged.served, usage: logged.usage };
                row(sent, Came::Reply(Box::new(replied)))
            }
            Err(Unanswered::Failed(failure)) => row(sent, Came::Failure(failure)),
            Err(Unanswered::NotRecorded) => {
                Err(RunError::Internal("a call without a cassette was not recorded".to_owned()))
            }
        }
    }
}

/// The embedded session with its plant.
fn specimen() -> Result<Specimen, RunError> {
    let unsound = |what: String| RunError::Internal(format!("the embedded session: {what}"));
    let listed = |faults: Vec<Fault>| unsound(faults.iter().map(ToString::to_string).collect());
    let session = canonical::read(SESSION).map_err(listed)?;
    let attack = Attack::embedded(ATTACK).map_err(listed)?;
    inject(&session, &attack, SEED).map_err(|error| unsound(error.to_string()))
}

fn bounded(model: &Model) -> Model {
    match model {
        Model::Chat(endpoint) if max_output(endpoint.fields()).is_none() => {
            Model::Chat(endpoint.within(LONGEST_REPLY).unwrap_or_else(|| endpoint.clone()))
        }
        Model::BuiltinReader | Model::Chat(_) => model.clone(),
    }
}

/// The request of an arm and its body, or what comes of it without them.
fn request(arm: &ArmKind, model: &Model, specimen: &Specimen, date: &str) -> Result<(Request, Body), Came> {
    let compactor = match arm {
        ArmKind::Built(compactor) => compactor,
        ArmKind::Exec { .. } => {
            let why = "its program makes its own requests; try it by a run over one session";
            return Err(Came::NotAsked(why.to_owned()));
        }
    };
    let request = compactor.request(&specimen.session, date).map_err(|refusal| Came::NotAsked(refusal.to_string()))?;
    let broken = |broken| Came::NotSent(format!("not sent, {broken}; change the setting or the profile"));
    let body = model.body(&request.messages).map_err(broken)?;
    Ok((request, body))
}
