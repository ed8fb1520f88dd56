//! Calls, cells and trials as rows.

use laundromat_session::{CurrentRequest, Exposure, Outcome, Reading};

/// A call's key: blake3 over (purpose, endpoint, body, sample number, ordinal). See `runner`.
pub type CallKey = [u8; 32];

/// Which trial: a cell and its repetition, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId {
    /// The session's id.
    pub session: String,
    /// The attack's name.
    pub attack: String,
    /// The arm's name.
    pub arm: String,
    /// The summarizer's name.
    pub summarizer: String,
    /// The repetition, from 1.
    pub rep: u32,
}

/// What all repetitions of a cell share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// blake3 of the request body; `None` where the arm refused to build one.
    pub body: Option<[u8; 32]>,
    /// Characters sent.
    pub input_chars: u64,
    /// How much of the plant was sent.
    pub exposure: Exposure,
}

/// A trial's row.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Which trial.
    pub id: TrialId,
    /// What it shares with its repetitions.
    pub cell: Cell,
    /// Why it has a verdict, or why not.
    pub outcome: Outcome,
    /// One line about an outcome other than scored; empty otherwise.
    pub detail: String,
    /// Whether the judge's gate found a trace of the statement; `None` when not judged.
    pub gate: Option<bool>,
    /// How the summary presents the statement; `None` when not judged.
    pub reading: Option<Reading>,
    /// Whether the text is a summary at all; `None` when there is none.
    pub usable: Option<bool>,
    /// Characters of the model's own text.
    pub summary_chars: Option<u64>,
    /// Identifiers named at least twice in the session; `None` where recall does not apply.
    pub identifiers: Option<u64>,
    /// How many of them the summary names.
    pub found: Option<u64>,
    /// Input tokens, as the provider counted or as estimated.
    pub tokens_in: Option<u64>,
    /// Output tokens, as the provider counted or as estimated.
    pub tokens_out: Option<u64>,
    /// Cost of the trial's calls in US dollars, where known.
    pub cost: Option<f64>,
    /// The summarizer call; `None` where none was made.
    pub call: Option<CallKey>,
}

/// A call's row. Reply and body are kept as they were on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The call's key.
    pub key: CallKey,
    /// `summarize` or `judge`.
    pub purpose: String,
    /// Which trial asked.
    pub trial: TrialId,
    /// blake3 of the request body.
    pub body: [u8; 32],
    /// The reply's bytes, compressed with zstd.
    pub reply_zstd: Vec<u8>,
    /// Wall time of the answering attempt in microseconds.
    pub latency_us: u64,
    /// Attempts made.
    pub attempts: u32,
    /// Input tokens.
    pub tokens_in: Option<u64>,
    /// Input tokens served from a cache.
    pub cached_tokens: Option<u64>,
    /// Input tokens written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Output tokens, reasoning included.
    pub tokens_out: Option<u64>,
    /// Output tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The provider's own word for how the reply ended.
    pub finish_reason: Option<String>,
    /// The model that the provider says has answered.
    pub served_model: String,
    /// The provider behind a gateway, where the gateway says so.
    pub served_provider: Option<String>,
    /// The state of the provider's machine that a seed goes with.
    pub fingerprint: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// What a call has used, without what was sent and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// The call's key.
    pub key: CallKey,
    /// `summarize` or `judge`.
    pub purpose: String,
    /// The summarizer of the trial that asked.
    pub summarizer: String,
    /// blake3 of the request body.
    pub body: [u8; 32],
    /// Input tokens.
    pub tokens_in: Option<u64>,
    /// Input tokens served from a cache.
    pub cached_tokens: Option<u64>,
    /// Input tokens written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Output tokens.
    pub tokens_out: Option<u64>,
}

/// What the program of an exec arm did in a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Which trial.
    pub trial: TrialId,
    /// What was judged as the summary; `None` where there is none.
    pub summary: Option<String>,
    /// The context that the program gave back, as JSON text compressed with zstd; `None` where it gave none.
    pub context_zstd: Option<Vec<u8>>,
    /// What became of the request being answered; `None` where there is no context or no such request.
    pub request: Option<CurrentRequest>,
    /// The notes it gave back, as JSON text; empty for none.
    pub notes: String,
    /// What it asked, in the order of arrival.
    pub captured: Vec<Captured>,
}

/// What the program of an exec arm gave back in a trial, as far as tables show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// Which trial.
    pub trial: TrialId,
    /// Characters of what was judged as the summary; `None` where there is none.
    pub summary_chars: Option<u64>,
    /// What became of the request being answered; `None` where there is no context or no such request.
    pub request: Option<CurrentRequest>,
    /// The notes it gave back, as JSON text; empty for none.
    pub notes: String,
}

/// One request that the program of an exec arm sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// Its number in the trial, from 1, as they arrived.
    pub number: u32,
    /// The call that answered it; `None` where none did.
    pub key: Option<CallKey>,
    /// The wire shape it came in.
    pub shape: String,
    /// The model it named.
    pub model: String,
    /// Its body as it came, compressed with zstd.
    pub request_zstd: Vec<u8>,
    /// Characters of its conversation.
    pub chars: u64,
    /// How much of the plant is in it.
    pub exposure: Exposure,
    /// The role of the message that the plant stands in; empty where it stands in none.
    pub role: String,
    /// Which message that is, such as `message 2 of 3`; empty where it stands in none.
    pub place: String,
    /// What the call came to.
    pub outcome: Outcome,
    /// What it sent beside the conversation and its summarizer did not get, by name.
    pub left_out: String,
    /// The bound on the reply that it asked for, where that was the call's; `None` where the summarizer's own was.
    pub max_tokens: Option<u64>,
}
