//! The experiment file: what is crossed with what, read once into checked types. How fast and for how much is
//! in [`limits`].

pub mod limits;
pub mod lone;
pub(crate) mod primary;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use laundromat_injector::Matrix;
use laundromat_judge::{Rubric, rules};
use laundromat_provider::{Cap, Model, PriceList};
use laundromat_session::canonical::is_id;
use laundromat_session::fault::{Fault, Place};
use laundromat_session::fields::{Document, Fields};
use laundromat_store::PrimaryContrast;
use serde_json::{Map, Value};

use crate::error::RunError;
use crate::model_table::{Part, model};

pub use limits::Limits;

/// What `schema` says in an experiment file.
pub const SCHEMA: &str = "laundromat-experiment/1";

/// Characters that a note may have.
const NOTE_CHARS: usize = 200;

/// A summarizer of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summarizer {
    /// Its name in tables.
    pub name: String,
    /// The model.
    pub model: Model,
    /// Its own chat template: a file of Jinja, a `tokenizer_config.json` or a GGUF model.
    pub template: Option<PathBuf>,
}

/// An arm of an experiment by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmEntry {
    /// Its name, or a path that ends in `.toml`.
    pub name: String,
    /// Whether the gate looks at it where no arm is named.
    pub gate: bool,
    /// A file with the real text of the harness's prompt.
    pub prompt_from: Option<PathBuf>,
}

/// The judge of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judge {
    /// `builtin:rules`.
    Rules,
    /// A model.
    Model {
        /// The model.
        model: Box<Model>,
        /// What it is told.
        rubric: Rubric,
        /// Where that stands, beside the file that names it; `None` for the standard one.
        file: Option<PathBuf>,
    },
}

impl Judge {
    /// The judge's model name.
    pub fn name(&self) -> &str {
        match self {
            Self::Rules => rules::NAME,
            Self::Model { model, .. } => model.name(),
        }
    }

    /// The model that is asked, where one is.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Self::Rules => None,
            Self::Model { model, .. } => Some(model),
        }
    }

    /// The rubric, where a model is asked.
    pub fn rubric(&self) -> Option<&Rubric> {
        match self {
            Self::Rules => None,
            Self::Model { rubric, .. } => Some(rubric),
        }
    }

    /// Reads the rubric file that is named, from `folder`.
    ///
    /// # Errors
    /// When it cannot be read, or every fault of it.
    pub fn load_rubric(&mut self, folder: &Path) -> Result<(), RunError> {
        if let Self::Model { rubric, file: Some(file), .. } = self {
            let path = folder.join(file);
            let text = fs::read_to_string(&path).map_err(|error| {
                let remedy = "name a rubric file, or leave the key out for the standard rubric";
                let fault = Fault::new(Place::of_path(""), format!("cannot be read: {error}"), remedy);
                RunError::Faults { path: path.clone(), faults: vec![fault] }
            })?;
            *rubric = Rubric::parse(&text).map_err(|faults| RunError::Faults { path, faults })?;
        }
        Ok(())
    }
}

/// A checked experiment file. Paths and globs are relative to the file's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name; results go to a folder of this name.
    pub name: String,
    /// What must be read before any number of the run, for the titles of its views; empty for nothing.
    pub note: String,
    /// Seed of all choices.
    pub seed: u64,
    /// Paths or globs of session files.
    pub sessions: Vec<String>,
    /// Attacks and controls: names, or paths that end in `.toml`.
    pub attacks: Vec<String>,
    /// Axes of attacks that are crossed; each cell is one more attack.
    pub matrix: Option<Matrix>,
    /// Arms. The first is the baseline of contrasts.
    pub arms: Vec<ArmEntry>,
    /// The contrasts that the experiment is for; all others are exploratory.
    pub primary: Vec<PrimaryContrast>,
    /// The shields that act, by name, where the run chooses; `None` for all that its arms have.
    pub shields: Option<Vec<String>>,
    /// The summarizers.
    pub summarizers: Vec<Summarizer>,
    /// The judge.
    pub judge: Judge,
    /// Repetitions of each cell; a built-in model has one.
    pub repetitions: u32,
    /// Limits.
    pub limits: Limits,
    /// The most that a run may spend. It decides no trial, so a run goes on under another one.
    pub cap: Cap,
    /// Prices of the experiment's own.
    pub prices: PriceList,
    /// Folder of the run, from where laundromat is started; `results/<name>` where it is not given.
    pub output: Option<PathBuf>,
}

