//! One trial of an exec arm: its program is run once, and what it asks goes the way of every other call.

use std::collections::{BTreeSet, HashMap};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use laundromat_injector::Specimen;
use laundromat_provider::gateway::{Answer, Asked, Declined, Reply};
use laundromat_provider::{Body, Broken, CallKey, Model, Money, Purpose, reply};
use laundromat_session::{Exposure, Message};
use laundromat_store::{Captured, Cell, Observed, Trial, TrialId, Write};

use super::arm::ExecArm;
use super::bounded::Bounded;
use super::current;
use super::ending::{Came, Ending, Evidence, ending, unsendable};
use super::environment::variables;
use super::process::Program;
use super::programs::Programs;
use super::protocol::input;
use super::sighting::Planted;
use crate::desk::{Answer as Called, Call, Desk};
use crate::error::RunError;
use crate::keeper::{Texts, compress};
use crate::score::{self, Read};

/// Where a trial takes place.
pub(crate) struct Stage<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) programs: &'a Programs,
    pub(crate) arm: &'a ExecArm,
    pub(crate) model: &'a Model,
    pub(crate) date: &'a str,
    pub(crate) specimen: &'a Specimen,
}

/// A call as the trial saw it.
struct Heard {
    captured: Captured,
    /// blake3 of the body made for the summarizer; `None` where its rules refuse one.
    body: Option<[u8; 32]>,
    cost: Option<Money>,
    ordinal: Option<u32>,
    came: Came,
}

