//! The plan: which trials there are, and what they will come to, before anything is spent.

use std::collections::{HashMap, HashSet};

use laundromat_judge::{Question, ask};
use laundromat_provider::Broken;
use laundromat_provider::budget::worst_input;
use laundromat_session::seed::Seed;
use laundromat_session::{Exposure, Message, tokens};
use laundromat_store::{Manifest, Trial, TrialId};
use rayon::prelude::*;

use crate::build::{self, Prepared, Subject};
use crate::error::RunError;
use crate::exec::protocol;
use crate::inputs::Inputs;
use crate::walk::Foreseen;

/// What a run of the inputs will come to. All tokens are estimates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Sessions.
    pub sessions: u64,
    /// Cells: specimen x arm x summarizer.
    pub cells: u64,
    /// Trials: cells x repetitions.
    pub trials: u64,
    /// Summarizer calls.
    pub summarizer_calls: u64,
    /// Judge calls at most: a summary that does not pass the gate needs none, an offline judge none at all.
    pub judge_calls: u64,
    /// Input tokens of all summarizer calls by the four-characters rule.
    pub input_tokens: u64,
    /// What is asked of each summarizer, in the experiment's order; empty where no model costs anything.
    pub demands: Vec<Demand>,
    /// What is asked of the judge at most, the summaries themselves left out.
    pub judge: Demand,
    /// Trials that ask several times, or make something of the reply.
    pub walked_trials: u64,
    /// Their calls at most: one that does not end normally is a trial's last. They are among the summarizer calls.
    pub walked_calls: u64,
    /// Trials that ask nobody.
    pub unasked_trials: u64,
    /// Trials whose own program makes the calls, which are in none of these numbers.
    pub exec_trials: u64,
    /// Bytes of the longest session that a program is told.
    pub exec_longest: usize,
    /// The largest request in characters, with the trial's name.
    pub largest: Option<(u64, String)>,
    /// Cells whose arm refuses, by trial name and reason.
    pub refused: Vec<(String, String)>,
    /// Specimens x arms in which a plant is not fully sent, by name.
    pub not_exposed: Vec<String>,
}

/// What is asked of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demand {
    /// Calls.
    pub calls: u64,
    /// Input tokens of all of them by the four-characters rule.
    pub input_tokens: u64,
    /// Input tokens at worst, as a budget reserves them.
    pub worst_input: u64,
    /// Replies to earlier calls that the requests hold and that are in neither number: nobody knows their length yet.
    pub replies: u64,
}

impl Demand {
    /// So many calls with a body of so many bytes.
    fn of(calls: u64, body_bytes: usize) -> Self {
        Self {
            calls,
            input_tokens: calls * tokens::estimate(body_bytes) as u64,
            worst_input: calls * worst_input(body_bytes),
            replies: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.worst_input += other.worst_input;
        self.replies += other.replies;
    }
}

/// Builds every request once, on all cores, and counts.
///
/// # Errors
/// When a session cannot be read or an attack has no place in one.
pub fn estimate(inputs: &Inputs, date: &str) -> Result<Estimate, RunError> {
    let parts: Vec<Estimate> =
        inputs.sessions.par_iter().map(|entry| of_session(inputs, entry, date)).collect::<Result<_, _>>()?;
    let mut sum = Estimate { demands: no_demands(inputs), ..Estimate::default() };
    for part in parts {
        sum.demands.iter_mut().zip(part.demands).for_each(|(sum, part)| sum.add(part));
        sum.judge.add(part.judge);
        sum.sessions += part.sessions;
        sum.cells += part.cells;
        sum.trials += part.trials;
        sum.summarizer_calls += part.summarizer_calls;
        sum.judge_calls += part.judge_calls;
        sum.walked_trials += part.walked_trials;
        sum.walked_calls += part.walked_calls;
        sum.unasked_trials += part.unasked_trials;
        sum.exec_trials += part.exec_trials;
        sum.exec_longest = sum.exec_longest.max(part.exec_longest);
        sum.input_tokens += part.input_tokens;
        sum.largest = sum.largest.max(part.largest);
        sum.refused.extend(part.refused);
        sum.not_exposed.extend(part.not_exposed);
    }
    sum.refused.sort();
    sum.not_exposed.sort();
    Ok(sum)
}

fn of_session(inputs: &Inputs, entry: &crate::inputs::SessionEntry, date: &str) -> Result<Estimate, RunError> {
    let session = inputs.session(entry)?;
    let judged = u64::from(inputs.experiment.judge.model().is_some());
    let mut part = Estimate { sessions: 1, demands: no_demands(inputs), ..Estimate::default() };
    for cell in build::cells(inputs, &session, date, |_, _, _| true)? {
        let name = format!("{}/{}/{}", cell.subject.session, cell.subject.attack, cell.arm);
        let repetitions = u64::from(inputs.repetitions_of(&cell.arm, cell.summarizer));
        part.cells += 1;
        part.trials += repetitions;
        let cost = Costs { inputs, subject: &cell.subject, summarizer: cell.summarizer, repetitions };
        let foreseen;
        let (asked, text): (Vec<Ask<'_>>, &str) = match &cell.prepared {
            Prepared::Refused(reason) => {
                part.refused.push((name, reason.clone()));
                continue;
            }
            // How many calls its program makes, and of what size, is known when it has made them.
            Prepared::Exec(specimen) => {
                part.exec_trials += repetitions;
                let told = serde_json::Value::from(protocol::messages(&specimen.session)).to_string();
                part.exec_longest = part.exec_longest.max(told.len());
                part.judge_calls += judged * repetitions;
                continue;
            }
            Prepared::Ready(messages) => (vec![Ask { messages, replies: 0 }], ""),
            Prepared::Walk(walk) => {
                foreseen = walk.foreseen().map_err(|refusal| RunError::Internal(refusal.to_string()))?;
                part.walked_trials += repetitions;
                part.walked_calls += repetitions * foreseen.len() as u64;
                (foreseen.iter().map(Ask::of).collect(), "")
            }
            Prepared::InPlace(text) => {
                part.unasked_trials += repetitions;
                (Vec::new(), text)
            }
        };
        match cost.of(&asked, text) {
            Err(broken) => part.refused.push((name, broken.to_string())),
            Ok((demand, judge)) => {
                part.demands[cell.summarizer].add(demand);
                part.judge.add(judge);
                part.summarizer_calls += repetitions * asked.len() as u64;
                part.judge_calls += judged * repetitions;
                if !asked.is_empty() {
                    part.input_tokens += repetitions * tokens::estimate(cell.input_chars as usize) as u64;
                    part.largest = part.largest.max(Some((cell.input_chars, name.clone())));
                }
                if cell.exposure != Exposure::Full {
                    part.not_exposed.push(format!("{name} ({})", cell.exposure));
                }
            }
        }
    }
    Ok(part)
}

fn no_demands(inputs: &Inputs) -> Vec<Demand> {
    vec![Demand::default(); inputs.experiment.summarizers.len()]
}

/// A call that is foreseen.
struct Ask<'a> {
    messages: &'a [Message],
    /// Replies to earlier calls that it will hold.
    replies: u64,
}