impl Experiment {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        let experiment = read(&mut document, &mut root);
        root.finish(&mut document);
        document.finish(experiment)
    }

    /// The settings that a model's destination would refuse and that are not sent, one sentence each.
    pub fn not_sent(&self) -> Vec<String> {
        let summarizers = self.summarizers.iter().map(|it| (it.name.as_str(), &it.model));
        let judge = self.judge.model().map(|model| ("the judge", model));
        let models = summarizers.chain(judge);
        models.flat_map(|(name, model)| model.dropped().iter().map(move |it| format!("{name}: {it}"))).collect()
    }

    /// Every model that is asked.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.summarizers.iter().map(|summarizer| &summarizer.model).chain(self.judge.model())
    }
}

/// A checked file that names a judge alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeFile {
    /// The judge.
    pub judge: Judge,
    /// Limits.
    pub limits: Limits,
    /// The most that may be spent.
    pub cap: Cap,
    /// Prices of the file's own.
    pub prices: PriceList,
}

/// Reads a file that names a judge alone: a `[judge]` table as in an experiment, with `[limits]`, `[budget]` and
/// `[[prices]]` where it has them.
///
/// # Errors
/// Every fault of the file.
pub fn parse_judge(text: &str) -> Result<JudgeFile, Vec<Fault>> {
    let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
    let judge = root.required_table(&mut document, "judge").and_then(|fields| judge(&mut document, fields));
    let limits = limits::limits(&mut document, &mut root);
    let cap = limits::budget(&mut document, &mut root);
    let prices = limits::prices(&mut document, &mut root);
    root.finish(&mut document);
    document.finish(judge.map(|judge| JudgeFile { judge, limits, cap, prices }))
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Experiment> {
    root.schema(document, SCHEMA);
    let name = root.required_at::<String>(document, "name");
    if let Some((name, span)) = &name
        && !is_id(name)
    {
        document.fault(
            span,
            "name",
            format!("\"{}\" cannot name a folder", name.escape_debug()),
            "use letters, digits, '-', '_' or '.'",
        );
    }
    let note = note(document, root);
    let seed = root.required(document, "seed");
    let sessions = names(document, root, "sessions");
    let attacks = names(document, root, "attacks");
    let matrix = root.table(document, "matrix").and_then(|fields| Matrix::read(document, fields));
    let arms = arms(document, root);
    let primary = primary::primary(document, root);
    let shields = root.optional(document, "shields");
    let summarizers = summarizers(document, root);
    let judge = root.required_table(document, "judge").and_then(|fields| judge(document, fields));
    let repetitions = root.optional_at::<u32>(document, "repetitions").unwrap_or((1, 0..0));
    check_repetitions(document, &repetitions, summarizers.as_deref().unwrap_or_default());
    let limits = limits::limits(document, root);
    let cap = limits::budget(document, root);
    let prices = limits::prices(document, root);
    let output = root.optional(document, "output");
    Some(Experiment {
        name: name?.0,
        note,
        seed: seed?,
        sessions: sessions?,
        attacks: attacks?,
        matrix,
        arms: arms?,
        primary,
        shields,
        summarizers: summarizers?,
        judge: judge?,
        repetitions: repetitions.0,
        limits,
        cap,
        prices,
        output,
    })
}

/// A note stands in titles: one line, short enough to be read there.
fn note<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> String {
    let Some((note, span)) = root.optional_at::<String>(document, "note") else { return String::new() };
    let note = note.trim().to_owned();
    if note.is_empty() || note.chars().any(char::is_control) || note.chars().count() > NOTE_CHARS {
        let remedy = format!("write one line of at most {NOTE_CHARS} characters, or leave the key out");
        document.fault(&span, "note", "a note stands in titles and this one does not fit there", remedy);
    }
    note
}

fn check_repetitions(
    document: &mut Document<'_>,
    (repetitions, span): &(u32, Range<usize>),
    summarizers: &[Summarizer],
) {
    if *repetitions == 0 {
        document.fault(span, "repetitions", "0 repetitions run nothing", "write at least 1");
    }
    let all_builtin = !summarizers.is_empty() && summarizers.iter().all(|summarizer| summarizer.model.is_builtin());
    if *repetitions > 1 && all_builtin {
        document.fault(
            span,
            "repetitions",
            "a built-in model gives the same answer every time",
            "write repetitions = 1",
        );
    }
}

fn judge<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Judge> {
    let judge = match fields.required_at::<String>(document, "model") {
        Some((name, _)) if name == rules::NAME => Some(Judge::Rules),
        Some(name) => asked(document, &mut fields, name),
        None => None,
    };
    fields.finish(document);
    judge
}

/// A model that judges, and what it is told.
fn asked<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>, name: (String, Range<usize>)) -> Option<Judge> {
    let file = fields.optional::<PathBuf>(document, "rubric");
    let model = model(document, fields, name, Part::Judge, &[rules::NAME])?;
    match Rubric::standard() {
        Ok(rubric) => Some(Judge::Model { model: Box::new(model), rubric, file }),
        // A test holds that there are no faults.
        Err(_) => None,
    }
}

