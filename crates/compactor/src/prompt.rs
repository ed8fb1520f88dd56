//! Prompt templates: the instructions around the turns, as versioned data files.

use laundromat_session::fault::Fault;
use laundromat_session::fields::Document;
use laundromat_session::holes;

/// What `schema` says in a prompt file.
pub const SCHEMA: &str = "laundromat-prompt/1";
/// The holes a template must have, and where.
const TURNS: &str = "{turns}";
const BUDGET: &str = "{budget}";
const DATE: &str = "{date}";

/// A prompt template. Every part is text without leading or trailing blank lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The template's name, its file name without `.toml`.
    pub name: String,
    /// Version of the wording; a changed wording is a new version.
    pub version: u32,
    /// Who the summarizer is and what it must not do.
    pub preamble: String,
    /// What to make of the turns.
    pub task: String,
    /// What stands around the turns: holds `{turns}` once.
    pub turns: String,
    /// The sections to write: holds `{budget}` and `{date}` once each.
    pub structure: String,
}

/// What the holes of a template are filled with.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'a> {
    /// Target length of the summary in tokens.
    pub budget: usize,
    /// The pinned date, `YYYY-MM-DD`.
    pub date: &'a str,
}

impl Prompt {
    /// Reads a template file.
    ///
    /// # Errors
    /// Every fault of the file; a missing, doubled or unknown hole included.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        root.schema(&mut document, SCHEMA);
        let name = root.required(&mut document, "name");
        let version = root.required(&mut document, "version");
        let mut part = |key: &'static str, holes: &[&str]| {
            let (text, span) = root.required_at::<String>(&mut document, key)?;
            for problem in holes::problems(&text, holes) {
                document.fault(
                    &span,
                    key,
                    problem,
                    format!("write each of {} once and no other braces", holes::listed(holes)),
                );
            }
            Some(text.trim_matches('\n').to_owned())
        };
        let preamble = part("preamble", &[]);
        let task = part("task", &[]);
        let turns = part("turns", &[TURNS]);
        let structure = part("structure", &[BUDGET, DATE]);
        root.finish(&mut document);
        document.finish(name.zip(version).zip(preamble.zip(task)).zip(turns.zip(structure)).map(
            |(((name, version), (preamble, task)), (turns, structure))| Self {
                name,
                version,
                preamble,
                task,
                turns,
                structure,
            },
        ))
    }

    /// The texts before and behind the turns.
    pub(crate) fn around_turns(&self) -> (&str, &str) {
        self.turns.split_once(TURNS).unwrap_or((&self.turns, ""))
    }

    /// The structure with its holes filled.
    pub(crate) fn filled_structure(&self, filling: Filling<'_>) -> String {
        self.structure.replace(BUDGET, &filling.budget.to_string()).replace(DATE, filling.date)
    }
}
