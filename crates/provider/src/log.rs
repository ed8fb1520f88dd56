//! Where replies are kept: a call that was answered once is looked up, never made again.

use crate::key::CallKey;
use crate::reply::{Served, Usage};

/// A reply as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The reply's bytes.
    pub reply: Vec<u8>,
    /// Wall time of the answering attempt in microseconds.
    pub latency_us: u64,
    /// Attempts made.
    pub attempts: u32,
    /// Tokens.
    pub usage: Usage,
    /// Who answered.
    pub served: Served,
    /// The provider's own word for how the reply ended.
    pub reason: Option<String>,
}

/// A log of calls. `Context` is what the owner needs to file a call: which trial, which body.
pub trait CallLog {
    /// What the owner needs to file a call.
    type Context;
    /// What can go wrong.
    type Error;

    /// The reply of a call that was committed before.
    ///
    /// # Errors
    /// When the log cannot be read.
    fn look_up(&self, key: &CallKey) -> impl Future<Output = Result<Option<Logged>, Self::Error>> + Send;

    /// Notes that a call is about to be made, so that a start after a kill can say how many replies may
    /// have been paid for and lost.
    ///
    /// # Errors
    /// When the log cannot be written.
    fn reserve(&self, key: CallKey) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Keeps a reply; when this returns, the reply survives a crash.
    ///
    /// # Errors
    /// When the log cannot be written.
    fn commit(
        &self,
        key: CallKey,
        call: Self::Context,
        logged: Logged,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}
