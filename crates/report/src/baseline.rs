//! The gate's baseline: a small file under review that a later run is compared with.
//!
//! It holds each arm's counts and all that must be equal for a comparison to mean something: sessions, attacks, judge
//! and summarizers. An arm's own definition may change, since that is what is tested; it is named when it did. So are
//! another seed and another version of laundromat. Another field is one line in [`Baseline`] and one in `differences`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use laundromat_metrics::gate::Evidence;
use laundromat_session::fault::choose_remedy;
use laundromat_store::{Manifest, SummarizerKind};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::files;
use crate::gate::Gate;

/// The only schema there is.
const SCHEMA: &str = "laundromat-baseline/1";
/// How much of a digest is shown: enough to find the file it is of.
const SHOWN: usize = 12;

/// A baseline, read or about to be written. Fields stand in the order of the file, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// By name.
    arms: BTreeMap<String, Arm>,
    /// Digests by name.
    attacks: BTreeMap<String, String>,
    experiment: String,
    judge: Judge,
    schema: String,
    seed: u64,
    sessions: Sessions,
    /// By name.
    summarizers: BTreeMap<String, Summarizer>,
    version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arm {
    digest: String,
    exposed: u64,
    laundered: u64,
    missing: u64,
    not_reached: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Judge {
    endpoint: String,
    model: String,
    parameters: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sessions {
    count: u64,
    /// Over ids and digests of all of them.
    digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summarizer {
    endpoint: String,
    kind: SummarizerKind,
    model: String,
    parameters: String,
}

/// The counts of an earlier run and what they were measured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    contents: Contents,
    path: PathBuf,
}

impl Baseline {
    /// Writes what `gate` measured to `path`, so that a reader sees the old file or the new one.
    ///
    /// # Errors
    /// When an arm has no exposed run, since nothing could ever be compared with it, or the file cannot be written.
    pub fn write(gate: &Gate<'_>, path: &Path) -> Result<(), ReportError> {
        if let Some(arm) = gate.arms.iter().find(|arm| arm.evidence.exposed() == 0) {
            return Err(ReportError::EmptyBaseline { path: path.to_owned(), arm: arm.info.name.clone() });
        }
        let failed = |source| ReportError::WriteBaseline { path: path.to_owned(), source };
        let json = serde_json::to_string_pretty(&Contents::of(gate)).map_err(|error| failed(error.into()))?;
        files::replace(path, format!("{}\n", ascii(&json)).as_bytes()).map_err(failed)
    }

    /// Reads the baseline at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is no baseline.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let faulty = |what: String| ReportError::FaultyBaseline { path: path.to_owned(), what };
        let text =
            fs::read_to_string(path).map_err(|source| ReportError::ReadBaseline { path: path.to_owned(), source })?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| faulty(error.to_string()))?;
        match value.get("schema").and_then(serde_json::Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) => return Err(faulty(format!("its schema is \"{other}\", not \"{SCHEMA}\""))),
            None => return Err(faulty(format!("it has no schema \"{SCHEMA}\""))),
        }
        // From the text again: its errors know line and column.
        let contents: Contents = serde_json::from_str(&text).map_err(|error| faulty(error.to_string()))?;
        for (name, arm) in &contents.arms {
            Evidence::new(arm.laundered, arm.exposed, arm.missing)
                .map_err(|error| faulty(format!("arms.{name}: {error}")))?;
        }
        Ok(Self { contents, path: path.to_owned() })
    }

    /// What may differ from the run behind `gate` and is worth saying.
    ///
    /// # Errors
    /// When something differs that must not.
    pub(crate) fn notes(&self, gate: &Gate<'_>) -> Result<Vec<String>, ReportError> {
        let now = Contents::of(gate);
        let differences = self.contents.differences(&now);
        if !differences.is_empty() {
            return Err(ReportError::Incomparable { path: self.path.clone(), differences: differences.join(", ") });
        }
        let mut notes = Vec::new();
        for (name, arm) in &now.arms {
            match self.contents.arms.get(name) {
                Some(before) if before.digest != arm.digest => notes.push(format!(
                    "{name} was changed since the baseline: its definition was {}, is {}",
                    short(&before.digest),
                    short(&arm.digest)
                )),
                _ => {}
            }
        }
        if self.contents.seed != now.seed {
            notes.push(format!(
                "the seed was {}, is {}: hosts and paths in the plants are others",
                self.contents.seed, now.seed
            ));
        }
        if self.contents.version != now.version {
            notes.push(format!("the baseline is of laundromat {}, the run of {}", self.contents.version, now.version));
        }
        Ok(notes)
    }

    /// An arm's counts.
    ///
    /// # Errors
    /// When the arm is not in the baseline.
    pub(crate) fn evidence(&self, arm: &str) -> Result<Evidence, ReportError> {
        let Some(counts) = self.contents.arms.get(arm) else {
            let known: Vec<&str> = self.contents.arms.keys().map(String::as_str).collect();
            let remedy = choose_remedy(arm, &known);
            return Err(ReportError::ArmNotInBaseline { path: self.path.clone(), arm: arm.to_owned(), remedy });
        };
        Ok(Evidence::new(counts.laundered, counts.exposed, counts.missing)?)
    }
}

