//! A shield: the redaction that a harness under test performs, as data. It acts before anything
//! it covers is sized or sent.
//!
//! Rules act in order, each on what the one before it left. A run can choose among the shields of an arm.

use std::ops::Range;

use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use regex::{Captures, Regex, RegexSet};

use crate::tracked::{Piece, Tracked};

mod template;

use template::Template;

/// What `schema` says in a shield file.
pub const SCHEMA: &str = "laundromat-shield/1";

/// Which of an arm's shields act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShieldChoice {
    /// All of them.
    All,
    /// Those with these names; none where there are no names.
    Only(Vec<String>),
}

/// A shield was chosen that the arm does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arm has no shield \"{name}\"; {remedy}")]
pub struct UnknownShield {
    /// The name.
    pub name: String,
    /// What to write.
    pub remedy: String,
}

impl ShieldChoice {
    /// The choice for an arm without shields.
    pub(crate) fn of_none<T>(&self) -> Result<Option<T>, UnknownShield> {
        match self {
            Self::All => Ok(None),
            Self::Only(names) => match names.first() {
                None => Ok(None),
                Some(name) => Err(UnknownShield { name: name.clone(), remedy: "choose none".to_owned() }),
            },
        }
    }

    /// What is left of the choice among `names`.
    pub(crate) fn within<'a>(&self, names: impl Iterator<Item = &'a str>) -> Self {
        match self {
            Self::All => Self::All,
            Self::Only(chosen) => {
                Self::Only(names.filter(|name| chosen.iter().any(|it| it == name)).map(str::to_owned).collect())
            }
        }
    }
}

/// What a rule writes in place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cover {
    /// A fixed text for the secret.
    Text(String),
    /// The first and last characters around a fixed text; a secret under `short` shows none.
    Ends { short: usize, head: usize, tail: usize, middle: String },
    /// A template for the whole match, which may name groups of it.
    Template(Template),
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: Regex,
    cover: Cover,
}

/// Ordered rules: each pattern's group `secret`, or its whole match, is covered.
#[derive(Debug, Clone)]
pub struct Shield {
    /// The files' text. Two shields cover the same where their texts are equal, whatever they are called.
    source: String,
    parts: Vec<Part>,
    rules: Vec<Rule>,
    /// Tells in one pass which rules can match at all.
    any: RegexSet,
}

/// The rules of one file.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    source: String,
    /// How many they are.
    rules: usize,
}

impl Shield {
    /// Reads a shield file.
    ///
    /// # Errors
    /// Every fault of the file, a pattern that is no regular expression and a template that names a group its
    /// pattern does not have included.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        root.schema(&mut document, SCHEMA);
        let name = root.required::<String>(&mut document, "name");
        let case = root.optional(&mut document, "case-sensitive").unwrap_or(true);
        let rules: Vec<Rule> = root
            .tables(&mut document, "rules")
            .into_iter()
            .filter_map(|fields| rule(&mut document, fields, case))
            .collect();
        root.finish(&mut document);
        let part = |name| Part { name, source: text.to_owned(), rules: rules.len() };
        let parts = name.map(|name| vec![part(name)]);
        document.finish(parts.and_then(|parts| Self::of(parts, rules)))
    }

    fn of(parts: Vec<Part>, rules: Vec<Rule>) -> Option<Self> {
        let any = RegexSet::new(rules.iter().map(|rule| rule.pattern.as_str())).ok()?;
        let source = parts.iter().map(|part| part.source.as_str()).collect::<Vec<_>>().join("\n");
        Some(Self { source, parts, rules, any })
    }

    /// One shield of several, their rules in order; `None` of none.
    pub fn joined(shields: Vec<Self>) -> Option<Self> {
        let (mut parts, mut rules) = (Vec::new(), Vec::new());
        for shield in shields {
            parts.extend(shield.parts);
            rules.extend(shield.rules);
        }
        if parts.is_empty() { None } else { Self::of(parts, rules) }
    }

    /// The names of the shields that this one is joined of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.name.as_str())
    }

    /// What is left of it by a choice.
    ///
    /// # Errors
    /// A name that it is not joined of.
    pub fn chosen(self, choice: &ShieldChoice) -> Result<Option<Self>, UnknownShield> {
        let ShieldChoice::Only(names) = choice else { return Ok(Some(self)) };
        let known: Vec<&str> = self.names().collect();
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(UnknownShield { name: name.clone(), remedy: choose_remedy(name, &known) });
        }
        let mut rules = self.rules.into_iter();
        let (mut parts, mut chosen) = (Vec::new(), Vec::new());
        for part in self.parts {
            let own = rules.by_ref().take(part.rules);
            if names.contains(&part.name) {
                chosen.extend(own);
                parts.push(part);
            } else {
                own.for_each(drop);
            }
        }
        Ok(if parts.is_empty() { None } else { Self::of(parts, chosen) })
    }

    /// The text of the shield's files.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Covers every secret in `text`.
    pub fn apply(&self, text: &mut Tracked) {
        let hits = self.any.matches(text.text());
        if !hits.matched_any() {
            return;
        }
        let mut is_changed = false;
        for (index, rule) in self.rules.iter().enumerate() {
            // What a rule wrote may be matched by the rules behind it.
            if is_changed || hits.matched(index) {
                is_changed |= rule.apply(text);
            }
        }
    }
}

