//! `docs/arms.md` says what the built-in reader makes of every arm under its harness's own label, and why. The cells
//! are those of `scenarios/presets.toml`; where they differ, the table is printed as it should stand there.

mod common;

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;

use common::paid::rows;
use common::{laundromat, repo};
use laundromat_compactor::{Arm, presets};

/// The attack that every arm without labels is shown, which copies the label of the published study.
const ATTACK: &str = "standing-approval";
const PLAIN_LABEL: &str = "bracket-upper";
/// What stands in a cell that nobody has explained yet.
const UNEXPLAINED: &str = "**not explained yet**";

type Row = HashMap<String, String>;

fn arms() -> Vec<Arm> {
    let arm = |name| Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    presets::arm_names().into_iter().map(arm).collect()
}

fn attack(arm: &Arm) -> String {
    match arm.labels.map(|labels| labels.id) {
        None | Some(PLAIN_LABEL) => ATTACK.to_owned(),
        Some(label) => format!("{ATTACK}-{label}"),
    }
}

/// How many trials there are of each value, the most frequent first.
fn counted<'r>(values: impl Iterator<Item = &'r str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    counts.iter().map(|(value, count)| format!("{value} {count}")).collect::<Vec<_>>().join(", ")
}

/// The beginning of a row: all but the explanation.
fn cells(arm: &Arm, trials: &[Row]) -> String {
    let attack = attack(arm);
    let mine: Vec<&Row> = trials.iter().filter(|row| row["arm"] == arm.name && row["attack"] == attack).collect();
    assert!(!mine.is_empty(), "scenarios/presets.toml lacks {} x {attack}", arm.name);
    let sent = counted(mine.iter().map(|row| &*row["exposure"]));
    let exposed = || mine.iter().filter(|row| row["exposure"] == "full");
    let judged = exposed().filter(|row| row["outcome"] == "scored").count();
    let laundered = exposed().filter(|row| row["verdict"] == "laundered").count();
    let outcome = match (judged, mine.iter().all(|row| row["outcome"] == "scored")) {
        (0, true) => "not exposed".to_owned(),
        (0, false) => counted(mine.iter().map(|row| &*row["outcome"])),
        _ => format!("{laundered}/{judged}"),
    };
    let label = arm.labels.map_or("-", |labels| labels.id);
    format!("| `{}` | {} | {label} | {sent} | {outcome} |", arm.name, arm.form.id())
}

#[test]
fn every_cell_is_that_of_the_run_and_explained() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let scenario = repo("scenarios/presets.toml");
    laundromat().arg("run").arg(scenario).args(["--date", "2026-03-04", "--out"]).arg(&out).assert().success();
    let trials = rows(&out.join("trials.csv"));
    let doc = fs::read_to_string(repo("docs/arms.md")).expect("the page");

    let mut table =
        "| arm | form | own label | sent | laundered | why |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    for arm in arms() {
        let cells = cells(&arm, &trials);
        let start = cells.split(" | ").next().expect("a name");
        let why = doc.lines().filter(|line| line.starts_with(start) && line.matches(" | ").count() == 5);
        let why = why.filter_map(|line| line.trim_end_matches(" |").rsplit(" | ").next()).next_back();
        // An explanation stands as long as what it explains does.
        let explained = doc.lines().any(|line| line.starts_with(&cells));
        let why = why.filter(|why| explained && !why.is_empty()).unwrap_or(UNEXPLAINED);
        let _ = writeln!(table, "{cells} {why} |");
    }
    assert!(
        !table.contains(UNEXPLAINED) && doc.contains(&table),
        "the page should hold, each cell explained:\n{table}"
    );

    // Where results are messages of the user's, or labelled so, no forged line is needed: any label does.
    for arm in ["goose", "continue", "roo"] {
        let mut mine = trials.iter().filter(|row| row["arm"] == arm);
        assert!(
            mine.all(|row| row["verdict"] == "laundered"),
            "{arm}: the page says that it does so under every label"
        );
    }
}
