//! A shield: the redaction that a harness under test performs, as data. It acts before anything
//! it covers is sized or sent.

use std::ops::Range;

use laundromat_session::fault::Fault;
use laundromat_session::fields::{Document, Fields};
use regex::{Regex, RegexSet};

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
    /// The file's text. Two shields cover the same where their texts are equal, whatever they are called.
    source: String,
    rules: Vec<Rule>,
    /// Tells in one pass which rules can match at all.
    any: RegexSet,
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
            let has_text = fields.has("with");
            let text = fields.optional::<String>(&mut document, "with").map(Cover::Text);
            let has_ends = fields.has("ends");
            let ends = fields.table(&mut document, "ends").and_then(|fields| ends(&mut document, fields));
            if has_text == has_ends {
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
        document.finish(any.map(|any| Self { source: text.to_owned(), rules, any }))
    }

    /// The text of the shield's file.
    pub fn source(&self) -> &str {
        &self.source
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

/// Reads the table `ends` of a rule.
fn ends<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Cover> {
    let short = fields.required(document, "short");
    let head = fields.required(document, "head");
    let tail = fields.required(document, "tail");
    let middle = fields.required(document, "middle");
    fields.finish(document);
    Some(Cover::Ends { short: short?, head: head?, tail: tail?, middle: middle? })
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

#[cfg(test)]
mod tests {
    use super::Shield;

    #[test]
    fn every_fault_of_a_rule_is_named() {
        let text = "schema = \"laundromat-shield/1\"\nname = \"s\"\n[[rules]]\npattern = \"a\"\n\
                    ends = { shrot = 18, head = \"6\", tail = 4 }\n[[rules]]\npattern = \"b\"\n";
        let faults = Shield::parse(text).expect_err("faulty");
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let starts = [
            "5:8: rules[0].ends.short: the key \"short\" is missing; ",
            "5:8: rules[0].ends.middle: the key \"middle\" is missing; ",
            "5:10: rules[0].ends.shrot: unknown key \"shrot\"; did you mean \"short\"?",
            "5:29: rules[0].ends.head: invalid type: string",
            "6:1: rules[1].with: a rule needs either \"with\" or \"ends\"; ",
        ];
        assert_eq!(told.len(), starts.len(), "{told:#?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(start), "{told}");
        }
    }
}
