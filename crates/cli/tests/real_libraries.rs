//! The real libraries behind `adapters/` as exec arms, end to end against the mock. Ignored unless they are asked for:
//! `python3 adapters/install.py` has to have been run, which fetches them.

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::paid::{KEY, mock, rows, run, said, script};
use common::repo;
use laundromat_mock::{Fault, FaultKind, Form, Mock, When};
use laundromat_store::{Run, TrialId};
use serde_json::Value;

const SESSIONS: [&str; 2] = ["fix-region-rollup-test", "review-lantern-retries"];

/// What is known of a library's way: shape, where the plant is, and what becomes of the request being answered.
struct Known {
    arm: &'static str,
    shape: &'static str,
    place: &'static str,
    request: &'static str,
}

/// The summary step alone gives back no tail, so that Hermes' request is only told of.
const KNOWN: [Known; 5] = [
    Known { arm: "real-hermes-0.19", shape: "chat-completions", place: "message 1 of 1", request: "quoted" },
    Known { arm: "real-adk-2.13", shape: "gemini", place: "message 1 of 1", request: "kept" },
    Known { arm: "real-pydantic-0.30", shape: "chat-completions", place: "message 2 of 2", request: "kept" },
    Known { arm: "real-pydantic-0.62", shape: "chat-completions", place: "message 2 of 2", request: "kept" },
    Known { arm: "real-langchain-1.5", shape: "chat-completions", place: "message 1 of 1", request: "kept" },
];

/// An experiment of these arms; the files of the real ones are those that users have.
fn experiment(folder: &Path, mock: &Mock, attacks: &str, arms: &[&str]) -> PathBuf {
    let file = |arm: &&str| match arm.starts_with("real-") {
        true => repo(&format!("adapters/arms/{arm}.toml")).display().to_string(),
        false => (*arm).to_owned(),
    };
    let arms: Vec<String> = arms.iter().map(file).collect();
    let sessions = SESSIONS.map(|session| repo(&format!("sessions/{session}.json")).display().to_string());
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"real\"\nseed = 1\nsessions = {sessions:?}\nattacks = {attacks}\n\
         arms = {arms:?}\n[[summarizers]]\nname = \"m\"\nmodel = \"vendor/some-model\"\nbase-url = {:?}\n\
         key-env = \"LAUNDROMAT_TEST_KEY\"\n[judge]\nmodel = \"builtin:rules\"\n\
         [limits]\nattempts = 2\nbackoff-ms = 1\nattempt-seconds = 60\nconcurrency = 3\n",
        mock.base_url()
    );
    let path = folder.join("real.toml");
    fs::write(&path, text).expect("written");
    path
}

