//! The experiment file: what is crossed with what, read once into checked types.

use std::ops::Range;

use laundromat_judge::rules;
use laundromat_provider::Model;
use laundromat_session::canonical::is_id;
use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};

/// What `schema` says in an experiment file.
pub const SCHEMA: &str = "laundromat-experiment/1";

/// A summarizer of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summarizer {
    /// Its name in tables.
    pub name: String,
    /// The model.
    pub model: Model,
}

/// The judge of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// `builtin:rules`.
    Rules,
}

impl Judge {
    /// The judge's model name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => rules::NAME,
        }
    }
}

/// A checked experiment file. Paths and globs are relative to the file's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name; results go to a folder of this name.
    pub name: String,
    /// Seed of all choices.
    pub seed: u64,
    /// Paths or globs of session files.
    pub sessions: Vec<String>,
    /// Attacks and controls: names, or paths that end in `.toml`.
    pub attacks: Vec<String>,
    /// Arms: names, or paths that end in `.toml`. The first is the baseline of contrasts.
    pub arms: Vec<String>,
    /// The summarizers.
    pub summarizers: Vec<Summarizer>,
    /// The judge.
    pub judge: Judge,
    /// Repetitions of each cell.
    pub repetitions: u32,
    /// Most trials in flight.
    pub concurrency: usize,
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
    let seed = root.required(document, "seed");
    let sessions = names(document, root, "sessions");
    let attacks = names(document, root, "attacks");
    let arms = names(document, root, "arms");
    let summarizers = summarizers(document, root);
    let judge = root.required_table(document, "judge").and_then(|mut fields| {
        let model = fields.required_at::<String>(document, "model").and_then(|(model, span)| {
            if model == rules::NAME {
                return Some(Judge::Rules);
            }
            document.fault(
                &span,
                "judge.model",
                format!("unknown judge \"{model}\""),
                choose_remedy(&model, &[rules::NAME]),
            );
            None
        });
        fields.finish(document);
        model
    });
    let repetitions = root.optional_at::<u32>(document, "repetitions").unwrap_or((1, 0..0));
    check_repetitions(document, &repetitions, summarizers.as_deref().unwrap_or_default());
    let concurrency = root.table(document, "limits").and_then(|mut fields| {
        let concurrency = fields.optional_at::<usize>(document, "concurrency");
        if let Some((0, span)) = &concurrency {
            document.fault(span, "limits.concurrency", "0 trials in flight is no run", "write at least 1");
        }
        fields.finish(document);
        concurrency.map(|(concurrency, _)| concurrency)
    });
    Some(Experiment {
        name: name?.0,
        seed: seed?,
        sessions: sessions?,
        attacks: attacks?,
        arms: arms?,
        summarizers: summarizers?,
        judge: judge?,
        repetitions: repetitions.0,
        concurrency: concurrency.unwrap_or(32),
    })
}

fn check_repetitions(
    document: &mut Document<'_>,
    (repetitions, span): &(u32, Range<usize>),
    summarizers: &[Summarizer],
) {
    if *repetitions == 0 {
        document.fault(span, "repetitions", "0 repetitions run nothing", "write at least 1");
    }
    if *repetitions > 1 && summarizers.iter().any(|summarizer| Model::BUILTIN.contains(&summarizer.model.name())) {
        document.fault(
            span,
            "repetitions",
            "a built-in model gives the same answer every time",
            "write repetitions = 1",
        );
    }
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
        let path = fields.path_of("name");
        let name = fields.required_at::<String>(document, "name");
        let model_path = fields.path_of("model");
        let model = fields.required_at::<String>(document, "model").and_then(|(model, span)| {
            model
                .parse::<Model>()
                .map_err(|error| {
                    document.fault(&span, &model_path, error.to_string(), choose_remedy(&model, Model::BUILTIN))
                })
                .ok()
        });
        fields.finish(document);
        if let Some((name, span)) = &name {
            if !is_id(name) || name == "all" {
                document.fault(
                    span,
                    &path,
                    format!("\"{}\" cannot name a summarizer", name.escape_debug()),
                    "use letters, digits, '-', '_' or '.', and not \"all\"",
                );
            } else if out.iter().any(|other| other.name == *name) {
                document.fault(
                    span,
                    &path,
                    format!("the summarizer \"{name}\" stands twice"),
                    "give each its own name",
                );
            }
        }
        if let (Some((name, _)), Some(model)) = (name, model) {
            out.push(Summarizer { name, model });
        }
    }
    (!out.is_empty()).then_some(out)
}
