//! The binary as a user runs it: the main job, its views, resume after a kill.

mod common;

use std::fs;
use std::path::Path;

use common::{laundromat, repo};

const DATE: &str = "2026-03-04";

fn run(folder: &Path) -> assert_cmd::assert::Assert {
    laundromat().arg("run").arg(repo("scenarios/quickstart.toml")).args(["--date", DATE, "--out"]).arg(folder).assert()
}

/// Every view but the measured one, with its bytes.
fn views(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut views = Vec::new();
    for place in ["", "plots"] {
        for entry in fs::read_dir(folder.join(place)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("inside").display().to_string();
            if path.is_file() && name != "calls.csv" && !name.starts_with("run.") {
                views.push((name, fs::read(&path).expect("bytes")));
            }
        }
    }
    views.sort();
    views
}

#[test]
fn the_main_job_gives_the_same_bytes_every_time() {
    let temp = tempfile::tempdir().expect("a folder");
    let whole = temp.path().join("whole");
    run(&whole).success();
    let expected = views(&whole);
    assert_eq!(expected.len(), 11, "{:?}", expected.iter().map(|(name, _)| name).collect::<Vec<_>>());

    // Reporting again from the store changes no byte.
    laundromat().arg("report").arg(&whole).assert().success();
    assert_eq!(views(&whole), expected);

    // Neither does another run of the same experiment.
    let again = temp.path().join("again");
    run(&again).success();
    assert_eq!(views(&again), expected);
}

#[test]
fn a_finished_run_is_not_run_again() {
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path().join("run");
    run(&folder).success();
    let again = run(&folder).success();
    let notes = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert_eq!(notes, "96 trials, 96 of them stored already\n0 calls made\n");
}

#[test]
fn the_table_shows_what_the_forms_permit() {
    let temp = tempfile::tempdir().expect("a folder");
    let ended = run(temp.path()).success();
    let output = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
    insta::assert_snapshot!(output.replace(&temp.path().display().to_string(), "[dir]"));
    let rates = fs::read_to_string(temp.path().join("rates.csv")).expect("rates");
    for (arm, laundered) in [("hermes-0.19", 12), ("hermes-main", 12), ("hermes-split", 12), ("hermes-typed", 0)] {
        let row = format!("{arm},standing-approval,all,12,12,12,{laundered},");
        assert!(rates.contains(&row), "{row} in\n{rates}");
    }
}

