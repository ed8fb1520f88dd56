//! Exit codes, each with one meaning.

use std::process::ExitCode as Process;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitCode {
    /// What was asked for is done.
    Pass = 0,
    /// This program is at fault, or its store failed.
    Internal = 1,
    /// What was written or pointed at is at fault.
    Usage = 2,
    /// The gate can say neither pass nor fail.
    Inconclusive = 3,
    /// The files named hold nothing to work on.
    NothingSelected = 4,
    /// Some trials are not done; the same command goes on.
    Incomplete = 5,
    /// The next call does not fit into the budget; the same command with a higher cap goes on.
    BudgetReached = 6,
    /// A rate is above what the gate allows, or a wire vector fails.
    GateFailed = 100,
    /// Stopped by the user.
    Interrupted = 130,
}

impl From<ExitCode> for Process {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
