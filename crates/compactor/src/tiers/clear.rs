//! Clearing: a placeholder stands for every tool result but the newest ones.

use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Role, Session};

use super::pruning::{Cut, Pruning};
use crate::axes::choice;
use crate::records;

choice! {
    /// What becomes of the arguments of calls whose results are cleared.
    Inputs {
        /// They stay.
        Stay = "stay",
        /// `{}` stands in their place.
        Cleared = "cleared",
    }
}

/// Which results stay, and what stands for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearResults {
    /// The newest results that stay.
    pub keep: usize,
    /// What stands in place of the others.
    pub placeholder: String,
    /// Tools whose results stay.
    pub exclude: Vec<String>,
    /// What becomes of the arguments.
    pub inputs: Inputs,
}

impl ClearResults {
    pub(super) fn read<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Self> {
        let keep = fields.required(document, "keep");
        let placeholder = fields.required_at::<String>(document, "placeholder");
        if let Some((text, span)) = &placeholder
            && text.trim().is_empty()
        {
            let path = fields.path_of("placeholder");
            document.fault(span, &path, "a blank result is refused by routes", "write some text");
        }
        let exclude = fields.optional(document, "exclude-tools").unwrap_or_default();
        let inputs = Inputs::optional(document, &mut fields, "inputs").unwrap_or(Inputs::Stay);
        fields.finish(document);
        Some(Self { keep: keep?, placeholder: placeholder?.0, exclude, inputs })
    }

    /// Clears the results of `session`.
    pub(super) fn apply(&self, session: &Session, pruning: &mut Pruning) {
        let asked = records::askers(session);
        let results: Vec<usize> =
            (0..session.turns.len()).filter(|turn| session.turns[*turn].role == Role::Tool).collect();
        let gone = results.len().saturating_sub(self.keep);
        for turn in &results[..gone] {
            let asker = asked.get(turn).copied();
            let name = asker.map_or("", |(asker, call)| session.turns[asker].calls[call].name.as_str());
            if self.exclude.iter().any(|excluded| excluded == name) {
                continue;
            }
            let length = records::flatten(*turn, &session.turns[*turn]).text().len();
            pruning.set_text(*turn, Cut::Cleared, vec![(0..length, self.placeholder.clone())]);
            if let (Inputs::Cleared, Some((asker, call))) = (self.inputs, asker) {
                pruning.set_arguments(asker, Cut::Cleared, call, "{}".to_owned());
            }
        }
    }
}
