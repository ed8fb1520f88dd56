//! Clamping: long texts of the assistant's and long arguments of its calls lose their middle. What a person
//! said and what a tool printed stays whole.

use std::ops::Range;

use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Role, Session};

use super::pruning::{Cut, Pruning};
use crate::caps;
use crate::estimate::Estimator;
use crate::labelled::fill;
use crate::tracked::char_offset;

/// What is too long, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clamp {
    /// Texts and arguments of more tokens are clamped.
    pub most_tokens: usize,
    /// Characters kept at the start.
    pub head: usize,
    /// Characters kept at the end.
    pub tail: usize,
    /// What stands between; may hold `{omitted}` and `{total}`.
    pub marker: String,
}

/// The key under which clamped arguments stand: the text is no JSON any more.
const CLAMPED: &str = "_clamped";

impl Clamp {
    pub(super) fn read<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Self> {
        let most_tokens = fields.required(document, "most-tokens");
        let head = fields.required(document, "head");
        let tail = fields.required(document, "tail");
        let marker = caps::text_marker(document, &mut fields, "marker");
        fields.finish(document);
        Some(Self { most_tokens: most_tokens?, head: head?, tail: tail?, marker: marker? })
    }

    /// Clamps the turns of `session`.
    pub(super) fn apply(&self, session: &Session, by: Estimator, pruning: &mut Pruning) {
        let assistant = session.turns.iter().enumerate().filter(|(_, turn)| turn.role == Role::Assistant);
        for (number, turn) in assistant {
            let text = turn.text();
            if let Some((range, marker)) = self.clamped(&text, by) {
                // Edits count in the flattened turn, which is the text where there is nothing but text.
                if turn.parts.len() == 1 {
                    pruning.set_text(number, Cut::Clamped, vec![(range, marker)]);
                }
            }
            for (place, call) in turn.calls.iter().enumerate() {
                if let Some((range, marker)) = self.clamped(&call.arguments, by) {
                    let (head, tail) = (&call.arguments[..range.start], &call.arguments[range.end..]);
                    let object = serde_json::json!({ CLAMPED: format!("{head}{marker}{tail}") });
                    pruning.set_arguments(number, Cut::Clamped, place, object.to_string());
                }
            }
        }
    }

    /// The middle that goes and what stands for it, where that makes a text that is too long shorter.
    fn clamped(&self, text: &str, by: Estimator) -> Option<(Range<usize>, String)> {
        if by.tokens(text) <= self.most_tokens {
            return None;
        }
        let total = text.chars().count();
        let omitted = total.checked_sub(self.head + self.tail).filter(|omitted| *omitted > 0)?;
        let holes = [("{omitted}", &*omitted.to_string()), ("{total}", &total.to_string())];
        let marker = fill(&self.marker, &holes);
        let range = char_offset(text, self.head)..char_offset(text, total - self.tail);
        (marker.chars().count() < omitted).then_some((range, marker))
    }
}
