//! What happens in a run, as it happens. Consumers stand at the side: a terminal, a log, a live page.

use laundromat_provider::{Amount, OverBudget};
use laundromat_session::Outcome;
use laundromat_store::TrialId;

/// One event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run begins: so many trials are planned, so many are stored already.
    Started {
        /// All trials of the plan.
        planned: u64,
        /// Trials that an earlier start has finished.
        stored: u64,
        /// Calls that an earlier start made and got no reply to: they may be paid for again.
        asked: u64,
    },
    /// A trial is finished and handed to the store.
    Trial {
        /// Which trial.
        id: TrialId,
        /// What became of it.
        outcome: Outcome,
    },
    /// The run was asked to stop: what is in flight is finished and saved.
    Draining,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// All trials of the plan.
    pub planned: u64,
    /// Trials that are over, earlier starts included.
    pub stored: u64,
    /// Calls answered in this start.
    pub calls: u64,
    /// Attempts beyond the first that they took.
    pub retries: u64,
    /// What was spent, earlier starts included.
    pub spent: Amount,
    /// The run was asked to stop.
    pub interrupted: bool,
    /// Why the run gave up before its end.
    pub gave_up: Option<String>,
    /// Why the next call did not fit into the budget.
    pub over_budget: Option<OverBudget>,
}

impl Finished {
    /// Whether every planned trial is stored.
    pub fn is_complete(&self) -> bool {
        self.stored == self.planned
    }
}