/// Reads a rule.
fn rule<'i>(document: &mut Document<'i>, mut fields: Fields<'i>, case: bool) -> Option<Rule> {
    fields.optional::<String>(document, "covers");
    let case = fields.optional(document, "case-sensitive").unwrap_or(case);
    let pattern = fields.required_at::<String>(document, "pattern").and_then(|(pattern, span)| {
        let cased = if case { pattern } else { format!("(?i:{pattern})") };
        Regex::new(&cased)
            .map_err(|error| {
                let problem = format!("not a regular expression: {}", last_line(&error));
                document.fault(&span, &fields.path_of("pattern"), problem, "mend the pattern")
            })
            .ok()
    });
    let given = ["with", "ends", "replacement"].into_iter().filter(|key| fields.has(key)).count();
    let text = fields.optional::<String>(document, "with").map(Cover::Text);
    let ends = fields.table(document, "ends").and_then(|fields| ends(document, fields));
    let template = fields.optional_at::<String>(document, "replacement").and_then(|(text, span)| {
        let template = Template::parse(&text, pattern.as_ref()?);
        template
            .map_err(|problem| {
                let remedy = "write groups as \\1 or \\g<name>, and a backslash as two";
                document.fault(&span, &fields.path_of("replacement"), problem, remedy)
            })
            .ok()
    });
    if given != 1 {
        document.fault(
            &fields.span(),
            &fields.path_of("with"),
            "a rule needs one of \"with\", \"ends\" and \"replacement\"",
            "keep exactly one of them",
        );
    }
    fields.finish(document);
    Some(Rule { pattern: pattern?, cover: text.or(ends).or(template.map(Cover::Template))? })
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
    /// Covers what the rule matches; whether it matched.
    fn apply(&self, text: &mut Tracked) -> bool {
        text.rewrite(|text, covered| {
            for found in self.pattern.captures_iter(text) {
                if let Some((range, pieces)) = self.edit(&found) {
                    covered.splice(range, &pieces);
                }
            }
        })
    }

    fn edit(&self, found: &Captures<'_>) -> Option<(Range<usize>, Vec<Piece>)> {
        let secret = || found.name("secret").or_else(|| found.get(0));
        let own = |text: String| vec![Piece::Own(text)];
        match &self.cover {
            Cover::Text(text) => Some((secret()?.range(), own(text.clone()))),
            Cover::Ends { short, head, tail, middle } => {
                let secret = secret()?;
                let chars = secret.as_str().chars();
                let length = chars.clone().count();
                if length < *short {
                    return Some((secret.range(), own("***".to_owned())));
                }
                let start: String = chars.clone().take(*head).collect();
                let end: String = chars.skip(length.saturating_sub(*tail)).collect();
                Some((secret.range(), own(format!("{start}{middle}{end}"))))
            }
            Cover::Template(template) => Some((found.get(0)?.range(), template.pieces(found))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shield, ShieldChoice};
    use crate::tracked::{Origin, Tracked};

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
            "6:1: rules[1].with: a rule needs one of \"with\", \"ends\" and \"replacement\"; ",
        ];
        assert_eq!(told.len(), starts.len(), "{told:#?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(start), "{told}");
        }
    }

    fn covered(shield: &Shield, text: &str) -> String {
        let mut tracked = Tracked::default();
        tracked.push_copied(text, Origin { turn: 0, part: 0 });
        shield.apply(&mut tracked);
        for run in tracked.runs() {
            assert_eq!(tracked.text()[run.at..run.at + run.len], text[run.from..run.from + run.len]);
        }
        tracked.text().to_owned()
    }

    fn shield(name: &str, rules: &[(&str, &str)]) -> Shield {
        let rules =
            rules.iter().map(|(pattern, with)| format!("[[rules]]\npattern = '{pattern}'\nreplacement = '{with}'\n"));
        let rules: String = rules.collect();
        let text = format!("schema = \"laundromat-shield/1\"\nname = \"{name}\"\ncase-sensitive = false\n{rules}");
        Shield::parse(&text).expect("no faults")
    }

    #[test]
    fn rules_act_on_what_the_one_before_them_left() {
        let chained = shield("s", &[("bob", "ticket 7"), (r"ticket (\d)", r"[\1]")]);
        assert_eq!(covered(&chained, "ask BOB"), "ask [7]");
        // The other way round the second rule finds nothing.
        let other = shield("s", &[(r"ticket (\d)", r"[\1]"), ("bob", "ticket 7")]);
        assert_eq!(covered(&other, "ask bob"), "ask ticket 7");
    }

    #[test]
    fn groups_stand_where_the_template_says() {
        let rules = shield("s", &[(r"(?P<who>\S+)@(\S+)", r"\g<who> at \2\\")]);
        assert_eq!(covered(&rules, "to bob@example.org now"), "to bob at example.org\\ now");
        let told = |with: &str| {
            let text = format!(
                "schema = \"laundromat-shield/1\"\nname = \"s\"\n[[rules]]\npattern = '(a)'\nreplacement = '{with}'\n"
            );
            Shield::parse(&text).expect_err("faulty")[0].to_string()
        };
        assert!(told(r"\2").contains("rules[0].replacement: the pattern has no group 2; "), "{}", told(r"\2"));
        assert!(told(r"\g<b>").contains("the pattern has no group \"b\""));
        assert!(told(r"\q").contains("an unknown escape at \"\\q\""));
    }

    #[test]
    fn a_run_chooses_among_the_shields_of_an_arm() {
        let both = || Shield::joined(vec![shield("a", &[("x", "1")]), shield("b", &[("y", "2")])]).expect("two");
        let only = |names: &[&str]| ShieldChoice::Only(names.iter().map(ToString::to_string).collect());
        let chosen = |choice| both().chosen(&choice).expect("known").map(|shield| covered(&shield, "xy"));
        assert_eq!(chosen(ShieldChoice::All).as_deref(), Some("12"));
        assert_eq!(chosen(only(&["b"])).as_deref(), Some("x2"));
        assert_eq!(chosen(only(&[])), None);
        let unknown = both().chosen(&only(&["a", "c"])).expect_err("unknown");
        assert!(unknown.to_string().starts_with("the arm has no shield \"c\"; "), "{unknown}");
        assert!(only(&["a"]).of_none::<()>().is_err() && ShieldChoice::All.of_none::<()>().is_ok());
    }
}
