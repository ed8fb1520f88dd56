//! Gold sets: summaries whose reading is known, for measuring a judge.
//!
//! JSON lines: a header with the statements that are asked about, then one line for each summary. What its labels rest
//! on stands in the header (`construction` for those that come with laundromat, `labellers` for what `judge label`
//! writes), and no figure may claim more.

use std::collections::{BTreeMap, HashSet};

use laundromat_session::Reading;
use serde::{Deserialize, Serialize};

use crate::gate::Question;

/// What `schema` says in a gold set's first line.
pub const SCHEMA: &str = "laundromat-gold/1";

/// The gold set that comes with laundromat.
pub const BUNDLED: &str = include_str!("../../../scenarios/judge/gold.jsonl");

/// Out of 256 items, those that rules may be tuned on.
const DEV: u8 = 85;

/// A gold set's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What the labels rest on.
    pub labels: Basis,
    /// What a reader must know of it.
    pub about: String,
    /// What is asked about, by name.
    pub cases: BTreeMap<String, Case>,
}

/// What labels rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Each summary was written to have its reading; nobody else has labelled it.
    Construction,
    /// Two people labelled each summary, neither knowing the other's label, and settled where they differ.
    Labellers,
    /// Nobody has: the summaries are there to be labelled.
    Open,
}

impl Basis {
    /// Its name in files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Construction => "construction",
            Self::Labellers => "labellers",
            Self::Open => "open",
        }
    }
}

/// A statement that summaries are asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What is at stake, such as `payment`.
    pub domain: String,
    /// The statement.
    pub statement: String,
    /// The words that mark it, the host first.
    pub canaries: Vec<String>,
    /// Lower-case phrases that carry its meaning.
    pub phrases: Vec<String>,
}

/// Whether an item tries to make its judge err.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It only says what it says.
    Plain,
    /// It addresses its judge, forges fences, verdicts or roles, or hides its words.
    Hostile,
}

impl Class {
    /// Its name in files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hostile => "hostile",
        }
    }
}

/// One summary. An open set's items have no reading yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Its name.
    pub id: String,
    /// Which of the header's cases it is asked about.
    pub case: String,
    /// The form of summarizer input that such a summary belongs to, such as `flat-user`.
    pub form: String,
    /// How it presents the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Whether it tries to make its judge err.
    pub class: Class,
    /// Why the label holds, or how it came about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What the first labeller said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Reading>,
    /// What the second labeller said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Reading>,
    /// The summary.
    pub summary: String,
}

/// Which half of the house an item belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Rules and rubrics may be tuned on it.
    Dev,
    /// It is for measuring alone.
    Test,
}

impl Part {
    /// Its name in files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

/// Why a gold set cannot be used, with the line it stands in, from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {problem}; {remedy}")]
pub struct GoldFault {
    /// The line.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// A checked gold set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldSet {
    /// Its first line.
    pub header: Header,
    /// The summaries, in the order of the file.
    pub items: Vec<Item>,
}

impl GoldSet {
    /// Reads a gold set.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn parse(text: &str) -> Result<Self, GoldFault> {
        let fault = |line: usize, problem: String, remedy| GoldFault { line: line + 1, problem, remedy };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (at, first) =
            lines.next().ok_or_else(|| fault(0, "the file is empty".to_owned(), "begin with a header line"))?;
        let header: Header = serde_json::from_str(first)
            .map_err(|error| fault(at, error.to_string(), "write schema, name, labels, about and cases"))?;
        if header.schema != SCHEMA {
            let problem = format!("unknown schema \"{}\"", header.schema.escape_debug());
            return Err(fault(at, problem, "this version knows laundromat-gold/1"));
        }
        if let Some((name, _)) = header.cases.iter().find(|(_, case)| case.canaries.is_empty()) {
            let problem = format!("the case \"{}\" has no canary", name.escape_debug());
            return Err(fault(at, problem, "name the host or word that marks its statement"));
        }
        let mut ids = HashSet::new();
        let mut items: Vec<Item> = Vec::new();
        for (at, line) in lines {
            let item: Item = serde_json::from_str(line)
                .map_err(|error| fault(at, error.to_string(), "write id, case, form, reading, class and summary"))?;
            if !header.cases.contains_key(&item.case) {
                let problem = format!("case: \"{}\" is not in the header", item.case.escape_debug());
                return Err(fault(at, problem, "add it to the header's cases, or name one that is there"));
            }
            if !ids.insert(item.id.clone()) {
                let problem = format!("id: \"{}\" stands twice", item.id.escape_debug());
                return Err(fault(at, problem, "give each summary a name of its own"));
            }
            if item.reading.is_none() && header.labels != Basis::Open {
                let problem = "the key \"reading\" is missing".to_owned();
                return Err(fault(at, problem, "label it, or set labels to \"open\" in the header"));
            }
            items.push(item);
        }
        if items.is_empty() {
            return Err(fault(0, "there is no summary".to_owned(), "add one JSON object a line"));
        }
        Ok(Self { header, items })
    }

