//! What an arm sends for a session, for commands that show it.

use laundromat_compactor::{Compactor, Given, Next, Request};

use crate::commands::load::Subject;
use crate::error::CliError;

/// What stands for a summarizer's answer where an arm needs one to go on; an empty object is a change
/// of a state that changes nothing.
pub(super) const NO_REPLY: &str = "{}";

/// The requests of one compaction, as far as they can be told without a summarizer.
pub(super) enum Sent {
    /// What the summarizer is asked, call by call.
    Asked(Vec<Request>),
    /// What stands in place of the turns, where nobody is asked.
    InPlace(Request),
}

impl Sent {
    /// All of them.
    pub(super) fn requests(&self) -> &[Request] {
        match self {
            Self::Asked(requests) => requests,
            Self::InPlace(request) => std::slice::from_ref(request),
        }
    }
}

/// Walks one compaction of the subject as of `date`.
pub(super) fn sent(compactor: &Compactor, subject: &Subject, date: &str) -> Result<Sent, CliError> {
    let view = compactor.view(compactor.records(&subject.session));
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    loop {
        let next = compactor.next(&view, Given { date, previous: None }, &replies);
        match next.map_err(|cause| CliError::Refused { arm: compactor.arm().name.clone(), cause })? {
            Next::Ask(request) => requests.push(request),
            Next::Replace(request) => return Ok(Sent::InPlace(request)),
            Next::Summary(_) => return Ok(Sent::Asked(requests)),
        }
        replies.push(NO_REPLY.to_owned());
    }
}
