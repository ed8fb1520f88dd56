//! What a run will cost: as expected, and at worst.
//!
//! *Expected* assumes a summary of [`EXPECTED_SUMMARY`] tokens and a verdict of [`EXPECTED_VERDICT`], less where the model's
//! own bound is lower, and that every summary is judged. *Worst* is what a budget would reserve for all calls together:
//! input half as much again as estimated, every reply as long as it may be.

use laundromat_provider::budget::worst_input;
use laundromat_provider::prices::provider_of;
use laundromat_provider::{Model, Money, Price, PriceList, Prices};

use crate::inputs::Inputs;
use crate::ledger::Terms;
use crate::plan::{Demand, Estimate};

/// Tokens of a summary, as expected.
pub const EXPECTED_SUMMARY: u64 = 800;
/// Tokens of a judge's reply, as expected.
pub const EXPECTED_VERDICT: u64 = 8;

/// Why a cost is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No price list has the model.
    #[error(
        "no price is known for \"{model}\" of \"{provider}\"; add [[prices]] to the experiment, or name a file with --prices"
    )]
    Price {
        /// The model.
        model: String,
        /// Who sells it.
        provider: String,
    },
    /// Its replies have no bound.
    #[error("the longest reply of \"{model}\" is not known; add max-tokens to the model")]
    Reply {
        /// The model.
        model: String,
    },
}

/// What a run will cost, or why that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// As expected.
    pub expected: Result<Money, Unknown>,
    /// At worst.
    pub worst: Result<Money, Unknown>,
    /// One call of an exec arm's program, with a request as long as the longest session and the longest reply; of
    /// the dearest summarizer.
    pub exec_call: Result<Money, Unknown>,
}

/// The cost of `estimate`, by prices of `own` before the experiment's and the built-in ones, on `date`.
pub fn forecast(inputs: &Inputs, estimate: &Estimate, own: Option<PriceList>, date: &str) -> Forecast {
    let experiment = &inputs.experiment;
    let prices = Prices::new(own.into_iter().chain([experiment.prices.clone()]));
    let mut asked: Vec<(&Model, Asked)> = Vec::new();
    // What judges read beside their own prompt: the summaries.
    let (mut summaries, mut longest) = (0, Ok(0));
    for (summarizer, demand) in experiment.summarizers.iter().zip(&estimate.demands) {
        let terms = Terms::of(&summarizer.model, &prices, date);
        let is_builtin = summarizer.model.is_builtin();
        let bound = terms.max_output.filter(|_| !is_builtin).unwrap_or(EXPECTED_SUMMARY);
        summaries += demand.calls * bound.min(EXPECTED_SUMMARY);
        longest = match (longest, terms.max_output) {
            // A built-in model quotes what it reads.
            (Ok(sum), Some(_)) if is_builtin => Ok(sum + demand.worst_input),
            (Ok(sum), Some(most)) => Ok(sum + demand.calls * most),
            (Ok(_), None) => Err(Unknown::Reply { model: summarizer.model.name().to_owned() }),
            (unknown, _) => unknown,
        };
        let (read, read_worst) = held(demand.replies, bound, terms.max_output, summarizer.model.name());
        asked.push((&summarizer.model, Asked { demand: *demand, reply: EXPECTED_SUMMARY, read, read_worst }));
    }
    if let Some(judge) = experiment.judge.model() {
        // A summary is read by another tokenizer than wrote it.
        let read_worst = longest.map(|tokens| tokens.saturating_mul(3).div_ceil(2));
        asked.push((judge, Asked { demand: estimate.judge, reply: EXPECTED_VERDICT, read: summaries, read_worst }));
    }
    let sum = |cost: fn(&Asked, &Terms, &str) -> Result<Money, Unknown>| {
        let costs = asked.iter().filter(|(_, asked)| asked.demand.calls > 0);
        costs.map(|(model, asked)| cost(asked, &Terms::of(model, &prices, date), model.endpoint())).sum()
    };
    let exec_demand = Demand { calls: 1, worst_input: worst_input(estimate.exec_longest), ..Demand::default() };
    let exec = Asked { demand: exec_demand, reply: 0, read: 0, read_worst: Ok(0) };
    let summarizers = experiment.summarizers.iter().map(|it| &it.model).filter(|model| !model.is_builtin());
    let exec_call = summarizers
        .map(|model| exec.worst(&Terms::of(model, &prices, date), model.endpoint()))
        .try_fold(Money::ZERO, |most, cost| Ok(most.max(cost?)));
    Forecast { expected: sum(Asked::expected), worst: sum(Asked::worst), exec_call }
}

/// Tokens of the earlier replies that calls hold, as expected and at worst: text that a model wrote may come to half
/// as many tokens again between the marks of a transcript.
fn held(replies: u64, bound: u64, longest: Option<u64>, model: &str) -> (u64, Result<u64, Unknown>) {
    let worst = match (replies, longest) {
        (0, _) => Ok(0),
        (_, Some(longest)) => Ok(replies.saturating_mul(longest).saturating_mul(3).div_ceil(2)),
        (_, None) => Err(Unknown::Reply { model: model.to_owned() }),
    };
    (replies * bound.min(EXPECTED_SUMMARY), worst)
}

/// What is asked of a model, with what it reads and writes.
struct Asked {
    demand: Demand,
    /// Tokens of a reply, as expected.
    reply: u64,
    /// Input tokens beside the demand's, as expected and at worst.
    read: u64,
    read_worst: Result<u64, Unknown>,
}

impl Asked {
    fn expected(&self, terms: &Terms, url: &str) -> Result<Money, Unknown> {
        let price = price(terms, url)?;
        let reply = terms.max_output.unwrap_or(self.reply).min(self.reply);
        Ok(price.input.times(self.demand.input_tokens + self.read) + price.output.times(self.demand.calls * reply))
    }

    fn worst(&self, terms: &Terms, url: &str) -> Result<Money, Unknown> {
        let price = price(terms, url)?;
        let reply = terms.max_output.ok_or_else(|| Unknown::Reply { model: terms.model().to_owned() })?;
        let read = self.read_worst.clone()?;
        Ok(price.worst(self.demand.worst_input.saturating_add(read), self.demand.calls.saturating_mul(reply)))
    }
}

fn price(terms: &Terms, url: &str) -> Result<Price, Unknown> {
    let unknown = || Unknown::Price { model: terms.model().to_owned(), provider: provider_of(url).to_owned() };
    terms.price.ok_or_else(unknown)
}