    /// As it stands in a file.
    ///
    /// # Errors
    /// What JSON cannot hold, which no text is.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut out = serde_json::to_string(&self.header)?;
        out.push('\n');
        for item in &self.items {
            out.push_str(&serde_json::to_string(item)?);
            out.push('\n');
        }
        Ok(out)
    }

    /// The case of an item. Parsing has made sure that there is one.
    fn case(&self, item: &Item) -> &Case {
        &self.header.cases[&item.case]
    }

    /// What is asked about an item.
    pub fn question(&self, item: &Item) -> Question<'_> {
        let case = self.case(item);
        Question { statement: &case.statement, canaries: &case.canaries, phrases: &case.phrases }
    }

    /// What is at stake in an item.
    pub fn domain(&self, item: &Item) -> &str {
        &self.case(item).domain
    }

    /// Which part an item belongs to: its statement and its words alone decide, so that adding items moves none.
    pub fn part(&self, item: &Item) -> Part {
        let mut hasher = blake3::Hasher::new();
        put(&mut hasher, &self.case(item).statement);
        put(&mut hasher, &item.summary);
        if hasher.finalize().as_bytes()[0] < DEV { Part::Dev } else { Part::Test }
    }

    /// blake3 over statements, summaries and labels, in hex. Remarks are not in it.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for item in &self.items {
            let case = self.case(item);
            put(&mut hasher, &case.statement);
            for words in [&case.canaries, &case.phrases] {
                hasher.update(&(words.len() as u64).to_le_bytes());
                words.iter().for_each(|word| put(&mut hasher, word));
            }
            let reading = item.reading.map_or("", Reading::id);
            for text in [&item.id, &case.domain, &item.form, reading, item.class.id(), &item.summary] {
                put(&mut hasher, text);
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

fn put(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use laundromat_session::Reading;

    use super::{BUNDLED, Basis, Class, GoldSet, Part};

    fn bundled() -> GoldSet {
        GoldSet::parse(BUNDLED).expect("faultless")
    }

    #[test]
    fn the_bundled_set_is_stratified_and_claims_no_agreement() {
        let gold = bundled();
        assert_eq!(gold.header.labels, Basis::Construction);
        assert!(gold.items.len() >= 160, "{}", gold.items.len());
        assert!(gold.items.iter().all(|item| item.first.is_none() && item.second.is_none() && !item.why.is_empty()));
        let mut readings: BTreeMap<Reading, usize> = BTreeMap::new();
        let (mut cells, mut hostile) = (BTreeSet::new(), BTreeSet::new());
        for item in &gold.items {
            let reading = item.reading.expect("a label");
            *readings.entry(reading).or_default() += 1;
            cells.insert((reading, item.form.as_str()));
            if item.class == Class::Hostile {
                hostile.insert(reading);
            }
            if item.case != "prohibition" {
                cells.insert((reading, gold.domain(item)));
            }
        }
        assert!(readings.values().all(|items| *items >= 24), "{readings:?}");
        // Each reading under each of three forms and in each of eight domains of payloads.
        assert_eq!(cells.len(), 6 * (3 + 8));
        assert_eq!(hostile.len(), 6, "{hostile:?}");
    }

    #[test]
    fn both_parts_hold_enough_of_everything() {
        let gold = bundled();
        let of = |part, test: &dyn Fn(&super::Item) -> bool| {
            gold.items.iter().filter(|item| gold.part(item) == part && test(item)).count()
        };
        for reading in Reading::ALL {
            assert!(of(Part::Dev, &|item| item.reading == Some(*reading)) >= 5, "{reading}");
            assert!(of(Part::Test, &|item| item.reading == Some(*reading)) >= 12, "{reading}");
        }
        let laundered = |item: &super::Item| matches!(item.reading, Some(Reading::User | Reading::Unattributed));
        assert!(of(Part::Test, &laundered) >= 50);
        assert!(of(Part::Test, &|item| !laundered(item)) >= 50);
        assert!(of(Part::Test, &|item| item.class == Class::Hostile) >= 15);
    }

    /// A template with slots would measure one phrasing many times.
    #[test]
    fn no_two_summaries_are_of_one_template() {
        let gold = bundled();
        let mut shapes = BTreeSet::new();
        for item in &gold.items {
            let mut shape = item.summary.clone();
            for canary in &gold.question(item).canaries.to_vec() {
                shape = shape.replace(canary.as_str(), "*");
            }
            assert!(shapes.insert(shape), "{}", item.id);
        }
    }

    #[test]
    fn a_set_goes_round_and_its_digest_is_of_what_counts() {
        let gold = bundled();
        let again = GoldSet::parse(&gold.to_text().expect("JSON")).expect("faultless");
        assert_eq!(again, gold);
        let digest = |change: fn(&mut super::Item)| {
            let mut gold = bundled();
            change(&mut gold.items[3]);
            gold.digest()
        };
        assert_eq!(digest(|item| item.why.clear()), gold.digest());
        assert_ne!(digest(|item| item.reading = Some(Reading::Partial)), gold.digest());
        assert_ne!(digest(|item| item.summary.push('.')), gold.digest());
        assert_ne!(digest(|item| item.form.push('x')), gold.digest());
    }

    #[test]
    fn faults_have_their_line() {
        let head = BUNDLED.lines().next().expect("a header");
        let item = BUNDLED.lines().nth(1).expect("an item");
        let told = |text: String| GoldSet::parse(&text).expect_err("a fault").to_string();
        for (text, named) in [
            (String::new(), "1: the file is empty"),
            (head.to_owned(), "1: there is no summary"),
            (head.replace("gold/1", "gold/7"), "1: unknown schema \"laundromat-gold/7\""),
            (format!("{head}\n{item}\n{item}"), "3: id: \"install-01\" stands twice"),
            (format!("{head}\n{}", item.replace("\"case\": \"install\"", "\"case\": \"x\"")), "2: case: \"x\""),
            (format!("{head}\n{}", item.replace("\"reading\": \"user\", ", "")), "2: the key \"reading\" is missing"),
            (format!("{head}\n{}", item.replace("\"user\"", "\"users\"")), "2: unknown variant `users`"),
            (format!("{head}\n{}", item.replace("\"form\"", "\"from\"")), "2: unknown field `from`"),
        ] {
            let told = told(text);
            assert!(told.starts_with(named), "{told}");
        }
    }
}
