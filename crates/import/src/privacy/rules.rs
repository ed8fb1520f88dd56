//! Rules as data: what comes along, and what a file adds.

use laundromat_session::Fault;
use laundromat_session::fault::choose_remedy;
use laundromat_session::fields::{Document, Fields};
use regex::{Regex, RegexBuilder};

/// What `schema` says in a file of rules, where it says anything: a configuration of gitleaks has none.
const SCHEMA: &str = "laundromat-privacy/1";
/// The rules that come along.
const EMBEDDED: &str = include_str!("rules.toml");
/// Largest compiled pattern of a rule, in bytes.
const PATTERN: usize = 4 << 20;
/// What a rule without a kind is counted as.
const KIND: &str = "vendor-key";

/// Where a match begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// At one of the keywords.
    Keyword,
    /// Anywhere in a text that has one of the keywords, if there are any.
    Anywhere,
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) keywords: Vec<String>,
    pub(super) begins: Begins,
    pub(super) regex: Regex,
    /// The group that is the secret; where it is 0 and there are groups, the first that took part.
    pub(super) group: usize,
    pub(super) entropy: f64,
    /// Values that are none.
    pub(super) allowed: Vec<Regex>,
}

/// The rules that come along.
///
/// # Errors
/// The faults of the rules; a test holds that there are none.
pub(super) fn embedded() -> Result<Vec<Rule>, Vec<Fault>> {
    parse(EMBEDDED)
}

/// The rules of a file: ours, or a gitleaks configuration.
///
/// # Errors
/// All faults of the file.
pub(super) fn parse(text: &str) -> Result<Vec<Rule>, Vec<Fault>> {
    let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
    if root.has("schema") {
        root.schema(&mut document, SCHEMA);
    }
    let tables = root.tables(&mut document, "rules");
    let rules: Vec<Rule> = tables.into_iter().filter_map(|fields| rule(fields, &mut document)).collect();
    if rules.is_empty() {
        document.fault(&root.span(), "rules", "there are no rules", "add [[rules]] with id and regex");
    }
    document.finish(Some(rules))
}

/// One rule. What gitleaks has beyond it (paths, descriptions, tags) is of no use here and passed over.
fn rule<'i>(mut fields: Fields<'i>, document: &mut Document<'i>) -> Option<Rule> {
    let id = fields.required::<String>(document, "id");
    let keywords = fields.optional::<Vec<String>>(document, "keywords").unwrap_or_default();
    let kind = fields.optional::<String>(document, "kind").unwrap_or_else(|| KIND.to_owned());
    let group = fields.optional::<usize>(document, "secretGroup").unwrap_or_default();
    let entropy = fields.optional::<f64>(document, "entropy").unwrap_or_default();
    let path = fields.path_of("begins");
    let begins = match fields.optional_at::<String>(document, "begins") {
        None => Begins::Anywhere,
        Some((word, span)) => match word.as_str() {
            "keyword" => Begins::Keyword,
            "anywhere" => Begins::Anywhere,
            _ => {
                let problem = format!("a match cannot begin \"{}\"", word.escape_debug());
                document.fault(&span, &path, problem, choose_remedy(&word, &["keyword", "anywhere"]));
                Begins::Anywhere
            }
        },
    };
    // A rule of gitleaks that looks at paths only has no pattern.
    if !fields.has("regex") && fields.has("path") {
        return None;
    }
    let path = fields.path_of("regex");
    let (pattern, span) = fields.required_at::<String>(document, "regex")?;
    let anchored = match begins {
        Begins::Keyword => format!(r"\A(?:{pattern})"),
        Begins::Anywhere => pattern,
    };
    let regex = match compiled(&anchored) {
        Ok(regex) => regex,
        Err(problem) => {
            document.fault(&span, &path, problem, "mend the pattern, in the syntax of the Rust crate regex");
            return None;
        }
    };
    if group >= regex.captures_len() {
        document.fault(&span, &path, format!("there is no group {group}"), "lower secretGroup, or add the group");
    }
    let mut allowed = Vec::new();
    for mut list in fields.tables(document, "allowlists") {
        for pattern in list.optional::<Vec<String>>(document, "regexes").unwrap_or_default() {
            match compiled(&pattern) {
                Ok(regex) => allowed.push(regex),
                Err(problem) => document.fault(&list.span(), &list.path_of("regexes"), problem, "mend the pattern"),
            }
        }
    }
    Some(Rule { id: id?, kind, keywords, begins, regex, group, entropy, allowed })
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(PATTERN).build().map_err(|error| {
        let text = error.to_string();
        format!("not a pattern: {}", text.lines().last().unwrap_or(&text).trim_start_matches("error: "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Begins, embedded, parse};

    #[test]
    fn the_rules_that_come_along_have_no_fault() {
        let rules = embedded().expect("no faults");
        assert!(rules.len() > 30);
        for rule in rules {
            assert!(!rule.keywords.is_empty(), "{}: searching every text is slow", rule.id);
            assert!(rule.keywords.iter().all(|word| !word.is_empty() && *word == word.to_lowercase()), "{}", rule.id);
        }
    }

    #[test]
    fn a_gitleaks_configuration_can_be_read() {
        let rules = parse(
            "title = \"x\"\n[allowlist]\npaths = ['a']\n[[rules]]\nid = \"a\"\ndescription = \"d\"\nregex = '''b(c)'''\n\
             secretGroup = 1\nentropy = 3\nkeywords = [\"b\"]\n[[rules.allowlists]]\nregexes = ['cc']\n\
             [[rules]]\nid = \"p\"\npath = 'x'\n",
        )
        .expect("no faults");
        assert_eq!(rules.len(), 1);
        assert_eq!((rules[0].group, rules[0].begins, rules[0].kind.as_str()), (1, Begins::Anywhere, "vendor-key"));
    }

    #[test]
    fn every_fault_of_a_file_is_told_with_its_place() {
        let faults = parse("[[rules]]\nid = 1\nregex = '('\n[[rules]]\nid = \"b\"\nregex = 'x'\nbegins = \"keywrd\"\n")
            .expect_err("faults");
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("2:6: rules[0].id: "), "{told:?}");
        assert!(told[1].starts_with("3:9: rules[0].regex: not a pattern: "), "{told:?}");
        assert!(told[2].ends_with("did you mean \"keyword\"?"), "{told:?}");
        assert!(parse("").is_err());
    }
}
