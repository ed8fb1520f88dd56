//! A cap on what a run may spend, over all its starts, in money, tokens and calls.
//!
//! The worst case of a call is reserved before it is sent and settled by its usage afterwards. A call that does not
//! fit beside what is *spent* is over the budget for good; one that only does not fit beside what is *reserved* waits
//! until a call in flight is settled, since that mostly gives room back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::money::Money;

/// The most that may be spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cap {
    /// US dollars.
    pub cost: Option<Money>,
    /// Tokens, input and output together.
    pub tokens: Option<u64>,
    /// Calls that are answered.
    pub calls: Option<u64>,
}

impl Cap {
    /// This cap, with what `other` says in place of its own.
    pub fn overridden(self, other: Self) -> Self {
        Self { cost: other.cost.or(self.cost), tokens: other.tokens.or(self.tokens), calls: other.calls.or(self.calls) }
    }

    /// Whether the longest reply of a call has to be known.
    pub fn counts_tokens(self) -> bool {
        self.cost.is_some() || self.tokens.is_some()
    }
}

/// What one or many calls come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// US dollars of those calls that have a price.
    pub cost: Money,
    /// Calls without one.
    pub unpriced: u64,
    /// Tokens, input and output together.
    pub tokens: u64,
    /// Calls.
    pub calls: u64,
}

impl Amount {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            cost: self.cost + other.cost,
            unpriced: self.unpriced + other.unpriced,
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls + other.calls,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            cost: self.cost.less(other.cost),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}

/// Which cap a call does not fit under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// Money.
    #[error("{spent} of max-cost {cap} is spent, and the next call may cost {next}")]
    Cost {
        /// The cap.
        cap: Money,
        /// What is spent.
        spent: Money,
        /// The worst case of the next call.
        next: Money,
    },
    /// Tokens.
    #[error("{spent} of max-tokens {cap} are used, and the next call may use {next}")]
    Tokens {
        /// The cap.
        cap: u64,
        /// What is used.
        spent: u64,
        /// The worst case of the next call.
        next: u64,
    },
    /// Calls.
    #[error("{spent} of max-calls {cap} are made")]
    Calls {
        /// The cap.
        cap: u64,
        /// Calls made.
        spent: u64,
    },
}

/// What is spent and reserved under a cap.
#[derive(Debug)]
pub struct Budget {
    cap: Cap,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug)]
struct State {
    spent: Amount,
    reserved: Amount,
}

impl Budget {
    /// A budget of which `spent` is spent already.
    pub fn new(cap: Cap, spent: Amount) -> Self {
        let state = State { spent, reserved: Amount::default() };
        Self { cap, state: Mutex::new(state), settled: Notify::new() }
    }

    /// The cap.
    pub fn cap(&self) -> Cap {
        self.cap
    }

    /// What is spent.
    pub fn spent(&self) -> Amount {
        self.state().spent
    }

    /// Reserves `worst`, waiting for calls in flight where only they stand in its way.
    ///
    /// # Errors
    /// When it does not fit beside what is spent.
    pub async fn reserve(self: &Arc<Self>, worst: Amount) -> Result<Reservation, OverBudget> {
        loop {
            // Listening begins before looking, so that what is settled in between is not missed.
            let settled = self.settled.notified();
            if self.try_reserve(worst)? {
                return Ok(Reservation { budget: Arc::clone(self), reserved: Some(worst) });
            }
            settled.await;
        }
    }

    fn try_reserve(&self, worst: Amount) -> Result<bool, OverBudget> {
        let mut state = self.state();
        if let Some(over) = over(self.cap, state.spent, worst) {
            return Err(over);
        }
        let fits = over(self.cap, state.spent.plus(state.reserved), worst).is_none();
        if fits {
            state.reserved = state.reserved.plus(worst);
        }
        Ok(fits)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, reserved: Amount, spent: Amount) {
        let mut state = self.state();
        state.reserved = state.reserved.less(reserved);
        state.spent = state.spent.plus(spent);
        drop(state);
        self.settled.notify_waiters();
    }
}

fn over(cap: Cap, spent: Amount, next: Amount) -> Option<OverBudget> {
    if let Some(cap) = cap.cost.filter(|cap| spent.cost + next.cost > *cap) {
        return Some(OverBudget::Cost { cap, spent: spent.cost, next: next.cost });
    }
    if let Some(cap) = cap.tokens.filter(|cap| spent.tokens.saturating_add(next.tokens) > *cap) {
        return Some(OverBudget::Tokens { cap, spent: spent.tokens, next: next.tokens });
    }
    let cap = cap.calls.filter(|cap| spent.calls + next.calls > *cap)?;
    Some(OverBudget::Calls { cap, spent: spent.calls })
}

/// Room in a budget for one call. Dropped, it is given back.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    reserved: Option<Amount>,
}

