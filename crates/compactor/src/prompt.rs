//! Prompt templates: the instructions around the turns, as versioned data files.

use laundromat_session::fault::Fault;
use laundromat_session::fields::Document;

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
            for problem in hole_problems(&text, holes) {
                document.fault(
                    &span,
                    key,
                    problem,
                    format!("write each of {} once and no other braces", listed(holes)),
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

fn listed(holes: &[&str]) -> String {
    if holes.is_empty() { "no holes".to_owned() } else { holes.join(", ") }
}

/// What is wrong with the holes of `text`: every brace must belong to one of `holes`, each used once.
fn hole_problems(text: &str, holes: &[&str]) -> Vec<String> {
    let mut problems: Vec<String> = holes
        .iter()
        .filter_map(|hole| match text.matches(hole).count() {
            1 => None,
            0 => Some(format!("the hole {hole} is missing")),
            n => Some(format!("the hole {hole} stands {n} times")),
        })
        .collect();
    let rest = holes.iter().fold(text.to_owned(), |rest, hole| rest.replace(hole, ""));
    if let Some(at) = rest.find(['{', '}']) {
        let shown: String = rest[at..].chars().take(20).collect();
        problems.push(format!("an unknown hole or a stray brace at \"{}\"", shown.escape_debug()));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::hole_problems;

    #[test]
    fn holes_are_checked() {
        assert!(hole_problems("a {turns} b", &["{turns}"]).is_empty());
        assert_eq!(hole_problems("a", &["{turns}"]), ["the hole {turns} is missing"]);
        assert_eq!(hole_problems("{turns}{turns}", &["{turns}"]), ["the hole {turns} stands 2 times"]);
        assert_eq!(hole_problems("{turns:>5} {turns}", &["{turns}"]).len(), 1);
        assert_eq!(hole_problems("{turns!r} {turns}", &["{turns}"]).len(), 1);
        assert_eq!(
            hole_problems("{other} {turns}", &["{turns}"]),
            ["an unknown hole or a stray brace at \"{other} \""]
        );
    }
}
