//! A shield: the redaction that a harness under test performs, as data. It acts before anything
//! it covers is sized or sent.

use std::ops::Range;

use laundromat_session::fault::Fault;
use laundromat_session::fields::Document;
use regex::{Regex, RegexSet};
use serde::Deserialize;

use crate::tracked::Tracked;

/// What `schema` says in a shield file.
pub const SCHEMA: &str = "laundromat-shield/1";

/// What a rule writes in place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cover {
    /// A fixed text.
    Text(String),
    /// The first and last characters around a fixed text; a secret under `short` shows none.
    Ends { short: usize, head: usize, tail: usize, middle: String },
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: Regex,
    cover: Cover,
}

/// Ordered rules: each pattern's group `secret`, or its whole match, is covered.
#[derive(Debug, Clone)]
pub struct Shield {
    rules: Vec<Rule>,
    /// Tells in one pass which rules can match at all.
    any: RegexSet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    short: usize,
    head: usize,
    tail: usize,
    middle: String,
}

impl Shield {
    /// Reads a shield file.
    ///
    /// # Errors
    /// Every fault of the file, a pattern that is no regular expression included.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        root.schema(&mut document, SCHEMA);
        root.required::<String>(&mut document, "name");
        let mut rules = Vec::new();
        for mut fields in root.tables(&mut document, "rules") {
            fields.optional::<String>(&mut document, "covers");
            let pattern = fields.required_at::<String>(&mut document, "pattern").and_then(|(pattern, span)| {
                Regex::new(&pattern)
                    .map_err(|error| {
                        document.fault(
                            &span,
                            &fields.path_of("pattern"),
                            format!("not a regular expression: {}", last_line(&error)),
                            "mend the pattern",
                        )
                    })
                    .ok()
            });
            let text = fields.optional::<String>(&mut document, "with").map(Cover::Text);
            let ends = fields.optional::<Ends>(&mut document, "ends");
            let ends = ends.map(|Ends { short, head, tail, middle }| Cover::Ends { short, head, tail, middle });
            if text.is_some() == ends.is_some() {
                document.fault(
                    &fields.span(),
                    &fields.path_of("with"),
                    "a rule needs either \"with\" or \"ends\"",
                    "keep exactly one of them",
                );
            }
            fields.finish(&mut document);
            if let (Some(pattern), Some(cover)) = (pattern, text.or(ends)) {
                rules.push(Rule { pattern, cover });
            }
        }
        root.finish(&mut document);
        let any = RegexSet::new(rules.iter().map(|rule| rule.pattern.as_str())).ok();
        document.finish(any.map(|any| Self { rules, any }))
    }

    /// Covers every secret in `text`.
    pub fn apply(&self, text: &mut Tracked) {
        let hits = self.any.matches(text.text());
        if !hits.matched_any() {
            return;
        }
        for (index, rule) in self.rules.iter().enumerate() {
            if hits.matched(index) {
                let edits = rule.edits(text.text());
                text.replace(&edits);
            }
        }
    }
}

/// The line of a regex error that says what is wrong; the lines before it draw the pattern.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().next_back().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl Rule {
    fn edits(&self, text: &str) -> Vec<(Range<usize>, String)> {
        self.pattern
            .captures_iter(text)
            .filter_map(|found| found.name("secret").or_else(|| found.get(0)))
            .map(|secret| (secret.range(), self.cover.of(secret.as_str())))
            .collect()
    }
}

impl Cover {
    fn of(&self, secret: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Ends { short, head, tail, middle } => {
                let chars: Vec<char> = secret.chars().collect();
                if chars.len() < *short {
                    return "***".to_owned();
                }
                let start: String = chars.iter().take(*head).collect();
                let end: String = chars.iter().skip(chars.len().saturating_sub(*tail)).collect();
                format!("{start}{middle}{end}")
            }
        }
    }
}