impl Reservation {
    /// Puts what was `spent` in place of what was reserved.
    pub fn settle(mut self, spent: Amount) {
        if let Some(reserved) = self.reserved.take() {
            self.budget.settle(reserved, spent);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            self.budget.settle(reserved, Amount::default());
        }
    }
}

/// Input tokens of a body at worst: half as much again as four bytes a token gives. Text that is mostly code or
/// English stays below that by far; a text that does not is settled by what the provider counts.
pub fn worst_input(body_bytes: usize) -> u64 {
    (body_bytes as u64).saturating_mul(3).div_ceil(8)
}

/// The fields that bound a reply, as dotted paths, over all routes.
const BOUNDS: [&str; 5] = [
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "generationConfig.maxOutputTokens",
    "inferenceConfig.maxTokens",
];

/// Those of them that stand in `parameters`.
pub(crate) fn bounds(parameters: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    BOUNDS.into_iter().filter_map(|path| {
        let value = match path.split_once('.') {
            None => parameters.get(path),
            Some((outer, name)) => parameters.get(outer)?.get(name),
        };
        Some((path, value?))
    })
}

/// The longest reply that `parameters` allow, by whatever name the route has for it.
pub fn max_output(parameters: &Map<String, Value>) -> Option<u64> {
    // Where a body says it twice, the larger is the worst case.
    bounds(parameters).filter_map(|(_, value)| value.as_u64()).max()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::{Amount, Budget, Cap, OverBudget, max_output};
    use crate::money::Money;

    fn tokens(tokens: u64) -> Amount {
        Amount { tokens, calls: 1, ..Amount::default() }
    }

    #[tokio::test]
    async fn what_does_not_fit_beside_reservations_waits_and_beside_spending_is_refused() {
        let budget = Arc::new(Budget::new(Cap { tokens: Some(100), ..Cap::default() }, Amount::default()));
        let first = budget.reserve(tokens(60)).await.expect("room");
        let second = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.reserve(tokens(60)).await }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        first.settle(tokens(10));
        second.await.expect("joined").expect("room").settle(tokens(50));
        let refused = budget.reserve(tokens(60)).await.expect_err("over");
        assert_eq!(refused, OverBudget::Tokens { cap: 100, spent: 60, next: 60 });
        // What is given back was never spent.
        drop(budget.reserve(tokens(40)).await.expect("room"));
        assert_eq!(budget.spent(), Amount { calls: 2, ..tokens(60) });
    }

    #[tokio::test]
    async fn each_cap_holds_alone() {
        let dollars = |dollars| Money::from_dollars(dollars).expect("an amount");
        let next = Amount { cost: dollars(0.5), tokens: 10, calls: 1, unpriced: 0 };
        for (cap, said) in [
            (Cap { cost: Some(dollars(0.4)), ..Cap::default() }, "$0.0000 of max-cost $0.4000 is spent"),
            (Cap { tokens: Some(9), ..Cap::default() }, "0 of max-tokens 9 are used"),
            (Cap { calls: Some(0), ..Cap::default() }, "0 of max-calls 0 are made"),
        ] {
            let budget = Arc::new(Budget::new(cap, Amount::default()));
            let over = budget.reserve(next).await.expect_err("over").to_string();
            assert!(over.starts_with(said), "{over}");
        }
        Arc::new(Budget::new(Cap::default(), Amount::default())).reserve(next).await.expect("no cap");
    }

    proptest! {
        /// However calls interleave: as long as none uses more than its worst case, nothing beyond the cap is spent.
        #[test]
        fn the_cap_is_never_passed(cap in 1u64..500, steps in prop::collection::vec((0u8..2, 1u64..80, 0.0f64..1.0), 0..200)) {
            let budget = Arc::new(Budget::new(Cap { tokens: Some(cap), ..Cap::default() }, Amount::default()));
            let mut open = Vec::new();
            for (step, worst, share) in steps {
                if step == 0 {
                    if budget.try_reserve(tokens(worst)) == Ok(true) {
                        open.push(worst);
                    }
                } else if let Some(worst) = open.pop() {
                    budget.settle(tokens(worst), tokens((worst as f64 * share) as u64));
                }
                prop_assert!(budget.spent().tokens <= cap);
            }
        }
    }

    #[test]
    fn the_longest_reply_has_many_names() {
        for (parameters, most) in [
            (json!({"max_tokens": 64}), Some(64)),
            (json!({"max_completion_tokens": 10, "max_tokens": 20}), Some(20)),
            (json!({"generationConfig": {"maxOutputTokens": 30}}), Some(30)),
            (json!({"inferenceConfig": {"maxTokens": 40}}), Some(40)),
            (json!({"max_tokens": "many"}), None),
            (json!({}), None),
        ] {
            assert_eq!(max_output(parameters.as_object().expect("an object")), most, "{parameters}");
        }
    }
}
