//! Compactions of more than one step: an arm that asks several times, or that makes something of the reply before
//! it is its summary. The next request is known when the reply before it is, so the calls of a trial form a chain;
//! each of them goes the way of every other call.

use std::sync::Arc;

use laundromat_compactor::{Compactor, Given, Next, Refusal, Request, View};
use laundromat_provider::{CallKey, Model, Money, Purpose};
use laundromat_session::{Exposure, Message, Outcome, Plant};
use laundromat_store::{Captured, Cell, Observed, Trial, TrialId, Write};

use crate::build::BuiltCell;
use crate::desk::{Answer, Call, Desk};
use crate::error::RunError;
use crate::keeper::{Texts, compress};
use crate::score::{self, Made, Read};

/// What stands for a reply where requests are told before there is one: a change of a state that changes nothing.
const NO_REPLY: &str = "{}";
/// The same, a character longer: a request holds as many replies as it has characters more with it.
const LONGER_REPLY: &str = "{ }";

/// A compaction that is walked call by call.
#[derive(Debug)]
pub struct Walk {
    compactor: Arc<Compactor>,
    view: View,
    date: String,
}

/// A call of a walk, as far as it can be told before any is answered.
#[derive(Debug)]
pub struct Foreseen {
    /// Its request, next to nothing in place of the replies that it holds.
    pub request: Request,
    /// How many replies to earlier calls it holds.
    pub replies: usize,
}

impl Walk {
    /// The walk of an arm over a view, as of `date`.
    pub fn new(compactor: Arc<Compactor>, view: View, date: &str) -> Self {
        Self { compactor, view, date: date.to_owned() }
    }

    /// Its calls, each reply taken as one that ended normally.
    ///
    /// # Errors
    /// When the arm refuses.
    pub fn foreseen(&self) -> Result<Vec<Foreseen>, Refusal> {
        let longer = self.requests(LONGER_REPLY)?;
        let told = |(request, longer): (Request, Request)| {
            let replies = longer.chars().saturating_sub(request.chars());
            Foreseen { request, replies }
        };
        Ok(self.requests(NO_REPLY)?.into_iter().zip(longer).map(told).collect())
    }

    /// Characters of all calls, replies left out, and how much of `plant` they carry together.
    ///
    /// # Errors
    /// When the arm refuses.
    pub fn carries(&self, plant: &Plant) -> Result<(u64, Exposure), Refusal> {
        let (mut chars, mut all) = (0, Request::default());
        for request in self.requests(NO_REPLY)? {
            chars += request.chars() as u64;
            all.carried.extend(request.carried);
        }
        Ok((chars, all.exposure(plant)))
    }

    fn requests(&self, reply: &str) -> Result<Vec<Request>, Refusal> {
        let (mut requests, mut replies) = (Vec::new(), Vec::new());
        while let Next::Ask(request) = self.next(&replies)? {
            requests.push(request);
            replies.push(reply.to_owned());
        }
        Ok(requests)
    }

    fn next(&self, replies: &[String]) -> Result<Next, Refusal> {
        self.compactor.next(&self.view, Given { date: &self.date, previous: None }, replies)
    }

    /// Walks it for a trial. What was asked is handed to the store before the trial's row is known.
    pub(crate) async fn run(
        &self,
        desk: &Desk,
        model: &Model,
        id: TrialId,
        cell: &BuiltCell,
    ) -> Result<Read, RunError> {
        let mut asked = Asked::default();
        let mut replies: Vec<String> = Vec::new();
        let end = loop {
            let request = match self.next(&replies) {
                Ok(Next::Ask(request)) => request,
                Ok(Next::Summary(text)) => break Ok(text),
                Ok(Next::Replace(_)) => {
                    return Err(RunError::Internal("an arm that asks has put turns in place instead".to_owned()));
                }
                // The arm makes nothing of a reply, which is for good: asking again would select replies.
                Err(refusal) => break Err((Outcome::ArmRefused, refusal.to_string())),
            };
            match asked.call(Asking { desk, model, id: &id, cell }, &request).await? {
                Ok(reply) => replies.push(reply),
                Err(ended) => break Err(ended),
            }
        };
        let row = asked.row(id.clone(), cell);
        let (summary, read) = match end {
            Ok(text) => (Some(text.clone()), Read::Summary(text, Box::new(row))),
            Err((outcome, detail)) => (None, Read::Ended(Box::new(Trial { outcome, detail, ..row }))),
        };
        let captured = asked.heard.into_iter().map(|heard| heard.captured).collect();
        desk.keeper.write(observed(id, summary, captured)).await?;
        Ok(read)
    }
}

/// What the trials of an arm of several steps, or of none, leave beside their row.
pub(crate) fn observed(trial: TrialId, summary: Option<String>, captured: Vec<Captured>) -> Write {
    let notes = String::new();
    Write::Observed(Box::new(Observed { trial, summary, context_zstd: None, request: None, notes, captured }))
}

