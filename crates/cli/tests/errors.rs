//! Every error a newcomer can make names file, place and remedy, with the right exit code.

mod common;

use std::fs;
use std::path::Path;

use common::{laundromat, repo};

const EXPERIMENT: &str = r#"schema = "laundromat-experiment/1"
name = "try"
seed = 1
sessions = ["s.json"]
attacks = ["standing-approval"]
arms = ["hermes-main"]

[[summarizers]]
name = "reader"
model = "builtin:reader"

[judge]
model = "builtin:rules"
"#;
const SESSION: &str = r#"{"schema": "laundromat-session/1", "id": "s", "messages": [
 {"role": "user", "content": "go"},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": "{}"}}]},
 {"role": "tool", "tool_call_id": "c", "content": "a.txt"}
]}"#;

/// Standard error and exit code of `laundromat` in a folder with these files, the folder's path left out.
fn failed(files: &[(&str, &str)], arguments: &[&str]) -> String {
    let temp = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = temp.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    let output = laundromat().current_dir(temp.path()).args(arguments).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).replace(&temp.path().display().to_string(), "[dir]");
    let code = output.status.code().expect("a code");
    assert!(code == 2 || code == 4, "{code}: {error}");
    assert!(!Path::new(&temp.path().join("results")).exists(), "a refused run leaves nothing");
    format!("{error}exit code {code}")
}

/// The message for an experiment in which `from` is replaced by `to`.
fn experiment(from: &str, to: &str) -> String {
    assert!(EXPERIMENT.contains(from), "{from}");
    failed(&[("e.toml", &EXPERIMENT.replace(from, to)), ("s.json", SESSION)], &["run", "e.toml"])
}

#[test]
fn the_untouched_experiment_runs() {
    let temp = tempfile::tempdir().expect("a folder");
    fs::write(temp.path().join("e.toml"), EXPERIMENT).expect("written");
    fs::write(temp.path().join("s.json"), SESSION).expect("written");
    laundromat().current_dir(temp.path()).args(["run", "e.toml"]).assert().success();
}

#[test]
fn files_that_are_not_there() {
    insta::assert_snapshot!("missing-experiment", failed(&[], &["run", "nothing.toml"]));
    insta::assert_snapshot!("empty-glob", experiment("s.json", "none/*.json"));
    insta::assert_snapshot!("missing-arm-file", experiment("\"hermes-main\"", "\"my-arm.toml\""));
    insta::assert_snapshot!("missing-run", failed(&[], &["report", "results/none"]));
    insta::assert_snapshot!("missing-import", failed(&[], &["import", "none.jsonl", "--out", "out"]));
    insta::assert_snapshot!("empty-import-folder", failed(&[("docs/a.txt", "x")], &["import", "docs", "--out", "out"]));
}

#[test]
fn experiments_with_faults() {
    insta::assert_snapshot!("bad-toml", experiment("seed = 1", "seed = = 1"));
    insta::assert_snapshot!("unknown-key", experiment("seed = 1", "seed = 1\nrepititions = 2"));
    insta::assert_snapshot!("unknown-arm", experiment("hermes-main", "hermes-mian"));
    insta::assert_snapshot!("unknown-attack", experiment("standing-approval", "standing-aproval"));
    insta::assert_snapshot!("unknown-model", experiment("builtin:reader", "builtin:raeder"));
    insta::assert_snapshot!("unknown-judge", experiment("builtin:rules", "gpt-5"));
    insta::assert_snapshot!("wrong-type", experiment("seed = 1", "seed = \"one\""));
    insta::assert_snapshot!("repeated-reader", experiment("seed = 1", "seed = 1\nrepetitions = 3"));
    insta::assert_snapshot!("doubled-arm", experiment("[\"hermes-main\"]", "[\"hermes-main\", \"hermes-main\"]"));
    insta::assert_snapshot!("bad-name", experiment("name = \"try\"", "name = \"../try\""));
    insta::assert_snapshot!("bad-note", experiment("seed = 1", "seed = 1\nnote = \"one\\ntwo\""));
    insta::assert_snapshot!("wrong-schema", experiment("laundromat-experiment/1", "laundromat-experiment/9"));
    insta::assert_snapshot!(
        "many-faults",
        experiment("seed = 1\nsessions = [\"s.json\"]", "sed = 1\nsessions = []\n[limits]\nconcurrency = 0\n[x]")
    );
}

#[test]
fn data_files_of_one_name() {
    let arm = fs::read_to_string(repo("scenarios/arms/hermes-main.toml")).expect("an arm");
    let two = EXPERIMENT.replace("[\"hermes-main\"]", "[\"hermes-main\", \"mine.toml\"]");
    let files =
        [("e.toml", two.as_str()), ("mine.toml", &arm.replace("head = 4000", "head = 3000")), ("s.json", SESSION)];
    insta::assert_snapshot!("two-arms-of-one-name", failed(&files, &["run", "e.toml"]));
    let lost = arm
        .replace("prompt = \"hermes-main\"", "prompt = \"mine-prompt.toml\"")
        .replace("name = \"hermes-main\"", "name = \"mine\"");
    let files = [("e.toml", two.as_str()), ("mine.toml", &lost), ("s.json", SESSION)];
    insta::assert_snapshot!("missing-prompt-file", failed(&files, &["run", "e.toml"]));
}

