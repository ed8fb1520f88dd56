//! `stats eval` and `power` as a reader meets them: what is printed, and the exit codes.

mod common;

use std::fs;

use common::{laundromat, repo};

/// Exit code, standard output and standard error of `laundromat stats eval` on a file of this text.
fn evaluated(text: &str) -> (i32, String, String) {
    let temp = tempfile::tempdir().expect("a folder");
    fs::write(temp.path().join("cases.json"), text).expect("written");
    let output = laundromat().current_dir(temp.path()).args(["stats", "eval", "cases.json"]).output().expect("it runs");
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("a code"), shown(&output.stdout), shown(&output.stderr))
}

#[test]
fn every_reference_case_passes() {
    let ended = laundromat().args(["stats", "eval"]).arg(repo("tests/data/stats_golden.json")).assert().success();
    let shown = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
    assert!(shown.ends_with("296 cases: 296 pass, 0 fail, 0 cannot be read\n"), "{shown}");
    assert!(shown.contains("error \"empty_calibration\" (expected \"empty_calibration\")"));
}

#[test]
fn a_wrong_value_and_a_wrong_error_fail() {
    let case = |expect: &str| {
        format!(
            r#"{{"cases": [{{"id": "w", "fn": "wilson_interval", "input": {{"x": 0, "n": 24}}, "expect": {expect}, "tol": 1e-6}}]}}"#
        )
    };
    assert_eq!(evaluated(&case(r#"{"low": 0}"#)).0, 0);
    let (code, out, _) = evaluated(&case(r#"{"high": 0.2}"#));
    assert!(code == 100 && out.contains("FAIL w wilson_interval: high 0.13797"), "{out}");
    assert!(out.contains("(expected 0.2)"), "{out}");
    let (code, out, _) = evaluated(&case(r#"{"error": "empty_sample"}"#));
    assert!(code == 100 && out.contains("expected empty_sample"), "{out}");
}

#[test]
fn what_cannot_be_evaluated_is_named() {
    let (code, out, _) = evaluated(r#"{"cases": [{"fn": "wilson", "input": {}, "expect": {"low": 0}}]}"#);
    assert!(code == 100 && out.contains("no statistic is named \"wilson\"; did you mean"), "{out}");
    let (code, out, _) =
        evaluated(r#"{"cases": [{"fn": "wilson_interval", "input": {"x": 1}, "expect": {"low": 0}}]}"#);
    assert!(code == 100 && out.contains("input field \"n\": expected a count"), "{out}");
}

#[test]
fn what_is_no_file_of_cases_is_a_fault_of_the_file() {
    for (text, named) in [
        ("{", "not JSON"),
        ("{}", "no list \"cases\""),
        (r#"{"cases": []}"#, "the list \"cases\" is empty"),
        (r#"{"cases": [{"fn": "wilson_interval", "input": {}}]}"#, "1 cases cannot be read"),
        (r#"{"cases": [{"fn": "cohen_h", "input": {}, "expect": {}, "tol": -1}]}"#, "1 cases cannot be read"),
    ] {
        let (code, _, error) = evaluated(text);
        assert!(code == 2 && error.contains(named), "{text}: {code} {error}");
    }
    let (_, out, _) = evaluated(r#"{"cases": [{"fn": "wilson_interval", "input": {}}]}"#);
    assert!(out.contains("UNREADABLE case 1: the field \"expect\" is missing"), "{out}");
}

#[test]
fn power_answers_four_questions() {
    let shown = |arguments: &[&str]| {
        let ended = laundromat().arg("power").args(arguments).assert().success();
        String::from_utf8_lossy(&ended.get_output().stdout).into_owned()
    };
    let design = ["--models", "3", "--repetitions", "2"];
    let with = |arguments: &[&str]| shown(&[arguments, &design].concat());
    insta::assert_snapshot!(
        [
            with(&["--rate", "72.2%", "--to", "60.6%"]),
            with(&["--rate", "0.722", "--sessions", "12"]),
            with(&["--rate", "0", "--limit", "10%"]),
            with(&["--rate", "0", "--margin", "10%", "--icc", "0"]),
        ]
        .join("\n")
    );
}

#[test]
fn a_question_without_an_answer_is_an_error() {
    for (arguments, named) in [
        (&["--rate", "0.3", "--to", "0.3"][..], "no plan answers this: no value reaches the requested power"),
        (&["--rate", "0.1", "--limit", "10%"][..], "no plan answers this"),
        (&["--rate", "0.3"][..], "--to"),
        (&["--rate", "130%", "--to", "0.3"][..], "write a fraction from 0 to 1"),
    ] {
        let output = laundromat().arg("power").args(arguments).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(named), "{arguments:?}: {error}");
    }
}

#[test]
fn counts_alone_are_given_the_bound_of_clustering() {
    let ended = laundromat().args(["contrast", "52/72", "14/72", "--cluster-size", "6"]).assert().success();
    let shown = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
    assert!(shown.contains("significant unless the design effect exceeds 10.5; maximum here 6"), "{shown}");
    assert!(shown.contains("z = 4.49 at an ICC of 0.2, 3.40 at 0.5, 2.59"), "{shown}");
}

/// An experiment with two arms over the bundled sessions, whose judge is of its summarizer's family.
const EXPERIMENT: &str = r#"schema = "laundromat-experiment/1"
name = "try"
seed = 1
sessions = ["[sessions]/*.json"]
attacks = ["standing-approval"]
arms = ["hermes-main", "hermes-typed"]
primary = ["hermes-main vs hermes-typed"]

[[summarizers]]
name = "small"
model = "gpt-5-mini"
profile = "openai"

[judge]
model = "gpt-5"
profile = "openai"
"#;

#[test]
fn a_plan_says_what_it_cannot_answer() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("try.toml");
    let sessions = repo("sessions").canonicalize().expect("a folder").display().to_string();
    let planned = |text: &str| {
        fs::write(&path, text.replace("[sessions]", &sessions.replace('\\', "/"))).expect("written");
        let output = laundromat().arg("plan").arg(&path).output().expect("it runs");
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), shown(&output.stdout), shown(&output.stderr))
    };
    let (code, out, _) = planned(EXPERIMENT);
    assert_eq!(code, Some(0));
    assert!(out.contains("primary contrasts     hermes-main vs hermes-typed"), "{out}");
    assert!(out.contains("the judge gpt-5 is of one family (gpt) with small"), "{out}");
    assert!(out.contains("more sessions help most: see laundromat power"), "{out}");
    let (code, _, error) = planned(&EXPERIMENT.replace("vs hermes-typed", "vs hermes-tiped"));
    assert!(code == Some(2) && error.contains("primary: \"hermes-tiped\" is no arm of this experiment"), "{error}");
}

#[test]
fn what_a_run_is_for_cannot_be_said_afterwards() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("try.toml");
    let sessions = repo("sessions").canonicalize().expect("a folder").display().to_string().replace('\\', "/");
    let offline = EXPERIMENT
        .replace("[sessions]/*", &format!("{sessions}/check-tern-handbook"))
        .replace("model = \"gpt-5-mini\"\nprofile = \"openai\"", "model = \"builtin:reader\"")
        .replace("model = \"gpt-5\"\nprofile = \"openai\"", "model = \"builtin:rules\"");
    let run = |text: &str, more: &[&str]| {
        fs::write(&path, text).expect("written");
        let output = laundromat().current_dir(temp.path()).arg("run").arg(&path).args(more).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let without = offline.replace("primary = [\"hermes-main vs hermes-typed\"]\n", "");
    assert_eq!(run(&without, &[]).0, Some(0));
    for more in [&[][..], &["--extend"][..]] {
        let (code, error) = run(&offline, more);
        assert!(code == Some(2) && error.contains("primary is new: hermes-main vs hermes-typed"), "{error}");
    }
}