impl<'a> Ask<'a> {
    fn of(call: &'a Foreseen) -> Self {
        Self { messages: &call.request.messages, replies: call.replies as u64 }
    }
}

/// A cell, for what it will cost.
struct Costs<'a> {
    inputs: &'a Inputs,
    subject: &'a Subject,
    summarizer: usize,
    repetitions: u64,
}

impl Costs<'_> {
    /// What the cell asks of its summarizer, and of the judge beside the summary or with the `text` that is judged.
    /// Where nothing is paid for, no body is made.
    ///
    /// # Errors
    /// When a body would be refused by its destination.
    fn of(&self, asked: &[Ask<'_>], text: &str) -> Result<(Demand, Demand), Broken> {
        let experiment = &self.inputs.experiment;
        let model = &experiment.summarizers[self.summarizer].model;
        let (mut demand, mut judging) = (Demand::default(), Demand::default());
        if !model.is_builtin() || experiment.judge.model().is_some() {
            for ask in asked {
                let one = Demand::of(self.repetitions, model.body(ask.messages)?.bytes.len());
                demand.add(Demand { replies: self.repetitions * ask.replies, ..one });
            }
        }
        if let Some((judge, rubric)) = experiment.judge.model().zip(experiment.judge.rubric()) {
            let Subject { session, attack, plant, .. } = self.subject;
            let order = ask::order(Seed { seed: experiment.seed, session, attack });
            let body = judge.body(&ask::messages(rubric, Question::about(plant).statement, text, &order))?;
            judging = Demand::of(self.repetitions, body.bytes.len());
        }
        Ok((demand, judging))
    }
}

/// The trials of a run, and which of them are stored.
#[derive(Debug)]
pub struct Plan {
    stored: HashSet<TrialId>,
    planned: u64,
    /// Repetitions of a cell, by arm and summarizer.
    repetitions: HashMap<(String, String), u32>,
    /// Stored repetitions of each cell.
    finished: HashMap<(String, String, String, String), u32>,
}

impl Plan {
    /// The plan of `manifest`, given what is `stored`.
    pub fn new(manifest: &Manifest, stored: &[Trial]) -> Self {
        let pairs = manifest.arms.iter().flat_map(|arm| manifest.summarizers.iter().map(move |it| (arm, it)));
        let repetitions: HashMap<(String, String), u32> =
            pairs.map(|(arm, it)| ((arm.name.clone(), it.name.clone()), manifest.repetitions_of(arm, it))).collect();
        let specimens = (manifest.sessions.len() * manifest.attacks.len()) as u64;
        let planned = specimens * repetitions.values().copied().map(u64::from).sum::<u64>();
        let stored = || stored.iter().filter(|trial| trial.outcome.is_final());
        let mut finished: HashMap<_, u32> = HashMap::new();
        for trial in stored() {
            let id = &trial.id;
            *finished
                .entry((id.session.clone(), id.attack.clone(), id.arm.clone(), id.summarizer.clone()))
                .or_default() += 1;
        }
        Self { stored: stored().map(|trial| trial.id.clone()).collect(), planned, repetitions, finished }
    }

    /// All trials.
    pub fn planned(&self) -> u64 {
        self.planned
    }

    /// Trials stored when the plan was made.
    pub fn stored(&self) -> u64 {
        self.stored.len() as u64
    }

    /// Whether a repetition of this cell is still to be run.
    pub fn wants_cell(&self, session: &str, attack: &str, arm: &str, summarizer: &str) -> bool {
        let key = (session.to_owned(), attack.to_owned(), arm.to_owned(), summarizer.to_owned());
        let wanted = self.repetitions.get(&(arm.to_owned(), summarizer.to_owned()));
        self.finished.get(&key).is_none_or(|done| wanted.is_none_or(|wanted| done < wanted))
    }

    /// Whether this trial is still to be run.
    pub fn wants(&self, trial: &TrialId) -> bool {
        !self.stored.contains(trial)
    }
}
