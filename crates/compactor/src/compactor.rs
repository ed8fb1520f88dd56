//! A ready arm: its data files looked up and checked once, then a pure function of records and date.

use std::borrow::Cow;

use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Message, Session, Turn, tokens};

use crate::arm::{Arm, Invariant};
use crate::axes::Previous;
use crate::escape::Escaper;
use crate::forms::{Material, Step, empty_state};
use crate::keep::{Boundary, Keep, Sized};
use crate::next_context::{Covers, NextContext, Unsound};
use crate::partition::{Beside, Partition};
use crate::pipeline::{self, Pipeline, Start};
use crate::presets;
use crate::prompt::{Filling, Prompt};
use crate::records::{self, Record, Selected, Shielded};
use crate::request::Request;
use crate::sections;
use crate::shield::{Shield, ShieldChoice, UnknownShield};
use crate::tiers::Pruning;
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
    downgrade: Option<Box<Compactor>>,
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
    /// A turn holds what the transcript is fenced with.
    #[error("the turns hold the reserved delimiter \"{delimiter}\", and a fence that they close is none")]
    Delimiter {
        /// The delimiter.
        delimiter: String,
    },
    /// The arm makes several calls, and one was asked for.
    #[error("the arm needs {calls} calls for this session, and a trial makes one")]
    ManyCalls {
        /// How many.
        calls: usize,
    },
    /// The arm asks no model.
    #[error("the arm asks no model, so there is no request")]
    NoModel,
    /// The reply to a form that keeps a state is no change of it.
    #[error("the reply is no JSON object, so the state was not changed")]
    NoChange,
}

/// What a compaction is given beside the session.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The pinned date, `YYYY-MM-DD`.
    pub date: &'a str,
    /// The summary of the compaction before, for arms that keep a slot for it.
    pub previous: Option<&'a str>,
}

