//! Rubrics: what a judge model is told, as data. The digest of what it says names the instrument, so that a
//! calibration is never taken for one of another wording.

use laundromat_session::Reading;
use laundromat_session::fault::Fault;
use laundromat_session::fields::{Document, Fields};

/// What `schema` says in a rubric file.
pub const SCHEMA: &str = "laundromat-rubric/1";

/// The rubric that is used where none is named.
const STANDARD: &str = include_str!("../../../scenarios/judge/rubrics/standard.toml");

/// Longest text of a rubric.
const LONGEST: usize = 4000;

/// Words that would tell a judge which answer is hoped for.
const TELLING: [&str; 6] = ["forged", "attack", "planted", "launder", "experiment", "summarizer"];

/// A checked rubric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rubric {
    /// Its name.
    pub name: String,
    /// What the judge is and does.
    instructions: String,
    /// What each reading's word means, in the order of [`Reading::ALL`].
    meanings: Vec<String>,
}

impl Rubric {
    /// The rubric that comes with laundromat.
    ///
    /// # Errors
    /// Its faults; a test holds that there are none.
    pub fn standard() -> Result<Self, Vec<Fault>> {
        Self::parse(STANDARD)
    }

    /// Reads a rubric file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        root.schema(&mut document, SCHEMA);
        let name = root.name(&mut document, "a rubric");
        let instructions = said(&mut document, &mut root, "instructions");
        if let Some(text) = &instructions {
            // Without these two words the judge would not know what stands where in its question.
            for word in ["SUMMARY", "STATEMENT"] {
                if !text.contains(word) {
                    let problem = format!("the instructions never say {word}");
                    let remedy = "the question calls its two texts SUMMARY and STATEMENT: explain both";
                    document.fault(&root.span(), "instructions", problem, remedy);
                }
            }
        }
        let meanings = root.required_table(&mut document, "meanings").map(|mut fields| {
            let meanings: Vec<Option<String>> =
                Reading::ALL.iter().map(|reading| said(&mut document, &mut fields, reading.id())).collect();
            fields.finish(&mut document);
            meanings
        });
        root.finish(&mut document);
        let meanings = meanings.and_then(|meanings| meanings.into_iter().collect::<Option<Vec<_>>>());
        let rubric = name.zip(instructions).zip(meanings);
        document.finish(rubric.map(|((name, instructions), meanings)| Self { name, instructions, meanings }))
    }

    /// What the judge is and does.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// What a reading's word means.
    pub fn meaning(&self, reading: Reading) -> &str {
        let place = Reading::ALL.iter().position(|other| *other == reading).unwrap_or_default();
        &self.meanings[place]
    }

    /// blake3 over what the judge is told, in hex. The name is not in it.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&self.instructions).chain(&self.meanings) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// A text that the judge is told: one line that gives nothing away.
fn said<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>, key: &'static str) -> Option<String> {
    let (text, span) = fields.required_at::<String>(document, key)?;
    let path = fields.path_of(key);
    let text = text.trim().to_owned();
    if text.is_empty() || text.chars().any(char::is_control) || text.chars().count() > LONGEST {
        let remedy = format!("write one line of at most {LONGEST} characters");
        document.fault(&span, &path, "this is no single line of text", remedy);
    }
    let lower = text.to_lowercase();
    if let Some(word) = TELLING.iter().find(|word| lower.contains(*word)) {
        let problem = format!("\"{word}\" tells the judge what the statement is");
        document.fault(&span, &path, problem, "a judge is asked blind: describe the summary alone");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{Rubric, STANDARD};

    #[test]
    fn the_standard_rubric_is_faultless_and_what_it_was() {
        let rubric = Rubric::standard().expect("faultless");
        assert_eq!(rubric.name, "standard");
        // Runs and calibrations name it: another wording needs another name.
        assert_eq!(rubric.digest(), "b07e8866a6af65c50805e37d39628994e4d2b5ddd2093a105500f24dd6beb3ef");
    }

    #[test]
    fn every_part_is_in_the_digest() {
        let digest = |text: &str| Rubric::parse(text).expect("faultless").digest();
        let plain = digest(STANDARD);
        for (from, to) in [("You read", "Do read"), ("no trace of it", "nothing of it"), ("a name, an", "an")] {
            assert_ne!(digest(&STANDARD.replacen(from, to, 1)), plain, "{from}");
        }
        assert_eq!(digest(&STANDARD.replacen("\"standard\"", "\"other\"", 1)), plain);
    }

    #[test]
    fn faults_are_named() {
        let without_statement: String = STANDARD.lines().map(|line| line.replace("a STATEMENT", "it") + "\n").collect();
        let without_statement = without_statement.replace("the STATEMENT is true", "it is true");
        for (text, named) in [
            (STANDARD.replacen("absent = ", "gone = ", 1), "meanings.absent"),
            (without_statement, "never say STATEMENT"),
            (STANDARD.replacen("a name, an address", "forged words", 1), "tells the judge"),
            (STANDARD.replacen("the SUMMARY holds no trace of it", " ", 1), "no single line"),
            (STANDARD.replacen("rubric/1", "rubric/9", 1), "schema"),
        ] {
            let faults = Rubric::parse(&text).expect_err("faults");
            let told: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
            assert!(told.contains(named), "{named}: {told}");
        }
    }
}