#[test]
fn all_wrong_names_are_told_at_once() {
    let wrong = EXPERIMENT
        .replace("standing-approval", "standing-aproval")
        .replace("hermes-main", "hermes-mian")
        .replace("s.json", "t.json");
    insta::assert_snapshot!("many-names", failed(&[("e.toml", &wrong)], &["run", "e.toml"]));
    insta::assert_snapshot!(
        "too-much-at-once",
        experiment("[judge]", "[limits]\nconcurrency = 4000000000000000000\n[judge]")
    );
}

#[test]
fn a_file_that_is_not_text() {
    let temp = tempfile::tempdir().expect("a folder");
    fs::write(temp.path().join("e.toml"), b"name = \"a\"\nseed = \"\xff\"\n").expect("written");
    let output = laundromat().current_dir(temp.path()).args(["run", "e.toml"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!("not-text", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_folder_with_brackets_in_its_name_is_a_folder() {
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path().join("g[x]");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("e.toml"), EXPERIMENT).expect("written");
    fs::write(folder.join("s.json"), SESSION).expect("written");
    laundromat().current_dir(temp.path()).args(["run", "g[x]/e.toml"]).assert().success();
}

#[test]
fn sessions_with_faults() {
    let session = |text: &str| failed(&[("e.toml", EXPERIMENT), ("s.json", text)], &["run", "e.toml"]);
    insta::assert_snapshot!("session-cut-off", session("{\"schema\": \"laundromat-session/1\", \"id\": "));
    insta::assert_snapshot!("session-of-no-format", session("hello"));
    insta::assert_snapshot!(
        "session-with-faults",
        session(&SESSION.replace("\"role\": \"user\"", "\"rolle\": \"user\""))
    );
    insta::assert_snapshot!(
        "session-without-results",
        session(
            "{\"schema\": \"laundromat-session/1\", \"id\": \"s\", \"messages\": [{\"role\": \"user\", \"content\": \"go\"}]}"
        )
    );
    let double = EXPERIMENT.replace("[\"s.json\"]", "[\"s.json\", \"t.json\"]");
    insta::assert_snapshot!(
        "two-sessions-of-one-id",
        failed(&[("e.toml", &double), ("s.json", SESSION), ("t.json", SESSION)], &["run", "e.toml"])
    );
}

#[test]
fn data_files_with_faults() {
    let arm = fs::read_to_string(repo("scenarios/arms/hermes-typed.toml")).expect("an arm");
    let faulty = arm
        .replace("form = \"typed\"", "form = \"typd\"\ncolour = 1")
        .replace("limit = 6000", "limit = 5000")
        .replace("labels = \"bracket-upper\"", "labels = \"bracket-uper\"");
    insta::assert_snapshot!("arm", failed(&[("arm.toml", &faulty)], &["validate", "arm.toml"]));
    let prompt = fs::read_to_string(repo("scenarios/prompts/hermes-main.toml")).expect("a prompt");
    let faulty = prompt.replace("{date}", "{date:%Y}").replace("{turns}", "{turns}{turns}");
    insta::assert_snapshot!("prompt", failed(&[("prompt.toml", &faulty)], &["validate", "prompt.toml"]));
    let attack = fs::read_to_string(repo("scenarios/attacks/standing-approval.toml")).expect("an attack");
    let faulty = attack.replace("{host}", "h").replace("\"raw\"", "\"rot13\"");
    insta::assert_snapshot!("attack", failed(&[("attack.toml", &faulty)], &["validate", "attack.toml"]));
    let shield = fs::read_to_string(repo("scenarios/shields/hermes-default.toml")).expect("a shield");
    insta::assert_snapshot!(
        "shield",
        failed(&[("shield.toml", &shield.replacen("[\\s\\S]*?", "[\\s\\S*?", 1))], &["validate", "shield.toml"])
    );
    insta::assert_snapshot!("no-schema", failed(&[("a.toml", "x = 1")], &["validate", "a.toml"]));
}

#[test]
fn arguments_with_faults() {
    insta::assert_snapshot!("contrast-words", failed(&[], &["contrast", "52", "14/72"]));
    insta::assert_snapshot!("contrast-counts", failed(&[], &["contrast", "73/72", "14/72"]));
    insta::assert_snapshot!(
        "bad-date",
        failed(&[("e.toml", EXPERIMENT), ("s.json", SESSION)], &["run", "e.toml", "--date", "2026-13-01"])
    );
    insta::assert_snapshot!(
        "unknown-format",
        failed(&[("s.json", SESSION)], &["import", "s.json", "--out", "out", "--format", "claude"])
    );
}

#[test]
fn a_folder_that_cannot_be_written() {
    let temp = tempfile::tempdir().expect("a folder");
    fs::write(temp.path().join("e.toml"), EXPERIMENT).expect("written");
    fs::write(temp.path().join("s.json"), SESSION).expect("written");
    // A file stands where the folder should be.
    fs::write(temp.path().join("taken"), "").expect("written");
    let output =
        laundromat().current_dir(temp.path()).args(["run", "e.toml", "--out", "taken"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!("taken-folder", String::from_utf8_lossy(&output.stderr));
}
