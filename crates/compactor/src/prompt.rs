//! Prompt templates: the instructions around the turns, as versioned data files.

use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use laundromat_session::holes;

use crate::view::SEPARATOR;

/// What `schema` says in a prompt file.
pub const SCHEMA: &str = "laundromat-prompt/1";
/// The holes a template must have, and where.
const TURNS: &str = "{turns}";
const BUDGET: &str = "{budget}";
const DATE: &str = "{date}";
const PREVIOUS: &str = "{previous}";

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
    /// The sections to write: holds `{budget}` and `{date}` once each, or those that `holes` names.
    pub structure: String,
    /// What to make of the turns where an earlier summary goes on; `task` where there is none.
    pub update: Option<String>,
    /// What stands around an earlier summary: holds `{previous}` once.
    pub previous: Option<String>,
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
        let preamble = part(&mut document, &mut root, "preamble", &[]);
        let task = part(&mut document, &mut root, "task", &[]);
        let turns = part(&mut document, &mut root, "turns", &[TURNS]);
        let holes = structure_holes(&mut document, &mut root);
        let structure = part(&mut document, &mut root, "structure", &holes);
        let update = root.has("update").then(|| part(&mut document, &mut root, "update", &[])).flatten();
        let previous = root.has("previous").then(|| part(&mut document, &mut root, "previous", &[PREVIOUS])).flatten();
        root.finish(&mut document);
        document.finish(name.zip(version).zip(preamble.zip(task)).zip(turns.zip(structure)).map(
            |(((name, version), (preamble, task)), (turns, structure))| Self {
                name,
                version,
                preamble,
                task,
                turns,
                structure,
                update,
                previous,
            },
        ))
    }

    /// The prompt with its holes filled.
    pub(crate) fn prose(&self, filling: Filling<'_>, earlier: Option<&str>) -> Prose<'_> {
        let (before, behind) = self.around_turns();
        let previous = earlier.map(|earlier| match &self.previous {
            Some(template) => template.replace(PREVIOUS, earlier),
            None => earlier.to_owned(),
        });
        let task = earlier.and(self.update.as_deref()).unwrap_or(&self.task);
        Prose {
            preamble: &self.preamble,
            task,
            structure: self.filled_structure(filling),
            before,
            behind,
            previous,
            state: earlier.map(str::to_owned),
        }
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

/// The instructions of one request: a prompt's parts, filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prose<'p> {
    pub(crate) preamble: &'p str,
    pub(crate) task: &'p str,
    pub(crate) structure: String,
    /// What stands directly before the turns.
    pub(crate) before: &'p str,
    /// What stands directly behind the turns.
    pub(crate) behind: &'p str,
    /// The earlier summary in its block.
    pub(crate) previous: Option<String>,
    /// The earlier summary itself.
    pub(crate) state: Option<String>,
}

impl Prose<'_> {
    /// The block of the earlier summary; empty where there is none.
    pub(crate) fn previous(&self) -> &str {
        self.previous.as_deref().unwrap_or_default()
    }

    /// Preamble, task and structure.
    pub(crate) fn all(&self) -> String {
        self.join(&[self.preamble, self.task, &self.structure])
    }

    /// Those of `parts` that hold anything, a blank line between them.
    pub(crate) fn join(&self, parts: &[&str]) -> String {
        let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        parts.join(SEPARATOR)
    }
}

fn part<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, key: &'static str, holes: &[&str]) -> Option<String> {
    let (text, span) = root.required_at::<String>(document, key)?;
    for problem in holes::problems(&text, holes) {
        document.fault(&span, key, problem, format!("write each of {} once and no other braces", holes::listed(holes)));
    }
    Some(text.trim_matches('\n').to_owned())
}

/// The holes that the structure has to hold. Most harnesses fill in neither length nor date.
fn structure_holes<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Vec<&'static str> {
    const NAMED: [(&str, &str); 2] = [("budget", BUDGET), ("date", DATE)];
    let Some((names, span)) = root.optional_at::<Vec<String>>(document, "holes") else {
        return vec![BUDGET, DATE];
    };
    let known = NAMED.map(|(name, _)| name);
    let unknown: Vec<&String> = names.iter().filter(|name| !known.contains(&name.as_str())).collect();
    for name in unknown {
        document.fault(&span, "holes", format!("unknown hole \"{name}\""), choose_remedy(name, &known));
    }
    NAMED.iter().filter(|(name, _)| names.iter().any(|wanted| wanted == name)).map(|(_, hole)| *hole).collect()
}