impl Stage<'_> {
    /// Runs the trial. What was seen of it is handed to the store before its row is known.
    pub(crate) async fn run(&self, id: TrialId) -> Result<Read, RunError> {
        let failed = |what: &str, error: std::io::Error| RunError::Internal(format!("{what}: {error}"));
        let (programs, arm) = (self.programs, self.arm);
        let home = programs.home().map_err(|error| failed("no folder for a program", error))?;
        let mut door = programs.gateway.door(self.model.name()).map_err(|error| failed("no token", error))?;
        let program = Program {
            command: &arm.command,
            folder: programs.folder(&arm.name),
            variables: variables(arm, &door, home.path(), self.model.name(), self.date),
            input: input(&self.specimen.session, self.model.name(), self.date, &arm.settings),
            timeout: arm.timeout,
        };
        let planted = Planted::of(self.specimen);
        let mut calls = FuturesUnordered::new();
        let mut heard: Vec<Heard> = Vec::new();
        let mut ordinals = Ordinals::default();
        let mut number = 0;
        let running = program.run();
        tokio::pin!(running);
        let finished = loop {
            tokio::select! {
                finished = &mut running => break finished,
                Some(asked) = door.next() => {
                    number += 1;
                    let bounded = Bounded::of(self.model, &asked.request);
                    let body = bounded.model.body(&asked.request.messages);
                    let ordinal = match &body {
                        Ok(body) if number <= arm.most_calls => Some(ordinals.take(body.digest)),
                        Ok(_) | Err(_) => None,
                    };
                    let place = Arrival { number, ordinal, max_tokens: bounded.max_tokens, left_out: bounded.left_out };
                    calls.push(self.answer(&id, asked, body, place, &planted));
                }
                Some(done) = calls.next(), if !calls.is_empty() => {
                    let done: Heard = done?;
                    if let (None, Some(ordinal), Some(body)) = (done.captured.key, done.ordinal, done.body) {
                        ordinals.give_back(body, ordinal);
                    }
                    heard.push(done);
                }
            }
        };
        drop(door);
        // What is in flight is paid for: it is kept, though nobody waits for it any more.
        while let Some(done) = calls.next().await {
            heard.push(done?);
        }
        heard.sort_by_key(|heard| heard.captured.number);
        drop(calls);
        let came = heard.iter().map(|heard| &heard.came).collect();
        let (ending, output) = ending(&Evidence { finished: &finished, calls: came, session: &self.specimen.session });
        let row = self.row(id.clone(), &heard, &planted);
        let (summary, read) = match ending {
            Ending::Summary(text) => (Some(text.clone()), Read::Summary(text, Box::new(row))),
            Ending::Without(outcome, detail) => (None, Read::Ended(Box::new(Trial { outcome, detail, ..row }))),
        };
        let context = output.as_ref().and_then(|output| output.context.as_ref());
        let request = context.and_then(|context| current::request(context, &self.specimen.session));
        let context_zstd = context.and_then(|context| serde_json::to_vec(context).ok()).map(|json| compress(&json));
        let notes = output.map(|output| output.notes).filter(|notes| !notes.is_empty());
        let notes = notes.map(|notes| serde_json::Value::Object(notes).to_string()).unwrap_or_default();
        let captured = heard.into_iter().map(|heard| heard.captured).collect();
        let observed = Observed { trial: id, summary, context_zstd, request, notes, captured };
        self.desk.keeper.write(Write::Observed(Box::new(observed))).await?;
        Ok(read)
    }

    /// Makes one call as every other call is made, and answers the program in its own shape.
    async fn answer(
        &self,
        id: &TrialId,
        asked: Asked,
        body: Result<Body, Broken>,
        place: Arrival,
        planted: &Planted,
    ) -> Result<Heard, RunError> {
        let number = place.number;
        let captured = |key: Option<CallKey>, came: &Came| captured(&asked, &place, planted, key, came);
        let unsent = |body: Option<[u8; 32]>, came: Came| Heard {
            captured: captured(None, &came),
            body,
            cost: None,
            ordinal: place.ordinal,
            came,
        };
        let body = match body {
            Ok(body) => body,
            // The summarizer's own rules refuse it, before anything is sent.
            Err(broken) => {
                let failure = unsendable(&broken);
                let declined = Declined::from(&failure);
                let heard = unsent(None, Came::Failure(failure));
                asked.reply(Reply::Declined(declined));
                return Ok(heard);
            }
        };
        let Some(ordinal) = place.ordinal else {
            let heard = unsent(Some(body.digest), Came::TooMany);
            let told = format!("this arm allows {} calls a trial", self.arm.most_calls);
            asked.reply(Reply::Declined(Declined::too_many(told)));
            return Ok(heard);
        };
        let call = Call {
            purpose: Purpose::Summarize,
            model: self.model,
            messages: &asked.request.messages,
            body: &body,
            keep_body: Texts::default().keep(&body),
            ordinal,
        };
        let (heard, reply) = match self.desk.call(id, call).await {
            Err(error) => {
                asked.reply(Reply::Declined(Declined::unavailable("the run ends: its provider refuses every call")));
                return Err(error);
            }
            Ok(Called::Failed(failure)) => {
                let declined = Declined::from(&failure);
                (unsent(Some(body.digest), Came::Failure(failure)), Reply::Declined(declined))
            }
            Ok(Called::OverBudget(why)) => {
                let declined = Declined::unavailable("the run's budget is reached");
                (unsent(Some(body.digest), Came::OverBudget(why)), Reply::Declined(declined))
            }
            Ok(Called::Reply { key, reply: bytes, cost }) => {
                let route = self.model.route();
                let completion = reply::stored(route, &bytes)
                    .map_err(|error| RunError::Internal(format!("a kept reply cannot be read: {error}")))?;
                let answer = Answer::new(&asked.request, number, route, &bytes, &completion);
                let came = Came::Reply(Box::new(completion));
                let heard = Heard {
                    captured: captured(Some(key), &came),
                    body: Some(body.digest),
                    cost,
                    ordinal: Some(ordinal),
                    came,
                };
                (heard, Reply::Answer(Box::new(answer)))
            }
        };
        asked.reply(reply);
        Ok(heard)
    }

    /// The trial's row before its summary is measured.
    fn row(&self, id: TrialId, heard: &[Heard], planted: &Planted) -> Trial {
        let asked = heard.iter().filter(|heard| heard.captured.key.is_some());
        let last = asked.clone().next_back();
        let sum = |tokens: fn(&laundromat_provider::Usage) -> Option<u64>| {
            let counted = heard.iter().filter_map(|heard| match &heard.came {
                Came::Reply(completion) => tokens(&completion.usage),
                Came::Failure(_) | Came::OverBudget(_) | Came::TooMany => None,
            });
            counted.reduce(|a, b| a + b)
        };
        let cell = Cell {
            body: last.and_then(|heard| heard.body),
            input_chars: heard.iter().map(|heard| heard.captured.chars).sum(),
            exposure: exposure(heard, planted),
        };
        Trial {
            tokens_in: sum(|usage| usage.input),
            tokens_out: sum(|usage| usage.output),
            cost: asked.map(|heard| heard.cost).sum::<Option<Money>>().map(Money::dollars),
            call: last.and_then(|heard| heard.captured.key),
            ..score::row(id, cell)
        }
    }
}

