//! A fault of a file that a person wrote: where it stands, what is wrong, what to do.

use std::fmt;

/// Where in a file a fault stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Line and column, both from 1, where known.
    pub line_column: Option<(usize, usize)>,
    /// The key, message or turn, such as `messages[3].role`; empty for the file as a whole.
    pub path: String,
}

impl Place {
    /// The place of byte `offset` in `text`, with the key `path`.
    pub fn of_byte(text: &str, offset: usize, path: impl Into<String>) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Self { line_column: Some((line, column)), path: path.into() }
    }

    /// A place known only by its path.
    pub fn of_path(path: impl Into<String>) -> Self {
        Self { line_column: None, path: path.into() }
    }
}

/// One fault. Problem and remedy are lower-case fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub place: Place,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl Fault {
    /// A fault at `place`.
    pub fn new(place: Place, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place, problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Fault {
    /// `line:column: path: problem; remedy`, leaving out what is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place.line_column {
            write!(f, "{line}:{column}: ")?;
        }
        if !self.place.path.is_empty() {
            write!(f, "{}: ", self.place.path)?;
        }
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

/// Faults of the file `file`, one a line, each with the file in front.
pub fn listed(file: &str, faults: &[Fault]) -> String {
    let lines: Vec<String> = faults
        .iter()
        .map(|fault| {
            // file:line:column reads as one place; without a line the fault follows behind a space.
            let gap = if fault.place.line_column.is_some() { "" } else { " " };
            format!("{file}:{gap}{fault}")
        })
        .collect();
    lines.join("\n")
}

/// ` (did you mean "x"?)` for the known word nearest to `word`, or nothing when none is near.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(nearness, _)| *nearness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// What to do about an unknown `word` where only `known` ones are allowed.
pub fn choose_remedy(word: &str, known: &[&str]) -> String {
    match suggestion(word, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known: {}", known.join(", ")),
    }
}