#[test]
fn another_experiment_is_refused_and_the_difference_named() {
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path().join("run");
    run(&folder).success();
    let text = fs::read_to_string(repo("scenarios/quickstart.toml")).expect("text");
    let changed = text
        .replace("seed = 1", "seed = 2")
        .replace("\"../sessions/*.json\"", &format!("{:?}", repo("sessions/*.json").display().to_string()))
        .replace("\"hermes-split\", ", "");
    let file = temp.path().join("changed.toml");
    fs::write(&file, changed).expect("written");
    let refused = laundromat().arg("run").arg(&file).arg("--out").arg(&folder).assert().code(2);
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    for part in ["seed was 1, is 2", "arm hermes-split is gone", "--out"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

#[test]
fn a_note_may_change_after_the_run() {
    let temp = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(repo("scenarios/quickstart.toml"))
        .expect("text")
        .replace("\"../sessions/*.json\"", &format!("{:?}", repo("sessions/fix-*.json").display().to_string()));
    let (file, out) = (temp.path().join("e.toml"), temp.path().join("run"));
    for (more, title) in [
        ("", "# Laundering report: quickstart\n"),
        ("note = \"a try\"\n", "# Laundering report: quickstart. a try\n"),
        ("note = \"another\"\n", "# Laundering report: quickstart. another\n"),
    ] {
        fs::write(&file, text.replace("seed = 1\n", &format!("seed = 1\n{more}"))).expect("written");
        laundromat().arg("run").arg(&file).arg("--out").arg(&out).assert().success();
        assert!(fs::read_to_string(out.join("report.md")).expect("a report").starts_with(title), "{title}");
    }
}

#[test]
fn a_grown_experiment_is_taken_over_when_asked() {
    let temp = tempfile::tempdir().expect("a folder");
    let file = temp.path().join("e.toml");
    let text = fs::read_to_string(repo("scenarios/quickstart.toml"))
        .expect("text")
        .replace("\"../sessions/*.json\"", &format!("{:?}", repo("sessions/*.json").display().to_string()));
    let out = temp.path().join("run");
    let start = |arms: &str, more: &[&str]| {
        let all = "arms = [\"hermes-0.19\", \"hermes-main\", \"hermes-split\", \"hermes-typed\"]";
        assert!(text.contains(all));
        fs::write(&file, text.replace(all, arms)).expect("written");
        laundromat().arg("run").arg(&file).args(["--date", DATE, "--out"]).arg(&out).args(more).assert()
    };
    start("arms = [\"hermes-main\"]", &[]).success();
    let refused = start("arms = [\"hermes-main\", \"hermes-typed\"]", &[]).code(2);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(said.contains("arm hermes-typed is new") && said.contains("--extend"), "{said}");
    let extended = start("arms = [\"hermes-main\", \"hermes-typed\"]", &["--extend"]).success();
    let said = String::from_utf8_lossy(&extended.get_output().stderr).into_owned();
    assert!(said.contains("48 trials, 24 of them stored already") && said.contains("24 calls made"), "{said}");
    // What is gone or changed is no growth.
    start("arms = [\"hermes-typed\"]", &["--extend"]).code(2);
}

#[test]
fn shields_of_one_name_in_two_folders_are_two_shields() {
    let temp = tempfile::tempdir().expect("a folder");
    let arm = fs::read_to_string(repo("scenarios/arms/hermes-main.toml")).expect("an arm");
    for (folder, cover) in [("a", "A"), ("b", "BBBBBBBBBB")] {
        fs::create_dir(temp.path().join(folder)).expect("a folder");
        let mine = arm
            .replace("name = \"hermes-main\"", &format!("name = \"{folder}\""))
            .replace("\"hermes-forced\"", "\"s.toml\"");
        fs::write(temp.path().join(folder).join("arm.toml"), mine).expect("written");
        let rule = format!("[[rules]]\npattern = 'the'\nwith = \"{cover}\"\n");
        let shield = format!("schema = \"laundromat-shield/1\"\nname = \"s\"\n{rule}");
        fs::write(temp.path().join(folder).join("s.toml"), shield).expect("written");
    }
    let file = temp.path().join("e.toml");
    let text = fs::read_to_string(repo("scenarios/quickstart.toml"))
        .expect("text")
        .replace("\"../sessions/*.json\"", &format!("{:?}", repo("sessions/fix-*.json").display().to_string()))
        .replace(
            "\"hermes-0.19\", \"hermes-main\", \"hermes-split\", \"hermes-typed\"",
            "\"a/arm.toml\", \"b/arm.toml\"",
        );
    fs::write(&file, text).expect("written");
    let out = temp.path().join("run");
    laundromat().arg("run").arg(&file).arg("--out").arg(&out).assert().success();
    let trials = fs::read_to_string(out.join("trials.csv")).expect("trials");
    let chars = |arm: &str| -> u64 {
        let row = trials.lines().find(|row| row.contains(&format!("/clean/{arm}/"))).expect("a row");
        row.split(',').nth(10).and_then(|chars| chars.parse().ok()).expect("a number")
    };
    assert!(chars("b") > chars("a"), "{} {}", chars("a"), chars("b"));
}

#[test]
fn everything_that_comes_with_laundromat_is_valid() {
    let mut files = Vec::new();
    for place in
        ["scenarios", "scenarios/arms", "scenarios/attacks", "scenarios/prompts", "scenarios/shields", "sessions"]
    {
        for entry in fs::read_dir(repo(place)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "toml" || extension == "json") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 20);
    laundromat().arg("validate").args(&files).assert().success();
}

#[test]
fn plan_spends_nothing_and_says_what_it_will_come_to() {
    let temp = tempfile::tempdir().expect("a folder");
    let planned =
        laundromat().current_dir(temp.path()).arg("plan").arg(repo("scenarios/quickstart.toml")).assert().success();
    insta::assert_snapshot!(String::from_utf8_lossy(&planned.get_output().stdout).into_owned());
    assert_eq!(fs::read_dir(temp.path()).expect("a folder").count(), 0, "plan writes nothing");
}

#[test]
fn contrast_computes_from_counts_alone() {
    for (first, second, parts) in [
        ("52/72", "14/72", ["72.2%", "19.4%", "z=6.36"]),
        ("52/72", "43/71", ["72.2%", "60.6%", "z=1.48"]),
        ("43/71", "14/72", ["60.6%", "19.4%", "z=5.02"]),
        ("24/24", "24/24", ["100.0%", "no variance", "+0.0 points"]),
    ] {
        let ended = laundromat().args(["contrast", first, second]).assert().success();
        let output = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
        for part in parts {
            assert!(output.contains(part), "{part} in {output}");
        }
    }
}
