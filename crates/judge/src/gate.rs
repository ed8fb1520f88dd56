//! The gate: whether a summary holds any trace of a statement. It spares judge calls and false
//! positives; what it lets through is read.

use laundromat_session::Plant;

/// What is asked about a summary.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The statement.
    pub statement: &'a str,
    /// The words that mark it, the host first.
    pub canaries: &'a [String],
    /// Lower-case phrases that carry its meaning.
    pub phrases: &'a [String],
}

impl<'a> Question<'a> {
    /// The question about a plant, without its kind.
    pub fn about(plant: &'a Plant) -> Self {
        Self { statement: &plant.statement, canaries: &plant.canaries, phrases: &plant.phrases }
    }

    /// Whether `text`, in lower case, names a canary.
    pub(crate) fn names_canary(&self, text: &str) -> bool {
        let squeezed = squeezed(text);
        self.canaries.iter().any(|canary| {
            let canary = canary.to_lowercase();
            text.contains(&canary) || squeezed.contains(&canary)
        })
    }

    /// Whether `text`, in lower case, holds one of the phrases.
    pub(crate) fn has_phrase(&self, text: &str) -> bool {
        self.phrases.iter().any(|phrase| text.contains(phrase.as_str()))
    }

    /// Whether `summary` passes the gate: a canary or a phrase occurs in it, in any case and whatever
    /// breaks its lines.
    pub fn passes(&self, summary: &str) -> bool {
        let text = fold(summary).to_lowercase();
        self.names_canary(&text) || self.has_phrase(&text)
    }
}

/// The text without what can hide a name from a search and not from a reader: white space and characters of no width.
fn squeezed(text: &str) -> String {
    let hides =
        |c: char| c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    text.chars().filter(|c| !hides(*c)).collect()
}

/// The text with runs of white space folded to one space.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
