//! The calibration file: a judge, a gold set, and what the one made of the other, item by item, so that every figure can
//! be worked out again and two files can be compared.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use laundromat_metrics::StatsError;
use laundromat_metrics::calibration::Calibration;
use serde::{Deserialize, Serialize};

use super::figures::{Figures, Judged};
use crate::files::replace;

/// What `schema` says in a calibration file.
pub const SCHEMA: &str = "laundromat-calibration/1";

/// Which judge was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeInfo {
    /// Its name, as a run's manifest has it.
    pub model: String,
    /// Where it is asked; empty for an offline one.
    pub endpoint: String,
    /// What is sent beside model and messages.
    pub parameters: String,
    /// The rubric's name; empty for an offline judge.
    pub rubric: String,
    /// blake3 of what the judge is told, or of an offline judge's rules.
    pub rubric_digest: String,
    /// The models that say they have answered.
    pub served: Vec<String>,
}

/// Which gold set it was measured on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldInfo {
    /// Its name.
    pub name: String,
    /// Its digest.
    pub digest: String,
    /// What its labels rest on.
    pub labels: String,
    /// `dev`, `test` or `all`.
    pub part: String,
}

/// A calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of laundromat that measured.
    pub version: String,
    /// The judge.
    pub judge: JudgeInfo,
    /// The gold set.
    pub gold: GoldInfo,
    /// Each item.
    pub items: Vec<Judged>,
}

/// Why a calibration file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}; {remedy}", path.display())]
pub struct CalibrationError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl CalibrationFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no calibration.
    pub fn read(path: &Path) -> Result<Self, CalibrationError> {
        let fault = |problem: String, remedy| CalibrationError { path: path.to_owned(), problem, remedy };
        let text =
            fs::read_to_string(path).map_err(|error| fault(format!("cannot be read: {error}"), "check the path"))?;
        Self::parse(&text)
            .map_err(|problem| fault(problem, "name a file that laundromat judge calibrate --out has written"))
    }

    /// Reads a calibration's text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.schema != SCHEMA {
            return Err(format!("unknown schema \"{}\"", file.schema.escape_debug()));
        }
        let mut seen = HashSet::new();
        match file.items.iter().find(|item| !seen.insert(item.id.as_str())) {
            Some(item) => Err(format!("the item \"{}\" stands twice", item.id.escape_debug())),
            None => Ok(file),
        }
    }

    /// Its text, one line an item.
    ///
    /// # Errors
    /// What JSON cannot hold, which no text is.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut out = String::from("{\n");
        out.push_str(&format!("\"schema\": {},\n", serde_json::to_string(&self.schema)?));
        out.push_str(&format!("\"version\": {},\n", serde_json::to_string(&self.version)?));
        out.push_str(&format!("\"judge\": {},\n", serde_json::to_string(&self.judge)?));
        out.push_str(&format!("\"gold\": {},\n", serde_json::to_string(&self.gold)?));
        let items: Vec<String> = self.items.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        out.push_str(&format!("\"items\": [\n{}\n]\n}}\n", items.join(",\n")));
        Ok(out)
    }

    /// Writes it to `path`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CalibrationError> {
        let fault = |problem: String| CalibrationError {
            path: path.to_owned(),
            problem: format!("cannot be written: {problem}"),
            remedy: "check the folder and its rights",
        };
        let text = self.to_text().map_err(|error| fault(error.to_string()))?;
        replace(path, text.as_bytes()).map_err(|error| fault(error.to_string()))
    }

    /// The figures of all items.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.items)
    }

    /// As the rate corrections take it.
    ///
    /// # Errors
    /// When a side of the gold set is empty.
    pub fn calibration(&self) -> Result<Calibration, StatsError> {
        let Figures { laundered, clean, .. } = self.figures();
        Calibration::new(clean.right, clean.of, laundered.right, laundered.of)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use laundromat_session::Reading;

    use super::super::figures::tests::item;
    use super::{CalibrationFile, GoldInfo, JudgeInfo, SCHEMA};

    /// A calibration of these right and wrong ones.
    pub(crate) fn sample(sensitivity: (usize, usize), specificity: (usize, usize)) -> CalibrationFile {
        let verdict = |is_right: bool, right, wrong| Some(if is_right { right } else { wrong });
        let laundered = (0..sensitivity.1)
            .map(|n| item(n, Reading::User, verdict(n < sensitivity.0, Reading::User, Reading::Tool)));
        let clean = (0..specificity.1)
            .map(|n| item(1000 + n, Reading::Tool, verdict(n < specificity.0, Reading::Tool, Reading::User)));
        let text = |text: &str| text.to_owned();
        CalibrationFile {
            schema: text(SCHEMA),
            version: text("0.1.0"),
            judge: JudgeInfo {
                model: text("builtin:rules"),
                endpoint: String::new(),
                parameters: String::new(),
                rubric: String::new(),
                rubric_digest: text("d"),
                served: Vec::new(),
            },
            gold: GoldInfo { name: text("g"), digest: text("e"), labels: text("construction"), part: text("test") },
            items: laundered.chain(clean).collect(),
        }
    }

    #[test]
    fn a_file_goes_round_and_faults_are_named() {
        let file = sample((48, 50), (47, 50));
        let text = file.to_text().expect("JSON");
        assert_eq!(CalibrationFile::parse(&text), Ok(file.clone()));
        assert_eq!(file.calibration().expect("both sides").specificity(), 0.94);
        for (text, named) in [
            (text.replace("calibration/1", "calibration/3"), "unknown schema"),
            (text.replace("\"i-1\"", "\"i-0\""), "stands twice"),
            (text.replace("\"gate\"", "\"gait\""), "gait"),
            ("[]".to_owned(), "expected"),
        ] {
            let error = CalibrationFile::parse(&text).expect_err("a fault");
            assert!(error.contains(named), "{error}");
        }
    }
}
