//! The summarizer as one request of a program gets it: with the bound on the reply that the client asked for, where
//! that is the tighter one.

use std::borrow::Cow;

use laundromat_provider::Model;
use laundromat_provider::gateway::Request;

/// A summarizer, for one request.
#[derive(Debug)]
pub(super) struct Bounded<'m> {
    /// Who answers.
    pub(super) model: Cow<'m, Model>,
    /// The client's bound, where it is the call's.
    pub(super) max_tokens: Option<u64>,
    /// What the client sent and the summarizer does not get, by name, sorted.
    pub(super) left_out: Vec<String>,
}

impl<'m> Bounded<'m> {
    /// `model` for `request`.
    pub(super) fn of(model: &'m Model, request: &Request) -> Self {
        let mut left_out = request.left_out.clone();
        let Some(cap) = &request.cap else { return Self { model: Cow::Borrowed(model), max_tokens: None, left_out } };
        match model.within(cap.tokens) {
            Some(within) => Self { model: Cow::Owned(within), max_tokens: Some(cap.tokens), left_out },
            None => {
                left_out.push(cap.field.to_owned());
                left_out.sort();
                Self { model: Cow::Borrowed(model), max_tokens: None, left_out }
            }
        }
    }
}
