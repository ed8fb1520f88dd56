//! What makes an experiment the one it is: what decides its trials, digested, and how two of them differ.

use std::collections::HashMap;

use laundromat_judge::Rubric;
use laundromat_provider::Model;
use laundromat_store::Manifest;

use crate::experiment::{Judge, primary};

/// The manifest of the same run under another judge.
pub fn with_judge(manifest: Manifest, judge: &Judge) -> Manifest {
    let mut manifest = Manifest {
        judge: judge.name().to_owned(),
        judge_endpoint: judge.model().map(|model| model.key_endpoint().into_owned()).unwrap_or_default(),
        judge_parameters: judge.model().map(Model::parameters_text).unwrap_or_default(),
        judge_rubric: judge.rubric().map(rubric_name).unwrap_or_default(),
        ..manifest
    };
    manifest.digest = manifest_digest(&manifest);
    manifest
}

/// The manifest of the same run under a panel of the judges of `judges`.
pub(crate) fn with_panel(manifest: Manifest, judges: &[&Manifest]) -> Manifest {
    let joined =
        |part: fn(&Manifest) -> &String| judges.iter().map(|it| part(it).as_str()).collect::<Vec<_>>().join(", ");
    let mut manifest = Manifest {
        judge: format!("panel of {}", joined(|it| &it.judge)),
        judge_endpoint: joined(|it| &it.judge_endpoint),
        judge_parameters: joined(|it| &it.judge_parameters),
        judge_rubric: joined(|it| &it.judge_rubric),
        ..manifest
    };
    manifest.digest = manifest_digest(&manifest);
    manifest
}

/// How a manifest names a rubric: empty for the standard one, so that runs from before there were others stay what
/// they are.
fn rubric_name(rubric: &Rubric) -> String {
    if Rubric::standard().is_ok_and(|standard| standard.digest() == rubric.digest()) {
        return String::new();
    }
    format!("{} {}", rubric.name, &rubric.digest()[..12])
}

/// What decides a trial, by name and value: whatever differs here is another experiment.
fn decisive(manifest: &Manifest) -> Vec<(String, String)> {
    let mut out = vec![
        ("seed".to_owned(), manifest.seed.to_string()),
        ("repetitions".to_owned(), manifest.repetitions.to_string()),
        ("judge".to_owned(), judge_of(manifest)),
    ];
    // Runs from before there were primary contrasts keep their digest.
    if !manifest.primary.is_empty() {
        out.push(("primary".to_owned(), primary::listed(&manifest.primary)));
    }
    let listed = |names: Vec<&str>| names.join(", ");
    out.push(("arms".to_owned(), listed(manifest.arms.iter().map(|arm| arm.name.as_str()).collect())));
    out.extend(manifest.sessions.iter().map(|session| (format!("session {}", session.id), session.digest.clone())));
    out.extend(manifest.attacks.iter().map(|attack| (format!("attack {}", attack.name), attack.digest.clone())));
    out.extend(manifest.arms.iter().map(|arm| (format!("arm {}", arm.name), arm.digest.clone())));
    out.extend(manifest.summarizers.iter().map(|summarizer| {
        (
            format!("summarizer {}", summarizer.name),
            [summarizer.model.as_str(), &summarizer.endpoint, &summarizer.parameters].join(" "),
        )
    }));
    out
}

/// The judge as it decides trials. A rubric is named where it is not the standard one.
fn judge_of(manifest: &Manifest) -> String {
    let mut judge = [manifest.judge.as_str(), &manifest.judge_endpoint, &manifest.judge_parameters].join(" ");
    if !manifest.judge_rubric.is_empty() {
        judge.push_str(&format!(" rubric {}", manifest.judge_rubric));
    }
    judge
}

fn manifest_digest(manifest: &Manifest) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in decisive(manifest) {
        for field in [name, value] {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// One way in which two experiments differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// A fragment that names it.
    pub text: String,
    /// Whether it only adds trials to those there were.
    pub kind: DifferenceKind,
}

/// What a difference does to the trials of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// There are more of them; those there were stay what they are.
    Addition,
    /// Those there were would be others now.
    Change,
}

/// What differs between a stored run and a new one. A run belongs to one version of laundromat: another
/// one may build other requests.
pub fn differences(stored: &Manifest, new: &Manifest) -> Vec<Difference> {
    let before: HashMap<String, String> = decisive(stored).into_iter().collect();
    let now: HashMap<String, String> = decisive(new).into_iter().collect();
    let short = |value: &str| value.chars().take(60).collect::<String>();
    let mut out: Vec<Difference> = decisive(new)
        .into_iter()
        .filter_map(|(name, value)| match before.get(&name) {
            // What a run is for is said before its first call, not after.
            None if name == "primary" => {
                Some(Difference { text: format!("primary is new: {}", short(&value)), kind: DifferenceKind::Change })
            }
            None => Some(Difference { text: format!("{name} is new"), kind: DifferenceKind::Addition }),
            Some(old) if *old != value => {
                let text = format!("{name} was {}, is {}", short(old), short(&value));
                Some(Difference { text, kind: kind(stored, new, &name) })
            }
            Some(_) => None,
        })
        .collect();
    let mut change = |text| out.push(Difference { text, kind: DifferenceKind::Change });
    if stored.version != new.version {
        change(format!("laundromat was {}, is {}", short(&stored.version), new.version));
    }
    for (name, _) in decisive(stored).into_iter().filter(|(name, _)| !now.contains_key(name)) {
        change(format!("{name} is gone"));
    }
    out
}

/// What another value of `name` does: more repetitions and more arms are more trials.
fn kind(stored: &Manifest, new: &Manifest, name: &str) -> DifferenceKind {
    let more = match name {
        "repetitions" => new.repetitions > stored.repetitions,
        "arms" => {
            let kept = new.arms.iter().filter(|arm| stored.arms.iter().any(|old| old.name == arm.name));
            kept.map(|arm| &arm.name).eq(stored.arms.iter().map(|arm| &arm.name))
        }
        _ => false,
    };
    if more { DifferenceKind::Addition } else { DifferenceKind::Change }
}
