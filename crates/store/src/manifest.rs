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
    /// The shields that the run has chosen; `None` where all of its arms' act.
    #[serde(default)]
    pub shields: Option<Vec<String>>,
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

impl Manifest {
    /// Repetitions of a cell of this arm and summarizer: counting one deterministic answer twice would be no sample.
    pub fn repetitions_of(&self, arm: &ArmInfo, summarizer: &SummarizerInfo) -> u32 {
        match (arm.asks, summarizer.kind) {
            (Asks::Summarizer, SummarizerKind::Llm) => self.repetitions,
            (Asks::Nobody, _) | (_, SummarizerKind::Builtin) => 1,
        }
    }
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
    /// Whom it asks.
    #[serde(default)]
    pub asks: Asks,
    /// blake3 of the prompt that the user supplied, in hex; `None` where the arm's own stands.
    #[serde(default)]
    pub supplied: Option<String>,
}

/// Whom an arm asks for a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// The summarizer.
    #[default]
    Summarizer,
    /// Nobody: what it leaves is the same whoever the summarizer would be, and however often it is asked for.
    Nobody,
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
    /// What its own chat template makes of the requests; `None` where the experiment names no template.
    #[serde(default)]
    pub template: Option<TemplateInfo>,
}

/// What a model's chat template makes of a run's requests. It decides no trial, so it is not in the digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateInfo {
    /// blake3 of the template's text, in hex.
    pub digest: String,
    /// Whose turn the plants end up in, by arm.
    pub turns: Vec<TurnsOf>,
}

/// Whose turn the plants of an arm's requests end up in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnsOf {
    /// The arm's name.
    pub arm: String,
    /// How many attacked requests there are of each answer, the most frequent answer first.
    pub answers: Vec<(String, u64)>,
}

/// What every run was sent as before there were other routes.
fn chat_completions() -> String {
    "chat-completions".to_owned()
}