/// For whom a call is made.
struct Asking<'a> {
    desk: &'a Desk,
    model: &'a Model,
    id: &'a TrialId,
    cell: &'a BuiltCell,
}

/// How a trial ends without a summary.
type Ended = (Outcome, String);

/// The calls of a trial so far.
#[derive(Default)]
struct Asked {
    heard: Vec<Heard>,
}

/// One of them.
struct Heard {
    captured: Captured,
    /// blake3 of the body; `None` where the destination's rules refuse one.
    body: Option<[u8; 32]>,
    cost: Option<Money>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
}

impl Asked {
    /// Makes the next call; the inner error is that the trial ends with it.
    async fn call(&mut self, to: Asking<'_>, request: &Request) -> Result<Result<String, Ended>, RunError> {
        let Asking { desk, model, id, cell } = to;
        let mut heard = Heard {
            captured: captured(self.heard.len(), request, &cell.subject.plant, model),
            body: None,
            cost: None,
            tokens_in: None,
            tokens_out: None,
        };
        let body = match model.body(&request.messages) {
            Ok(body) => body,
            Err(broken) => {
                heard.captured.outcome = Outcome::InvalidRequest;
                self.heard.push(heard);
                return Ok(Err((Outcome::InvalidRequest, broken.to_string())));
            }
        };
        heard.body = Some(body.digest);
        heard.captured.request_zstd = compress(&body.bytes);
        let before = self.heard.iter().filter(|earlier| earlier.body == heard.body).count();
        let call = Call {
            purpose: Purpose::Summarize,
            model,
            messages: &request.messages,
            body: &body,
            keep_body: Texts::default().keep(&body),
            ordinal: u32::try_from(before).unwrap_or(u32::MAX),
        };
        let said = match desk.call(id, call).await? {
            Answer::Reply { key, reply, cost } => {
                let made = Made { key, body: body.digest, cost };
                let (said, trial) = match score::read(id.clone(), cell, made, model.route(), &reply) {
                    Read::Summary(text, trial) => (Ok(text), trial),
                    Read::Ended(trial) => (Err((trial.outcome, trial.detail.clone())), trial),
                };
                heard.captured.key = Some(key);
                (heard.cost, heard.tokens_in, heard.tokens_out) = (cost, trial.tokens_in, trial.tokens_out);
                said
            }
            Answer::Failed(failure) => Err((score::outcome_of(&failure), failure.to_string())),
            Answer::OverBudget(why) => Err((Outcome::OverBudget, why.to_string())),
        };
        heard.captured.outcome = said.as_ref().map_or_else(|(outcome, _)| *outcome, |_| Outcome::Scored);
        self.heard.push(heard);
        Ok(said)
    }

    /// The trial's row before its summary is measured: the last call stands for it, and all calls are paid for.
    fn row(&self, id: TrialId, cell: &BuiltCell) -> Trial {
        let answered = || self.heard.iter().filter(|heard| heard.captured.key.is_some());
        let sum = |tokens: fn(&Heard) -> Option<u64>| answered().map(tokens).reduce(|a, b| Some(a? + b?)).flatten();
        let last = self.heard.last();
        let shared = Cell {
            body: last.and_then(|heard| heard.body),
            input_chars: self.heard.iter().map(|heard| heard.captured.chars).sum(),
            exposure: cell.exposure,
        };
        let cost = answered().map(|heard| heard.cost).reduce(|a, b| Some(a? + b?)).flatten();
        Trial {
            tokens_in: sum(|heard| heard.tokens_in),
            tokens_out: sum(|heard| heard.tokens_out),
            cost: cost.map(Money::dollars),
            call: last.and_then(|heard| heard.captured.key),
            ..score::row(id, shared)
        }
    }
}

/// A request as the store keeps it, before it is sent.
fn captured(earlier: usize, request: &Request, plant: &Plant, model: &Model) -> Captured {
    let place = request.places(plant).first().map(|(message, _)| *message);
    let role = place.and_then(|place| request.messages.get(place)).map(|message: &Message| message.role);
    let none: Option<CallKey> = None;
    Captured {
        number: u32::try_from(earlier + 1).unwrap_or(u32::MAX),
        key: none,
        shape: model.route().id().to_owned(),
        model: model.name().to_owned(),
        request_zstd: Vec::new(),
        chars: request.chars() as u64,
        exposure: request.exposure(plant),
        role: role.map(|role| role.as_str().to_owned()).unwrap_or_default(),
        place: place.map(|place| format!("message {} of {}", place + 1, request.messages.len())).unwrap_or_default(),
        outcome: Outcome::NotRun,
        left_out: String::new(),
        max_tokens: None,
    }
}