/// Runs the experiment; every library has to be installed.
fn finished(experiment: &Path, out: &Path) {
    let installed = repo("target/adapters");
    assert!(installed.is_dir(), "{} is not there; run: python3 adapters/install.py", installed.display());
    let output = run(experiment, out, &["--date", "2026-03-04"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// The rows of one arm and attack, a row for each session.
fn of<'r>(rows: &'r [HashMap<String, String>], arm: &str, attack: &str) -> Vec<&'r HashMap<String, String>> {
    let found: Vec<_> = rows.iter().filter(|row| row["arm"] == arm && row["attack"] == attack).collect();
    assert_eq!(found.len(), SESSIONS.len(), "{arm}, {attack}");
    found
}

/// The record block of a request to summarize in Hermes' words.
fn record_block(request: &[u8]) -> String {
    let request: Value = serde_json::from_slice(request).expect("JSON");
    let text = request["messages"][0]["content"].as_str().expect("text");
    let (_, rest) = text.split_once("TURNS TO SUMMARIZE:\n").expect("turns");
    rest.split_once("\n\nUse this exact structure:").expect("a structure").0.to_owned()
}

#[test]
#[ignore = "needs python3 adapters/install.py"]
fn four_libraries_are_measured_and_hermes_sends_what_its_arm_sends() {
    let mock = mock(script().launder(Form::FlatUser, 1.0).launder(Form::FlatSplit, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let arms: Vec<&str> = ["hermes-0.19"].into_iter().chain(KNOWN.iter().map(|known| known.arm)).collect();
    let out = temp.path().join("out");
    finished(&experiment(temp.path(), &mock, "[\"standing-approval\", \"clean\"]", &arms), &out);

    let (trials, captured) = (rows(&out.join("trials.csv")), rows(&out.join("captured.csv")));
    let contexts = rows(&out.join("contexts.csv"));
    assert_eq!((trials.len(), captured.len(), mock.calls().len()), (24, 20, 24));
    for known in &KNOWN {
        let arm = known.arm;
        for trial in of(&trials, arm, "standing-approval") {
            let seen = [&trial["outcome"], &trial["exposure"], &trial["verdict"]];
            assert_eq!(seen, ["scored", "full", "laundered"], "{trial:?}");
        }
        for trial in of(&trials, arm, "clean") {
            assert_eq!((trial["outcome"].as_str(), trial["verdict"].as_str()), ("scored", "absent"), "{trial:?}");
        }
        for row in of(&captured, arm, "standing-approval") {
            let seen = [&row["number"], &row["shape"], &row["exposure"], &row["role"], &row["place"], &row["outcome"]];
            assert_eq!(seen, ["1", known.shape, "full", "user", known.place, "scored"], "{row:?}");
            assert_eq!(row["model"], "vendor/some-model", "a name with a slash goes through: {row:?}");
        }
        for row in of(&contexts, arm, "clean").into_iter().chain(of(&contexts, arm, "standing-approval")) {
            assert_eq!(row["current_request"], known.request, "{row:?}");
        }
    }

    // The captured request and the built-in arm's agree on every byte of the records.
    let store = Run::open(&out).expect("a run");
    let captured = store.captured().expect("requests");
    for trial in store.trials().expect("trials").iter().filter(|trial| trial.id.arm == "hermes-0.19") {
        let built = record_block(&store.body(&trial.cell.body.expect("a body")).expect("bytes"));
        let real = TrialId { arm: "real-hermes-0.19".to_owned(), ..trial.id.clone() };
        let (_, request) = captured.iter().find(|(id, _)| *id == real).expect("a request");
        let request = zstd::decode_all(request.request_zstd.as_slice()).expect("bytes");
        assert_eq!(record_block(&request), built, "{:?}", trial.id);
        assert!(built.len() > 10_000 && !String::from_utf8_lossy(&request).contains(KEY));
    }
}

#[test]
#[ignore = "needs python3 adapters/install.py"]
fn a_summary_ended_by_length_or_by_safety_replaces_adks_history() {
    for (kind, outcome) in [(FaultKind::Truncated, "truncated"), (FaultKind::FilteredText, "refused")] {
        let mock = mock(script().fault(Fault::new(kind, When::Probability(1.0))));
        let temp = tempfile::tempdir().expect("a folder");
        let out = temp.path().join("out");
        finished(&experiment(temp.path(), &mock, "[\"clean\"]", &["real-adk-2.13"]), &out);
        for trial in of(&rows(&out.join("trials.csv")), "real-adk-2.13", "clean") {
            let seen = [&trial["outcome"], &trial["detail"]];
            assert_eq!(seen, [outcome, "the harness replaced history with it all the same"], "{trial:?}");
        }
    }
    // What ends without any text keeps the history.
    let mock = mock(script().fault(Fault::new(FaultKind::ContentFilter, When::Probability(1.0))));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    finished(&experiment(temp.path(), &mock, "[\"clean\"]", &["real-adk-2.13"]), &out);
    for trial in of(&rows(&out.join("trials.csv")), "real-adk-2.13", "clean") {
        let seen = [&trial["outcome"], &trial["detail"]];
        assert_eq!(seen, ["refused", "the harness kept the old context"], "{trial:?}");
    }
}

#[test]
#[ignore = "needs python3 adapters/install.py"]
fn pydantic_ai_harness_drops_the_request_being_answered_in_0_30_and_not_in_0_62() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let arms = ["real-pydantic-0.30-keep-user", "real-pydantic-0.62-keep-user"];
    finished(&experiment(temp.path(), &mock, "[\"clean\"]", &arms), &out);
    let contexts = rows(&out.join("contexts.csv"));
    let store = Run::open(&out).expect("a run");
    for (arm, made_of_it) in arms.into_iter().zip(["absent", "kept"]) {
        for row in of(&contexts, arm, "clean") {
            assert_eq!(row["current_request"], made_of_it, "{row:?}");
            let session = &row["session"];
            let text = fs::read_to_string(repo(&format!("sessions/{session}.json"))).expect("a session");
            let file: Value = serde_json::from_str(&text).expect("JSON");
            let newest = file["messages"].as_array().expect("messages").last().expect("one");
            assert_eq!(newest["role"], "user", "{session} ends with the request");
            let newest = newest["content"].as_str().expect("text").trim();
            let trial = TrialId {
                session: session.clone(),
                attack: "clean".to_owned(),
                arm: arm.to_owned(),
                summarizer: "m".to_owned(),
                rep: 1,
            };
            let context = store.observed_context(&trial).expect("read").expect("a context");
            let context: Vec<Value> = serde_json::from_slice(&context).expect("messages");
            let is_there = context.iter().any(|message| message.to_string().contains(&Value::from(newest).to_string()));
            assert_eq!(is_there, made_of_it == "kept", "{arm}, {session}");
        }
    }
}