/// An arm as a table: its name, and what may stand beside it.
fn arm_entry(table: &Map<String, Value>) -> Option<ArmEntry> {
    let known = table.keys().all(|key| ["name", "gate", "prompt-from"].contains(&key.as_str()));
    let name = table.get("name").and_then(Value::as_str).filter(|_| known)?.to_owned();
    let gate = table.get("gate").map_or(Some(false), Value::as_bool)?;
    let prompt_from = match table.get("prompt-from") {
        Some(file) => Some(PathBuf::from(file.as_str()?)),
        None => None,
    };
    Some(ArmEntry { name, gate, prompt_from })
}

/// Arms: names, or tables with a name and `gate = true` or the file of a prompt.
fn arms<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Vec<ArmEntry>> {
    let (values, span) = root.required_at::<Vec<Value>>(document, "arms")?;
    let mut arms: Vec<ArmEntry> = Vec::new();
    for value in values {
        let entry = match &value {
            Value::String(name) => Some(ArmEntry { name: name.clone(), gate: false, prompt_from: None }),
            Value::Object(table) => arm_entry(table),
            _ => None,
        };
        match entry {
            Some(entry) if arms.iter().any(|arm| arm.name == entry.name) => {
                document.fault(&span, "arms", format!("\"{}\" stands twice", entry.name), "keep it once");
            }
            Some(entry) => arms.push(entry),
            None => {
                let remedy = "write \"name\", or { name = \"name\", gate = true, prompt-from = \"file\" }";
                document.fault(&span, "arms", format!("{value} does not name an arm"), remedy);
            }
        }
    }
    if arms.is_empty() {
        document.fault(&span, "arms", "the list is empty", "name at least one of the arms");
    }
    Some(arms)
}

/// A list of names without doubles, at least one.
fn names<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, key: &'static str) -> Option<Vec<String>> {
    let (names, span) = root.required_at::<Vec<String>>(document, key)?;
    if names.is_empty() {
        document.fault(&span, key, "the list is empty", format!("name at least one of the {key}"));
    }
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            document.fault(&span, key, format!("\"{name}\" stands twice"), "keep it once");
        }
    }
    Some(names)
}

fn summarizers<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Vec<Summarizer>> {
    if !root.has("summarizers") {
        document.fault(
            &root.span(),
            "summarizers",
            "the key \"summarizers\" is missing",
            "add [[summarizers]] with name and model",
        );
    }
    let mut out: Vec<Summarizer> = Vec::new();
    for mut fields in root.tables(document, "summarizers") {
        let (path, span) = (fields.path_of("name"), fields.span());
        let name = fields.name(document, "a summarizer");
        let model = fields
            .required_at::<String>(document, "model")
            .and_then(|name| model(document, &mut fields, name, Part::Summarizer, Model::BUILTIN));
        let template = fields.optional(document, "template");
        fields.finish(document);
        if let Some(name) = name.as_ref().filter(|name| out.iter().any(|other| other.name == **name)) {
            document.fault(&span, &path, format!("the summarizer \"{name}\" stands twice"), "give each its own name");
        }
        if let (Some(name), Some(model)) = (name, model) {
            out.push(Summarizer { name, model, template });
        }
    }
    (!out.is_empty()).then_some(out)
}