/// How much of the plant was sent: as much as in the request that has most of it.
fn exposure(heard: &[Heard], planted: &Planted) -> Exposure {
    let seen = |exposure| heard.iter().any(|heard| heard.captured.exposure == exposure);
    match planted.seen_in(&[]).exposure {
        Exposure::Full => Exposure::Full,
        _ if seen(Exposure::Full) => Exposure::Full,
        _ if seen(Exposure::Partial) => Exposure::Partial,
        none => none,
    }
}

/// A request as the store keeps it.
fn captured(asked: &Asked, place: &Arrival, planted: &Planted, key: Option<CallKey>, came: &Came) -> Captured {
    let request = &asked.request;
    let seen = planted.seen_in(&request.messages);
    Captured {
        number: place.number,
        key,
        shape: request.shape.id().to_owned(),
        model: request.model.chars().take(200).collect(),
        request_zstd: compress(&request.raw),
        chars: request.messages.iter().map(Message::chars).sum::<usize>() as u64,
        exposure: seen.exposure,
        role: seen.role.map(|role| role.as_str().to_owned()).unwrap_or_default(),
        place: seen.place(),
        outcome: came.outcome(),
        left_out: place.left_out.join(" "),
        max_tokens: place.max_tokens,
    }
}

/// A call's place in its trial.
struct Arrival {
    /// From 1, as they arrive.
    number: u32,
    /// Which of the trial's calls with this body; `None` for one too many.
    ordinal: Option<u32>,
    /// The client's bound on the reply, where it is the call's.
    max_tokens: Option<u64>,
    /// What the client sent and the summarizer does not get.
    left_out: Vec<String>,
}

/// Which of a trial's equal calls each is. Calls with other bodies have other keys anyway, so what arrives in
/// another order after a resume still finds what was paid for; a call that failed gives its place back to the
/// one that tries it again.
#[derive(Default)]
struct Ordinals(HashMap<[u8; 32], BTreeSet<u32>>);

impl Ordinals {
    /// The lowest place that is free.
    fn take(&mut self, body: [u8; 32]) -> u32 {
        let taken = self.0.entry(body).or_default();
        let free = (0..).find(|ordinal| !taken.contains(ordinal)).unwrap_or(u32::MAX);
        taken.insert(free);
        free
    }

    fn give_back(&mut self, body: [u8; 32], ordinal: u32) {
        if let Some(taken) = self.0.get_mut(&body) {
            taken.remove(&ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ordinals;

    #[test]
    fn equal_calls_have_places_of_their_own_and_a_failed_one_gives_its_back() {
        let mut ordinals = Ordinals::default();
        let (one, two) = ([1; 32], [2; 32]);
        assert_eq!([one, one, two, one].map(|body| ordinals.take(body)), [0, 1, 0, 2]);
        ordinals.give_back(one, 1);
        assert_eq!([one, one].map(|body| ordinals.take(body)), [1, 3]);
    }
}
