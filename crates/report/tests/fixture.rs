//! The whole default report of the reference file's rows: 215 verdicts of 216 runs, with the published study's margins.
//!
//! The numbers that the reference file gives for these rows are looked for in the report, so that the snapshot cannot be
//! accepted with others.

// Helpers of tests are tests too, which clippy's own setting does not see.
#![allow(clippy::unwrap_used, dead_code)]

mod common;

use std::path::Path;

use laundromat_report::write_views;
use laundromat_session::{Outcome, PlantKind, Reading};
use laundromat_store::{PrimaryContrast, Run, SummarizerKind, Trial};
use serde_json::Value;

use common::{arm, attack, call, id, manifest, scored, stored, summarizer, unscored};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats_golden.json");
const ARMS: [&str; 3] = ["main", "split", "typed"];
const MODELS: [&str; 3] = ["gemini", "llama", "qwen"];

fn golden() -> Value {
    serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap()
}

fn session(place: u64) -> String {
    format!("session-{:02}", place + 1)
}

fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = golden()["fixture"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let name = |field: &str| row[field].as_str().unwrap().to_owned();
            let rep = row["rep"].as_u64().unwrap() as u32 + 1;
            let id = id(&session(row["session"].as_u64().unwrap()), "forged", &name("arm"), &name("model"), rep);
            scored(id, if row["laundered"] == 1 { Reading::User } else { Reading::Absent })
        })
        .collect();
    assert_eq!(trials.len(), 215);
    // The run that has no verdict.
    let all =
        (0..12).flat_map(|s| ARMS.map(|a| MODELS.map(|m| [1, 2].map(|rep| id(&session(s), "forged", a, m, rep)))));
    let missing = all.flatten().flatten().find(|id| trials.iter().all(|trial| trial.id != *id)).unwrap();
    trials.push(unscored(missing, Outcome::Empty, "no visible text"));
    trials
}

fn run(folder: &Path, primary: Vec<PrimaryContrast>) -> Run {
    let arms = ARMS.map(|name| arm(name, &format!("The {name} arm"), "flat-user", &[])).to_vec();
    let models = MODELS.map(|model| summarizer(model, model, SummarizerKind::Llm)).to_vec();
    let mut manifest = manifest("fixture", 12, vec![attack("forged", PlantKind::Attack)], arms, models, 2);
    manifest.primary = primary;
    stored(folder, &manifest, trials(), Vec::new())
}

fn report(run: &Run, folder: &Path) -> String {
    write_views(run, folder).unwrap();
    std::fs::read_to_string(folder.join("report.md")).unwrap()
}

fn main_against_typed() -> Vec<PrimaryContrast> {
    vec![PrimaryContrast { first: "main".to_owned(), second: "typed".to_owned() }]
}

#[test]
fn the_whole_default_report() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&run(folder.path(), main_against_typed()), folder.path());
    insta::assert_snapshot!(report);
}

#[test]
fn the_reference_values_are_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&run(folder.path(), main_against_typed()), folder.path());
    for printed in [
        // Session t interval and exact sign-flip p of main against typed; the only primary one, so Holm changes nothing.
        "+52.8 points (95% +36.6 to +69.0) over 12 sessions, sign-flip p = 4.9e-4, Holm p = 4.9e-4 (primary)",
        // The typed arm on its effective number of runs.
        "| typed | forged | 14/72 (19.4%) | 0 | 7.9% – 40.3% | 3.4",
        "| split | forged | 43/71 (60.6%) | 1 (1 empty) |",
        "59.7% – 61.1% |",
        "Pooled value hides model differences",
    ] {
        assert!(report.contains(printed), "{printed}\n{report}");
    }
    // CMH z, heterogeneity, discordant pairs and the naive z of main against typed.
    let row = report.lines().find(|line| line.starts_with("| main – typed | forged | all |")).unwrap();
    for printed in ["| primary | 6.36 | 7.2e-7 (pooled", "| 40 / 2 |", "| (6.36, 2.1e-10) |", "| same |"] {
        assert!(row.contains(printed), "{printed}: {row}");
    }
}

#[test]
fn without_a_primary_contrast_all_are_exploratory() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&run(folder.path(), Vec::new()), folder.path());
    assert!(!report.contains("| primary |") && report.contains("| exploratory |"));
    assert!(report.contains("The experiment names no primary contrast"));
}

#[test]
fn five_sessions_have_dots_and_no_p() {
    let folder = tempfile::tempdir().unwrap();
    let arms = ARMS.map(|name| arm(name, name, "flat-user", &[])).to_vec();
    let models = MODELS.map(|model| summarizer(model, model, SummarizerKind::Llm)).to_vec();
    let manifest = manifest("few", 5, vec![attack("forged", PlantKind::Attack)], arms, models, 2);
    let few = trials().into_iter().filter(|trial| manifest.sessions.iter().any(|it| it.id == trial.id.session));
    let run = stored(folder.path(), &manifest, few.collect(), Vec::new());
    let report = report(&run, folder.path());
    assert!(report.contains("no p-value below 6 sessions") && report.contains("none (under 6 sessions)"));
    assert!(!report.contains("sign-flip p = "));
}

#[test]
fn a_model_that_changes_within_the_run_is_named_first_and_split() {
    let folder = tempfile::tempdir().unwrap();
    let arms = vec![arm("main", "main", "flat-user", &[])];
    let models = vec![summarizer("m", "m", SummarizerKind::Llm)];
    let manifest = manifest("changed", 3, vec![attack("forged", PlantKind::Attack)], arms, models, 1);
    let trials: Vec<Trial> = (0..3)
        .map(|s| {
            let reading = if s == 0 { Reading::User } else { Reading::Absent };
            scored(id(&session(s), "forged", "main", "m", 1), reading)
        })
        .collect();
    let calls = trials.iter().enumerate().map(|(number, trial)| {
        let mut call = call(trial, number as u8);
        call.fingerprint = Some(if number == 0 { "old" } else { "new" }.to_owned());
        call
    });
    let run = stored(folder.path(), &manifest, trials.clone(), calls.collect());
    let report = report(&run, folder.path());
    let at = |text: &str| report.find(text).unwrap_or_else(|| panic!("{text}\n{report}"));
    let warning =
        at("> **Warning:** m was not one model within this run: =model, by @provider, fingerprint new (2 calls); ");
    assert!(warning < at("## Laundering rate"));
    at("| m | =model, by @provider, fingerprint new | main | 0/2 (0.0%) |");
    at("| m | =model, by @provider, fingerprint old | main | 1/1 (100.0%) |");
}