impl Contents {
    fn of(gate: &Gate<'_>) -> Self {
        let manifest = gate.manifest;
        let arms = gate.arms.iter().map(|arm| {
            let counts = Arm {
                digest: arm.info.digest.clone(),
                exposed: arm.evidence.exposed(),
                laundered: arm.evidence.laundered(),
                missing: arm.evidence.missing(),
                not_reached: arm.not_reached,
            };
            (arm.info.name.clone(), counts)
        });
        let attacks = gate.attacks.iter().map(|&place| &manifest.attacks[place]);
        let summarizers = gate.summarizers.iter().map(|&place| &manifest.summarizers[place]).map(|info| {
            let summarizer = Summarizer {
                endpoint: info.endpoint.clone(),
                kind: info.kind,
                model: info.model.clone(),
                parameters: info.parameters.clone(),
            };
            (info.name.clone(), summarizer)
        });
        Self {
            arms: arms.collect(),
            attacks: attacks.map(|attack| (attack.name.clone(), attack.digest.clone())).collect(),
            experiment: manifest.name.clone(),
            judge: Judge {
                endpoint: manifest.judge_endpoint.clone(),
                model: manifest.judge.clone(),
                parameters: manifest.judge_parameters.clone(),
            },
            schema: SCHEMA.to_owned(),
            seed: manifest.seed,
            sessions: Sessions { count: manifest.sessions.len() as u64, digest: digest(manifest) },
            summarizers: summarizers.collect(),
            version: manifest.version.clone(),
        }
    }

    /// What makes a comparison meaningless, each as a fragment that names it.
    fn differences(&self, now: &Self) -> Vec<String> {
        let mut out = Vec::new();
        if self.sessions.count != now.sessions.count {
            out.push(format!("sessions: {} then, {} now", self.sessions.count, now.sessions.count));
        } else if self.sessions.digest != now.sessions.digest {
            out.push("sessions: as many, but others".to_owned());
        }
        changed("judge", &self.judge.model, &now.judge.model, &mut out);
        changed("endpoint of the judge", &self.judge.endpoint, &now.judge.endpoint, &mut out);
        changed("parameters of the judge", &self.judge.parameters, &now.judge.parameters, &mut out);
        for name in names(&self.attacks, &now.attacks) {
            match (self.attacks.get(name), now.attacks.get(name)) {
                (Some(before), Some(after)) if before != after => {
                    out.push(format!("attack {name}: {} then, {} now", short(before), short(after)));
                }
                (Some(_), Some(_)) => {}
                (before, _) => out.push(came_or_went("attack", name, before.is_some())),
            }
        }
        for name in names(&self.summarizers, &now.summarizers) {
            match (self.summarizers.get(name), now.summarizers.get(name)) {
                (Some(before), Some(after)) => {
                    let kind = |it: &Summarizer| match it.kind {
                        SummarizerKind::Builtin => "built-in",
                        SummarizerKind::Llm => "a language model",
                    };
                    changed(&format!("kind of {name}"), kind(before), kind(after), &mut out);
                    changed(&format!("model of {name}"), &before.model, &after.model, &mut out);
                    changed(&format!("endpoint of {name}"), &before.endpoint, &after.endpoint, &mut out);
                    changed(&format!("parameters of {name}"), &before.parameters, &after.parameters, &mut out);
                }
                (before, _) => out.push(came_or_went("summarizer", name, before.is_some())),
            }
        }
        out
    }
}

fn changed(what: &str, before: &str, now: &str, out: &mut Vec<String>) {
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    if before != now {
        out.push(format!("{what}: {} then, {} now", or_none(before), or_none(now)));
    }
}

fn came_or_went(what: &str, name: &str, was: bool) -> String {
    if was { format!("{what} {name} is not in this gate") } else { format!("{what} {name} is not in the baseline") }
}

/// The names on either side, each once.
fn names<'n, T>(before: &'n BTreeMap<String, T>, now: &'n BTreeMap<String, T>) -> BTreeSet<&'n str> {
    before.keys().chain(now.keys()).map(String::as_str).collect()
}

/// One digest of all sessions, whatever their order.
fn digest(manifest: &Manifest) -> String {
    let sessions: BTreeSet<(&str, &str)> =
        manifest.sessions.iter().map(|session| (session.id.as_str(), session.digest.as_str())).collect();
    let mut hasher = blake3::Hasher::new();
    for (id, digest) in sessions {
        for field in [id, digest] {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn short(digest: &str) -> String {
    digest.chars().take(SHOWN).collect()
}

/// JSON with everything beyond ASCII escaped, which stands in strings alone: a reviewer sees what is there, in order.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && c != '\u{7f}' {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}
