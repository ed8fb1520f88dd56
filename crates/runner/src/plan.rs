//! The plan: which trials there are, and what they will come to, before anything is spent.

use std::collections::{HashMap, HashSet};

use laundromat_judge::{Question, ask};
use laundromat_provider::Broken;
use laundromat_provider::budget::worst_input;
use laundromat_session::seed::Seed;
use laundromat_session::{Message, tokens};
use laundromat_store::{Manifest, SummarizerInfo, SummarizerKind, Trial, TrialId};
use rayon::prelude::*;

use crate::build::{self, Prepared, Subject};
use crate::error::RunError;
use crate::exec::protocol;
use crate::inputs::Inputs;

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
}

impl Demand {
    /// So many calls with a body of so many bytes.
    fn of(calls: u64, body_bytes: usize) -> Self {
        Self {
            calls,
            input_tokens: calls * tokens::estimate(body_bytes) as u64,
            worst_input: calls * worst_input(body_bytes),
        }
    }

    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.worst_input += other.worst_input;
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
        let repetitions = u64::from(inputs.experiment.repetitions_of(cell.summarizer));
        part.cells += 1;
        part.trials += repetitions;
        match cell.prepared {
            Prepared::Refused(reason) => part.refused.push((name, reason)),
            // How many calls its program makes, and of what size, is known when it has made them.
            Prepared::Exec(specimen) => {
                part.exec_trials += repetitions;
                let told = serde_json::Value::from(protocol::messages(&specimen.session)).to_string();
                part.exec_longest = part.exec_longest.max(told.len());
                part.judge_calls += judged * repetitions;
            }
            Prepared::Ready(messages) => {
                if let Err(broken) = demand(inputs, &mut part, (&cell.subject, cell.summarizer), &messages) {
                    part.refused.push((name, broken.to_string()));
                    continue;
                }
                part.summarizer_calls += repetitions;
                part.judge_calls += judged * repetitions;
                part.input_tokens += repetitions * tokens::estimate(cell.input_chars as usize) as u64;
                part.largest = part.largest.max(Some((cell.input_chars, name.clone())));
                if cell.exposure != laundromat_session::Exposure::Full {
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

/// Adds what a cell asks of its summarizer and of the judge. Where nothing is paid for, no body is made.
///
/// # Errors
/// When a body would be refused by its destination.
fn demand(
    inputs: &Inputs,
    part: &mut Estimate,
    (subject, summarizer): (&Subject, usize),
    messages: &[Message],
) -> Result<(), Broken> {
    let experiment = &inputs.experiment;
    let repetitions = u64::from(experiment.repetitions_of(summarizer));
    let model = &experiment.summarizers[summarizer].model;
    if !model.is_builtin() || experiment.judge.model().is_some() {
        part.demands[summarizer].add(Demand::of(repetitions, model.body(messages)?.bytes.len()));
    }
    if let Some((judge, rubric)) = experiment.judge.model().zip(experiment.judge.rubric()) {
        let order = ask::order(Seed { seed: experiment.seed, session: &subject.session, attack: &subject.attack });
        let question = Question::about(&subject.plant);
        let body = judge.body(&ask::messages(rubric, question.statement, "", &order))?;
        part.judge.add(Demand::of(repetitions, body.bytes.len()));
    }
    Ok(())
}

/// The trials of a run, and which of them are stored.
#[derive(Debug)]
pub struct Plan {
    stored: HashSet<TrialId>,
    planned: u64,
    /// Repetitions of each summarizer's cells.
    repetitions: HashMap<String, u32>,
    /// Stored repetitions of each cell.
    finished: HashMap<(String, String, String, String), u32>,
}

impl Plan {
    /// The plan of `manifest`, given what is `stored`.
    pub fn new(manifest: &Manifest, stored: &[Trial]) -> Self {
        let repetitions = |summarizer: &SummarizerInfo| match summarizer.kind {
            SummarizerKind::Builtin => 1,
            SummarizerKind::Llm => manifest.repetitions,
        };
        let specimens = (manifest.sessions.len() * manifest.attacks.len() * manifest.arms.len()) as u64;
        let planned =
            manifest.summarizers.iter().map(|summarizer| u64::from(repetitions(summarizer)) * specimens).sum();
        let stored = || stored.iter().filter(|trial| trial.outcome.is_final());
        let mut finished: HashMap<_, u32> = HashMap::new();
        for trial in stored() {
            let id = &trial.id;
            *finished
                .entry((id.session.clone(), id.attack.clone(), id.arm.clone(), id.summarizer.clone()))
                .or_default() += 1;
        }
        Self {
            stored: stored().map(|trial| trial.id.clone()).collect(),
            planned,
            repetitions: manifest.summarizers.iter().map(|it| (it.name.clone(), repetitions(it))).collect(),
            finished,
        }
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
        self.finished.get(&key).is_none_or(|done| self.repetitions.get(summarizer).is_none_or(|wanted| done < wanted))
    }

    /// Whether this trial is still to be run.
    pub fn wants(&self, trial: &TrialId) -> bool {
        !self.stored.contains(trial)
    }
}