/// What a compaction does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It asks the summarizer.
    Ask(Request),
    /// It has its summary.
    Summary(String),
    /// It asks nobody: these messages stand in place of the turns.
    Replace(Request),
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
        let downgrade = arm.downgrade.as_deref().and_then(|name| downgrade(name, &prompt)).map(Box::new);
        Self { arm, prompt, shield, downgrade }
    }

    /// With the shields that a run chose.
    ///
    /// # Errors
    /// A name that the arm has no shield of.
    pub fn shielded(mut self, choice: &ShieldChoice) -> Result<Self, UnknownShield> {
        self.shield = match self.shield {
            Some(shield) => shield.chosen(choice)?,
            None => choice.of_none()?,
        };
        if let Some(downgrade) = self.downgrade.take() {
            // It has shields of its own, and a name that it has not is none of it.
            let only = choice.within(downgrade.shield.iter().flat_map(Shield::names));
            self.downgrade = Some(Box::new(downgrade.shielded(&only)?));
        }
        Ok(self)
    }

    /// What acts where a request of this arm is over the context window.
    pub fn downgrade(&self) -> Option<&Self> {
        self.downgrade.as_deref()
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
        self.selected(session, &Selected { pruning: &Pruning::default(), takes: &|_| true })
    }

    fn selected(&self, session: &Session, selected: &Selected<'_>) -> Vec<Record> {
        let at = |boundary| self.shield.as_ref().filter(|_| self.arm.shield_covers.contains(&boundary));
        let shielded = Shielded { user: at(Boundary::SummarizerUser), other: at(Boundary::SummarizerOther) };
        records::selected(session, self.arm.window, shielded, self.arm.scrub, selected)
    }

    /// Which turns are summarized and which stay; `None` where the arm does not say, or nothing is to do.
    pub fn partition(&self, session: &Session) -> Option<Partition> {
        self.parted(session, &Pruning::default())
    }

    /// The parts of a session that tiers have pruned.
    fn parted(&self, session: &Session, pruning: &Pruning) -> Option<Partition> {
        let keep = self.arm.keep.as_ref()?;
        let cost = |number: usize, turn: &Turn| self.cost(keep, pruning, number, turn);
        let partition = Partition::new(session, keep, Beside::of(self.arm.after.as_ref()), &cost);
        (!partition.is_idle()).then_some(partition)
    }

    /// Tokens of a turn, before or behind the shield.
    fn cost(&self, keep: &Keep, pruning: &Pruning, number: usize, turn: &Turn) -> usize {
        let price = self.arm.price;
        match (keep.sized, pruning.cut(number)) {
            (Sized::AsSent, _) if self.shield.is_some() => price.turn(&self.covers().turn(&pruning.turn(number, turn))),
            (_, Some(_)) => price.turn(&pruning.turn(number, turn)),
            (_, None) => price.turn(turn),
        }
    }

    /// The whole of a compaction up to the summarizer: trigger, tiers, and what is summarized.
    ///
    /// # Errors
    /// A statement about a turn that does not hold, or a request that would be lost where the arm does not
    /// declare that.
    pub fn pipeline(&self, session: &Session, start: Start) -> Result<Pipeline, Unsound> {
        let none = Pruning::default();
        let tail = self.arm.keep.as_ref().map_or(session.turns.len(), |keep| {
            Partition::tail_by_size(session, keep, &|number, turn| self.cost(keep, &none, number, turn))
        });
        // What no longer fills more than a tail once it is pruned is parted as it was before.
        let part = |pruning: &Pruning| self.parted(session, pruning).or_else(|| self.partition(session));
        pipeline::run(&self.arm, session, start, tail, &part)
    }

    /// The view of the turns that `partition` has summarized.
    pub fn summarized(&self, session: &Session, partition: &Partition) -> View {
        self.view_of(session, &Pruning::default(), partition)
    }

    /// The view of the turns that `pipeline` has summarized, as tiers left them; `None` where it has none.
    pub fn pruned_view(&self, session: &Session, pipeline: &Pipeline) -> Option<View> {
        let partition = pipeline.partition.as_ref()?;
        Some(self.view_of(session, &pipeline.pruning, partition))
    }

    fn view_of(&self, session: &Session, pruning: &Pruning, partition: &Partition) -> View {
        let takes = |turn: usize| partition.old.contains(&turn) || partition.system.contains(&turn);
        self.view(self.selected(session, &Selected { pruning, takes: &takes }))
    }

    /// The context in which `summary` stands for what was summarized.
    ///
    /// # Errors
    /// A statement about it that does not hold.
    pub fn next_context(
        &self,
        session: &Session,
        partition: &Partition,
        summary: &str,
    ) -> Result<Option<NextContext>, Unsound> {
        let Some(after) = &self.arm.after else { return Ok(None) };
        let old = |turn: usize| partition.old.contains(&turn);
        let sections = || self.selected(session, &Selected { pruning: &Pruning::default(), takes: &old });
        let summary = match after.sections.is_empty() {
            true => Cow::Borrowed(summary),
            false => Cow::Owned(sections::with_sections(&after.sections, summary, &session.id, &sections())),
        };
        NextContext::new(session, partition, after, &summary, &self.covers()).map(Some)
    }

    /// The same behind a pipeline: kept turns stand as tiers left them.
    ///
    /// # Errors
    /// A statement about it that does not hold.
    pub fn pruned_next(
        &self,
        session: &Session,
        pipeline: &Pipeline,
        summary: &str,
    ) -> Result<Option<NextContext>, Unsound> {
        match &pipeline.partition {
            Some(partition) => self.next_context(&pipeline.pruning.session(session), partition, summary),
            None => Ok(None),
        }
    }

    /// The shield where the arm has it act on the next context.
    fn covers(&self) -> Covers<'_> {
        Covers { shield: self.shield.as_ref(), at: &self.arm.shield_covers }
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
    /// When the arm refuses, asks no model, or needs more than one call.
    pub fn request_of(&self, view: &View, date: &str) -> Result<Request, Refusal> {
        let given = Given { date, previous: None };
        let calls = self.arm.form.calls(view, &self.arm);
        if calls > 1 {
            return Err(Refusal::ManyCalls { calls });
        }
        match self.next(view, given, &[])? {
            Next::Ask(request) => Ok(request),
            Next::Summary(_) | Next::Replace(_) => Err(Refusal::NoModel),
        }
    }

    /// What comes after `replies`, the summarizer's answers so far. A pure function: a compaction of
    /// several calls is walked by asking again with one more reply.
    ///
    /// # Errors
    /// When the arm refuses.
    pub fn next(&self, view: &View, given: Given<'_>, replies: &[String]) -> Result<Next, Refusal> {
        if view.records.is_empty() {
            return Err(Refusal::Nothing);
        }
        let (built, next): (_, fn(Request) -> Next) =
            match self.with_material(view, given, |from| self.arm.form.step(from, replies))? {
                Step::Summary(text) => return Ok(Next::Summary(text)),
                Step::Ask(built) => (built, Next::Ask),
                Step::Replace(built) => (built, Next::Replace),
            };
        if let Some(simple) = &self.downgrade
            && self.tokens(&built.request) > self.arm.context_tokens
        {
            return simple.next(&simple.view(view.records.clone()), given, replies);
        }
        match &self.arm.caps.total {
            // An arm may leave out all that there is.
            _ if built.turn_chars == 0 => Err(Refusal::Nothing),
            Some(total) if built.turn_chars > total.limit && !self.breaks_bound() => {
                Err(Refusal::OverBound { chars: built.turn_chars, limit: total.limit })
            }
            _ => Ok(next(built.request)),
        }
    }

    /// Tokens of a request, by the arm's estimator.
    pub fn tokens(&self, request: &Request) -> usize {
        let by = self.arm.price.by;
        let calls = |message: &Message| -> usize {
            message.calls.iter().map(|call| by.tokens(&call.name) + by.tokens(&call.arguments)).sum()
        };
        request.messages.iter().map(|message| by.tokens(&message.text) + calls(message)).sum()
    }

    /// The harness cuts to its bound and then sends more, which is the fault that is to be measured.
    fn breaks_bound(&self) -> bool {
        self.arm.faults.contains(&Invariant::BoundedInput)
    }

    fn with_material<T>(&self, view: &View, given: Given<'_>, use_it: impl FnOnce(Material<'_>) -> T) -> T {
        let empty;
        let previous = match (given.previous, &self.arm.state) {
            (None, Some(lists)) => {
                empty = empty_state(lists);
                Some(empty.as_str())
            }
            (previous, _) => previous.filter(|_| self.arm.previous == Previous::Slot),
        };
        // What keeps turns from writing marks keeps an earlier summary from it too.
        let escaper = self.arm.escape.as_ref().map(Escaper::new);
        let escaped = previous.zip(escaper.as_ref()).map(|(text, escaper)| escaper.text(text));
        let previous = escaped.as_deref().or(previous);
        let filling = Filling { budget: self.target_tokens(view), date: given.date };
        use_it(Material { view, arm: &self.arm, prose: &self.prompt.prose(filling, previous) })
    }

    /// Target length: a fifth of the turns, at most a twentieth of the context window, within fixed ends.
    fn target_tokens(&self, view: &View) -> usize {
        let most = MOST_TOKENS.min(self.arm.context_tokens / 20);
        (tokens::estimate(view.kept_chars()) / 5).min(most).max(LEAST_TOKENS) + self.arm.extra_tokens
    }
}

/// The embedded arm that takes over; it does not hand over once more. Where it has the same prompt, it says
/// it in the same words.
fn downgrade(name: &str, prompt: &Prompt) -> Option<Compactor> {
    let arm = Arm::parse(presets::arm(name)?).ok()?;
    let shares = arm.prompt == prompt.name;
    let mut simple = Compactor::new(Arm { downgrade: None, ..arm }).ok()?;
    if shares {
        simple.prompt = prompt.clone();
    }
    Some(simple)
}

fn unknown(key: &str, name: &str, known: &[&str]) -> Vec<Fault> {
    vec![Fault::new(Place::of_path(key), format!("unknown {key} \"{name}\""), choose_remedy(name, known))]
}
