//! A ready arm: its data files looked up and checked once, then a pure function of records and date.

use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Session, tokens};

use crate::arm::Arm;
use crate::presets;
use crate::prompt::{Filling, Prompt};
use crate::records::{self, Record};
use crate::request::Request;
use crate::shield::Shield;
use crate::view::View;

/// Longest target of a summary in tokens.
const MOST_TOKENS: usize = 10_000;
/// Shortest target of a summary in tokens.
const LEAST_TOKENS: usize = 2_000;

/// An arm with its prompt and shield.
#[derive(Debug, Clone)]
pub struct Compactor {
    arm: Arm,
    prompt: Prompt,
    shield: Option<Shield>,
}

/// Why an arm would not build a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// What would be sent is over the arm's own bound.
    #[error("the turns come to {chars} characters and cannot be cut to the arm's bound of {limit}")]
    OverBound {
        /// Characters that would be sent.
        chars: usize,
        /// The bound.
        limit: usize,
    },
    /// Nothing is left to summarize.
    #[error("no turn is left to summarize; check the arm's window")]
    Nothing,
}

impl Compactor {
    /// An arm whose prompt and shield come with laundromat.
    ///
    /// # Errors
    /// A prompt or shield that does not exist, or has faults.
    pub fn new(arm: Arm) -> Result<Self, Vec<Fault>> {
        let prompt = presets::prompt(&arm.prompt)
            .ok_or_else(|| unknown("prompt", &arm.prompt, &presets::prompt_names()))
            .and_then(Prompt::parse)?;
        let shield = match &arm.shield {
            None => None,
            Some(name) => Some(
                presets::shield(name)
                    .ok_or_else(|| unknown("shield", name, &presets::shield_names()))
                    .and_then(Shield::parse)?,
            ),
        };
        Ok(Self::assemble(arm, prompt, shield))
    }

    /// An arm with its prompt and shield.
    pub fn assemble(arm: Arm, prompt: Prompt, shield: Option<Shield>) -> Self {
        Self { arm, prompt, shield }
    }

    /// The arm.
    pub fn arm(&self) -> &Arm {
        &self.arm
    }

    /// The shield.
    pub fn shield(&self) -> Option<&Shield> {
        self.shield.as_ref()
    }

    /// The prompt template.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// The records of `session` that the arm's window takes in.
    pub fn records(&self, session: &Session) -> Vec<Record> {
        records::records(session, self.arm.window, self.shield.as_ref(), self.arm.scrub)
    }

    /// The view of `records` within the arm's caps.
    pub fn view(&self, records: Vec<Record>) -> View {
        View::new(records, &self.arm.caps)
    }

    /// Builds the request for `session` as of `date` (`YYYY-MM-DD`).
    ///
    /// # Errors
    /// When the arm refuses.
    pub fn request(&self, session: &Session, date: &str) -> Result<Request, Refusal> {
        self.request_of(&self.view(self.records(session)), date)
    }

    /// Builds the request for a view.
    ///
    /// # Errors
    /// When the arm refuses.
    pub fn request_of(&self, view: &View, date: &str) -> Result<Request, Refusal> {
        if view.records.is_empty() {
            return Err(Refusal::Nothing);
        }
        let structure = self.prompt.filled_structure(Filling { budget: self.target_tokens(view), date });
        let request = self.arm.form.build(view, &self.arm, &self.prompt, &structure);
        if let Some(total) = &self.arm.caps.total {
            let chars = request.chars() - self.instruction_chars(&structure);
            if chars > total.limit {
                return Err(Refusal::OverBound { chars, limit: total.limit });
            }
        }
        Ok(request)
    }

    /// Target length: a fifth of the turns, at most a twentieth of the context window, within fixed ends.
    fn target_tokens(&self, view: &View) -> usize {
        let chars: usize = view.kept().map(|index| view.records[index].text.text().chars().count()).sum();
        let most = MOST_TOKENS.min(self.arm.context_tokens / 20);
        (tokens::estimate(chars) / 5).min(most).max(LEAST_TOKENS) + self.arm.extra_tokens
    }

    /// Characters of the request that are not turns.
    fn instruction_chars(&self, structure: &str) -> usize {
        use crate::forms::Form;
        use crate::view::SEPARATOR;
        let prose = [self.prompt.preamble.as_str(), &self.prompt.task, structure];
        let prose: usize = prose.iter().map(|text| text.chars().count()).sum();
        let around = self.prompt.turns.chars().count() - "{turns}".len();
        match self.arm.form {
            Form::FlatUser => prose + around + 3 * SEPARATOR.len(),
            Form::FlatSplit => prose + around + 2 * SEPARATOR.len(),
            Form::Typed => {
                prose + 2 * SEPARATOR.len() + self.arm.pointer.as_deref().map_or(0, |pointer| pointer.chars().count())
            }
        }
    }
}

fn unknown(key: &str, name: &str, known: &[&str]) -> Vec<Fault> {
    vec![Fault::new(Place::of_path(key), format!("unknown {key} \"{name}\""), choose_remedy(name, known))]
}
