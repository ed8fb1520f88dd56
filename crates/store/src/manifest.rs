//! What a run is of: frozen when it is first started, compared on every later start.

use laundromat_session::PlantKind;
use serde::{Deserialize, Serialize};

/// The frozen description of a run. Lists stand in the order of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The experiment's name.
    pub name: String,
    /// What must be read before any number of the run, one line for its titles; empty for nothing. It decides no
    /// trial, so it is not in the digest.
    #[serde(default)]
    pub note: String,
    /// Version of laundromat that started the run.
    pub version: String,
    /// blake3 of everything here that decides a trial, in hex.
    pub digest: String,
    /// The date shown to every arm, `YYYY-MM-DD`: the day of the first start.
    pub date: String,
    /// The seed of all choices.
    pub seed: u64,
    /// Repetitions of each cell.
    pub repetitions: u32,
    /// The sessions.
    pub sessions: Vec<SessionInfo>,
    /// Attacks and controls.
    pub attacks: Vec<AttackInfo>,
    /// The arms; the first is the baseline of contrasts.
    pub arms: Vec<ArmInfo>,
    /// The contrasts that the experiment names as the ones it is for; everything else is exploratory.
    #[serde(default)]
    pub primary: Vec<PrimaryContrast>,
    /// The summarizers.
    pub summarizers: Vec<SummarizerInfo>,
    /// The judge's model, such as `builtin:rules`.
    pub judge: String,
    /// Where the judge is asked; empty for an offline one.
    #[serde(default)]
    pub judge_endpoint: String,
    /// What is sent to the judge beside model and messages, as JSON text.
    #[serde(default)]
    pub judge_parameters: String,
    /// Name and digest of what a judge model is told; empty for the standard rubric and for an offline judge.
    #[serde(default)]
    pub judge_rubric: String,
}

/// A session of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// The session's id.
    pub id: String,
    /// `constructed`, or the format it was imported from.
    pub origin: String,
    /// blake3 of its canonical form, in hex.
    pub digest: String,
    /// Turns, markers left out.
    pub turns: usize,
    /// Tool results.
    pub results: usize,
    /// Bytes of its canonical form.
    pub bytes: usize,
}

/// An attack or control of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackInfo {
    /// The attack's name.
    pub name: String,
    /// What kind of plant it makes.
    pub kind: PlantKind,
    /// blake3 of its data file, in hex.
    pub digest: String,
}

/// An arm of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmInfo {
    /// The arm's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The form that builds the request, such as `flat-user`.
    pub form: String,
    /// Whose words the prompt is in: `paraphrase` or `user-supplied`.
    pub prompt: String,
    /// The invariants that the harness it reproduces breaks, by id.
    pub faults: Vec<String>,
    /// blake3 of its data file and its prompt, in hex.
    pub digest: String,
    /// Whether the experiment marks it for the gate.
    #[serde(default)]
    pub gate: bool,
}

/// Two arms that the experiment is there to compare, frozen before the first call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryContrast {
    /// The arm whose rate the other's is taken from.
    pub first: String,
    /// The other arm.
    pub second: String,
}

/// What kind of model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SummarizerKind {
    /// A deterministic program, no LLM: its rows have no interval, z or p.
    Builtin,
    /// A language model.
    Llm,
}

/// A summarizer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummarizerInfo {
    /// Its name in tables.
    pub name: String,
    /// The model asked, such as `builtin:reader`.
    pub model: String,
    /// What kind of model that is.
    pub kind: SummarizerKind,
    /// Where it is asked, without credentials; empty for a built-in model.
    #[serde(default)]
    pub endpoint: String,
    /// The wire shape of its replies, by id.
    #[serde(default = "chat_completions")]
    pub route: String,
    /// What is sent beside model and messages, as JSON text; empty for nothing.
    #[serde(default)]
    pub parameters: String,
}

/// What every run was sent as before there were other routes.
fn chat_completions() -> String {
    "chat-completions".to_owned()
}
