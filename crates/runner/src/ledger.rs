//! What calls cost, and the budget they come out of. What was spent counts over all starts of a run: it is
//! worked out from the stored calls, never kept beside them.

use std::sync::Arc;

use laundromat_provider::budget::{Reservation, max_output, worst_input};
use laundromat_provider::prices::provider_of;
use laundromat_provider::{Amount, Body, Budget, Cap, Model, Money, OverBudget, Price, Prices, Usage};
use laundromat_store::{CallKey, Spent, Store};

use crate::error::RunError;

/// What is known of a model's cost before it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    endpoint: String,
    model: String,
    /// What its tokens cost, where that is known.
    pub(crate) price: Option<Price>,
    /// The longest reply, where there is a bound.
    pub(crate) max_output: Option<u64>,
}

impl Terms {
    /// The terms of `model` on `date`.
    pub(crate) fn of(model: &Model, prices: &Prices, date: &str) -> Self {
        let max_output = match model {
            Model::BuiltinReader => Some(0),
            Model::Chat(endpoint) => max_output(endpoint.fields()),
        };
        let (endpoint, name) = (model.endpoint().to_owned(), model.name().to_owned());
        Self { endpoint, model: name, price: prices.of(model, date), max_output }
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// What a call with a body of so many bytes comes to at worst.
    pub(crate) fn worst(&self, body_bytes: usize) -> Amount {
        let (input, output) = (worst_input(body_bytes), self.max_output.unwrap_or(0));
        Amount {
            cost: self.price.map_or(Money::ZERO, |price| price.worst(input, output)),
            unpriced: u64::from(self.price.is_none()),
            tokens: input.saturating_add(output),
            calls: 1,
        }
    }

    /// What a call that was answered comes to: its worst case, as far as the provider did not say what it used.
    fn spent(&self, usage: &Usage, body_bytes: usize) -> Amount {
        let worst = self.worst(body_bytes);
        Amount {
            cost: self.price.and_then(|price| price.cost(usage)).unwrap_or(worst.cost),
            tokens: usage.input.zip(usage.output).map_or(worst.tokens, |(input, output)| input.saturating_add(output)),
            ..worst
        }
    }
}

/// Terms of all models of a run, and its budget.
#[derive(Debug)]
pub(crate) struct Ledger {
    terms: Vec<Terms>,
    budget: Arc<Budget>,
}

impl Ledger {
    /// The ledger of `models` on `date` under `cap`.
    ///
    /// # Errors
    /// When the cap needs a price or a longest reply that is not known.
    pub(crate) fn new<'m>(
        models: impl IntoIterator<Item = &'m Model>,
        prices: &Prices,
        date: &str,
        cap: Cap,
    ) -> Result<Self, RunError> {
        let mut terms: Vec<Terms> = Vec::new();
        for model in models {
            if model.is_builtin() {
                continue;
            }
            let of = Terms::of(model, prices, date);
            if cap.cost.is_some() && of.price.is_none() {
                let provider = provider_of(&of.endpoint).to_owned();
                return Err(RunError::Unpriced { model: of.model, provider });
            }
            if cap.counts_tokens() && of.max_output.is_none() {
                return Err(RunError::Unbounded { model: of.model });
            }
            if !terms.contains(&of) {
                terms.push(of);
            }
        }
        Ok(Self { terms, budget: Arc::new(Budget::new(cap, Amount::default())) })
    }

    /// The same, with what the calls in `store` came to as spent. `model_of` says who answered a call; `paid_before`
    /// are calls that another run paid for.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn resumed<'m>(
        self,
        store: &Store,
        model_of: impl Fn(&Spent) -> Option<&'m Model>,
        paid_before: impl Fn(&CallKey) -> bool,
    ) -> Result<Self, RunError> {
        let mut spent = Amount::default();
        for call in store.spent()? {
            let terms = model_of(&call).and_then(|model| self.terms_of(model));
            let Some(terms) = terms.filter(|_| !paid_before(&call.key)) else { continue };
            let usage = Usage {
                input: call.tokens_in,
                cached: call.cached_tokens,
                cache_write: call.cache_write_tokens,
                output: call.tokens_out,
                ..Usage::default()
            };
            let is_counted = usage.input.is_some() && usage.output.is_some();
            let body_bytes = if is_counted { 0 } else { store.body_bytes(&call.body)? };
            spent = spent.plus(terms.spent(&usage, body_bytes));
        }
        let budget = Arc::new(Budget::new(self.budget.cap(), spent));
        Ok(Self { budget, ..self })
    }

    /// Reserves the worst case of a call.
    ///
    /// # Errors
    /// When nothing is known of the model, which the ledger was not made for; the inner one is that it does not fit.
    pub(crate) async fn reserve(
        &self,
        model: &Model,
        body: &Body,
    ) -> Result<Result<Reservation, OverBudget>, RunError> {
        let stranger = || RunError::Internal(format!("the ledger does not know the model \"{}\"", model.name()));
        let terms = self.terms_of(model).ok_or_else(stranger)?;
        Ok(self.budget.reserve(terms.worst(body.bytes.len())).await)
    }

    /// Puts what a call used in place of what was reserved for it.
    pub(crate) fn settle(&self, reservation: Reservation, model: &Model, usage: &Usage, body: &Body) {
        match self.terms_of(model) {
            Some(terms) => reservation.settle(terms.spent(usage, body.bytes.len())),
            None => drop(reservation),
        }
    }

    /// The cost of a call, where price and usage are known; a built-in model costs nothing.
    pub(crate) fn cost(&self, model: &Model, usage: &Usage) -> Option<Money> {
        if model.is_builtin() { Some(Money::ZERO) } else { self.terms_of(model)?.price?.cost(usage) }
    }

    /// What was spent, earlier starts included.
    pub(crate) fn spent(&self) -> Amount {
        self.budget.spent()
    }

    fn terms_of(&self, model: &Model) -> Option<&Terms> {
        self.terms.iter().find(|terms| terms.endpoint == model.endpoint() && terms.model == model.name())
    }
}
