//! Exec arms on the real binary: programs that behave, programs that do not, and runs that are killed under them.

#[path = "../common/mod.rs"]
mod common;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use common::{laundromat, repo};
use laundromat_mock::{Form, Mock, Script};
use laundromat_store::Run;

const KEY: &str = "mock-key-91c2";

/// The programs are Python: without it these tests say so and prove nothing.
fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        eprintln!("skipped: there is no python3");
    }
    found
}

fn mock(script: Script) -> Mock {
    Mock::start(script.key(KEY).launder(Form::FlatUser, 1.0)).expect("the mock starts")
}

/// An arm file that runs the driver; `more` is TOML for it.
fn arm(folder: &Path, name: &str, more: &str) -> String {
    let text = format!(
        "schema = \"laundromat-arm/1\"\nkind = \"exec\"\nname = \"{name}\"\ntitle = \"t\"\nharness = \"driver\"\n\
         command = [\"python3\", \"driver.py\"]\ncwd = {:?}\n{more}\n",
        repo("crates/cli/tests/exec").display().to_string()
    );
    fs::write(folder.join(format!("{name}.toml")), text).expect("written");
    format!("{name}.toml")
}

fn experiment(folder: &Path, mock: &Mock, sessions: &str, attacks: &str, arms: &[String]) -> PathBuf {
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"e\"\nseed = 1\nsessions = [{:?}]\nattacks = {attacks}\n\
         arms = {arms:?}\n[[summarizers]]\nname = \"m\"\nmodel = \"some-model\"\nbase-url = {:?}\n\
         key-env = \"LAUNDROMAT_TEST_KEY\"\n[judge]\nmodel = \"builtin:rules\"\n\
         [limits]\nattempts = 2\nbackoff-ms = 1\nattempt-seconds = 20\nconcurrency = 4\n",
        repo(sessions).display().to_string(),
        mock.base_url()
    );
    let path = folder.join("e.toml");
    fs::write(&path, text).expect("written");
    path
}

fn command(experiment: &Path, out: &Path) -> assert_cmd::Command {
    let mut command = laundromat();
    command.env("LAUNDROMAT_TEST_KEY", KEY).arg("run").arg(experiment).args(["--date", "2026-03-04", "--out"]).arg(out);
    command
}

fn run(experiment: &Path, out: &Path) -> Output {
    command(experiment, out).output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn rows(path: &Path) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path).expect("a table");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    lines
        .map(|line| head.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

const ONE: &str = "sessions/fix-region-rollup-test.json";
const ATTACK: &str = "[\"standing-approval\"]";

#[test]
fn a_harness_is_measured_in_every_shape_its_client_speaks() {
    if !has_python() {
        return;
    }
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let clients = ["chat", "responses", "anthropic", "gemini"];
    let arms = clients.map(|client| {
        let variable =
            format!("[settings]\nclient = \"{{variable}}\"\n[variable]\nname = \"client\"\nvalue = \"{client}\"");
        arm(temp.path(), client, &variable)
    });
    let experiment = experiment(temp.path(), &mock, ONE, "[\"standing-approval\", \"clean\"]", &arms);
    let out = temp.path().join("out");
    let output = run(&experiment, &out);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let trials = rows(&out.join("trials.csv"));
    assert_eq!(trials.len(), 8);
    for trial in &trials {
        assert_eq!((trial["outcome"].as_str(), trial["exposure"].as_str()), ("scored", "full"), "{trial:?}");
        assert_eq!(trial["verdict"] == "laundered", trial["attack"] != "clean", "{trial:?}");
    }
    let captured = rows(&out.join("captured.csv"));
    let attacked: Vec<_> = captured.iter().filter(|row| row["attack"] == "standing-approval").collect();
    assert_eq!((captured.len(), attacked.len(), mock.calls().len()), (8, 4, 8));
    for row in attacked {
        let shape = if row["arm"] == "chat" { "chat-completions" } else { &row["arm"] };
        assert_eq!(row["shape"], shape);
        assert_eq!([&row["exposure"], &row["role"], &row["place"]], ["full", "user", "message 1 of 1"]);
    }
    // What was judged is the harness's context, its wrapping included; another judge reads the same.
    let store = Run::open(&out).expect("a run");
    let trial = store.trials().expect("trials").remove(0).id;
    let summary = store.observed_summary(&trial).expect("read").expect("a summary");
    assert!(summary.starts_with("For context:\n## "), "{summary}");
    assert!(store.observed_context(&trial).expect("read").is_some());
    let again = temp.path().join("again");
    laundromat().arg("judge").arg(&out).args(["--judge", "builtin:rules", "--out"]).arg(&again).assert().success();
    assert_eq!(rows(&again.join("rates.csv")), rows(&out.join("rates.csv")));
    // A finished run is over: no program is started, no call made.
    assert_eq!(run(&experiment, &out).status.code(), Some(0));
    assert_eq!(mock.calls().len(), 8);
}

#[test]
fn programs_that_fail_are_told_apart_and_are_final() {
    if !has_python() {
        return;
    }
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let pid = temp.path().join("pid");
    let modes = [
        ("crash", "the program ended with code 7; its last words: a \\u{1b}[31mred\\u{1b}[0m word\\nlast words"),
        ("junk", "standard output is not one JSON object"),
        ("huge", "the program was ended: it wrote more than"),
        ("same", "nothing was compacted: no call was made"),
        ("token", "its last words: refused with 401"),
        ("hang", "the program was ended after 3 s"),
    ];
    let arms = modes.map(|(mode, _)| {
        let timeout = if mode == "hang" { "timeout-seconds = 3" } else { "" };
        let more = format!("{timeout}\nallow-differences = true\n[settings]\nmode = {mode:?}\npid = {pid:?}");
        arm(temp.path(), mode, &more)
    });
    let experiment = experiment(temp.path(), &mock, ONE, ATTACK, &arms);
    let out = temp.path().join("out");
    let output = run(&experiment, &out);
    assert_eq!(output.status.code(), Some(0), "every trial is over: {}", said(&output));
    let trials = fs::read_to_string(out.join("trials.csv")).expect("a table");
    for (mode, words) in modes {
        let row = trials.lines().find(|row| row.contains(&format!("/standing-approval/{mode}/"))).expect("a row");
        assert!(row.contains(",exec-error,") && row.contains(words), "{mode}: {row}");
    }
    assert!(!trials.contains('\u{1b}'), "no control character reaches a table");
    assert_eq!(mock.calls().len(), 0);
    // Nothing of the group outlives its trial: not the program, nor what it had started.
    for pid in fs::read_to_string(&pid).expect("two numbers").split_whitespace() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

#[test]
fn exposure_is_found_by_the_plants_text() {
    if !has_python() {
        return;
    }
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let arms = ["full", "cut", "no-tools", "twice"].map(|mode| {
        let more = format!("[settings]\nmode = \"{{variable}}\"\n[variable]\nname = \"mode\"\nvalue = {mode:?}");
        arm(temp.path(), mode, &more)
    });
    let experiment = experiment(temp.path(), &mock, ONE, ATTACK, &arms);
    let out = temp.path().join("out");
    let output = run(&experiment, &out);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let exposure = |arm: &str| {
        let trials = rows(&out.join("trials.csv"));
        trials.iter().find(|row| row["arm"] == arm).expect("a row")["exposure"].clone()
    };
    assert_eq!(["full", "cut", "no-tools", "twice"].map(exposure), ["full", "partial", "none", "full"]);
    let captured = rows(&out.join("captured.csv"));
    let numbers: Vec<&str> =
        captured.iter().filter(|row| row["arm"] == "twice").map(|row| row["number"].as_str()).collect();
    assert_eq!(numbers, ["1", "2"]);
    // The client's own bound on its replies acts, since the summarizer has none.
    assert!(captured.iter().all(|row| row["max_tokens"] == "900" && row["left_out"].is_empty()));
}

#[test]
fn a_plan_says_what_is_not_known_and_what_one_call_may_cost() {
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let arms = [arm(temp.path(), "one", ""), "hermes-main".to_owned()];
    let path = experiment(temp.path(), &mock, ONE, "[\"standing-approval\", \"clean\"]", &arms);
    let planned = || {
        let output = laundromat().arg("plan").arg(&path).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let line = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    let told = planned();
    assert!(line(&told, "exec trials").is_some_and(|line| line.contains(" 2, whose programs")), "{told}");
    assert_eq!(line(&told, "an exec call"), None, "no budget, no cap on it: {told}");
    let text = fs::read_to_string(&path).expect("an experiment");
    let price = "[[prices]]\nmodel = \"some-model\"\nin = 1.0\nout = 2.0\n";
    let text = text.replace("key-env", "max-tokens = 1000\nkey-env") + "[budget]\nmax-cost = 1.0\n" + price;
    fs::write(&path, text).expect("written");
    let told = planned();
    let call = line(&told, "an exec call").expect("a line");
    assert!(call.contains("$0.0") && call.contains("as long as the longest session"), "{told}");
}

#[test]
fn a_program_sees_no_key_and_an_arm_that_holds_one_is_refused() {
    if !has_python() {
        return;
    }
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let log = temp.path().join("log");
    let one = arm(temp.path(), "one", &format!("[env]\nMODE = \"lean\"\n[settings]\nlog = {log:?}"));
    let first = experiment(temp.path(), &mock, ONE, ATTACK, &[one]);
    let out = temp.path().join("out");
    let output = command(&first, &out).env("SOME_OTHER_API_KEY", "sk-other-secret").output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let seen = fs::read_to_string(&log).expect("an environment");
    assert!(!seen.contains(KEY) && !seen.contains("sk-other-secret") && !seen.contains("SOME_OTHER"), "{seen}");
    assert!(seen.contains("\"MODE\": \"lean\"") && seen.contains("\"LAUNDROMAT_DATE\": \"2026-03-04\""), "{seen}");

    let two = arm(temp.path(), "two", &format!("[env]\nMODE = \"x{KEY}\""));
    let second = experiment(temp.path(), &mock, ONE, ATTACK, &[two]);
    let output = run(&second, &temp.path().join("out-2"));
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(told.contains("env.MODE: this holds the value of LAUNDROMAT_TEST_KEY") && !told.contains(KEY), "{told}");
}

#[test]
fn versions_that_differ_in_more_than_they_declare_are_refused() {
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    let arms = [arm(temp.path(), "a", "[settings]\nkeep = 1"), arm(temp.path(), "b", "[settings]\nkeep = 2")];
    let path = experiment(temp.path(), &mock, ONE, ATTACK, &arms);
    let output = run(&path, &temp.path().join("out"));
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(told.contains("differ in more than a declared variable: settings.keep"), "{told}");
    arm(temp.path(), "b", "allow-differences = true\n[settings]\nkeep = 2");
    laundromat().arg("validate").arg(&path).assert().success();
}

#[test]
fn a_program_that_is_not_there_is_told_before_any_trial_is_over() {
    let mock = mock(Script::default());
    let temp = tempfile::tempdir().expect("a folder");
    for program in ["pyhton3-no-such", "./no/such/program"] {
        let name = arm(temp.path(), "gone", "");
        let file = temp.path().join(&name);
        let text = fs::read_to_string(&file).expect("the arm").replace("\"python3\"", &format!("{program:?}"));
        fs::write(&file, text).expect("written");
        let out = temp.path().join("out");
        let output = run(&experiment(temp.path(), &mock, ONE, ATTACK, &[name]), &out);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let told = said(&output);
        assert!(told.contains("gone.toml: command: there is no program") && told.contains("install it"), "{told}");
        assert!(!out.join("run.sqlite").exists(), "nothing is over yet");
    }
}

#[test]
fn a_killed_run_starts_no_finished_trial_again_and_pays_for_nothing_twice() {
    if !has_python() {
        return;
    }
    let mock = mock(Script::default().latency_ms(60));
    let temp = tempfile::tempdir().expect("a folder");
    let log = temp.path().join("log");
    let arms = [arm(temp.path(), "one", &format!("[settings]\nmode = \"twice\"\nlog = {log:?}"))];
    let experiment = experiment(temp.path(), &mock, "sessions/*.json", ATTACK, &arms);
    let out = temp.path().join("out");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_laundromat"))
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .arg("run")
        .arg(&experiment)
        .args(["--date", "2026-03-04", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let patience = Instant::now();
    // Four at a time and two calls each: the thirteenth is the second of a trial whose first was kept.
    while mock.calls().len() < 13 && patience.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let store = Run::open(&out).expect("a store");
    let finished: HashSet<String> = store.trials().expect("trials").into_iter().map(|trial| trial.id.session).collect();
    let mut committed = HashSet::new();
    let keep = |key: [u8; 32]| blake3::Hash::from_bytes(key).to_hex().to_string();
    store
        .each_call(|call| {
            committed.insert(keep(call.key));
        })
        .expect("calls");
    drop(store);
    assert!(!finished.is_empty() && finished.len() < 12, "{} were finished at the kill", finished.len());
    let (started, seen) = (fs::read_to_string(&log).expect("a log").lines().count(), mock.calls().len());

    let output = run(&experiment, &out);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let calls = mock.calls();
    assert!(calls[seen..].iter().all(|call| !committed.contains(&call.key)), "a committed call was made again");
    let distinct: HashSet<&str> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(distinct.len(), 24);
    let text = fs::read_to_string(&log).expect("a log");
    for line in text.lines().skip(started) {
        assert!(!finished.iter().any(|id| line.contains(&format!("\"session\": \"{id}\""))), "{line}");
    }
    assert_eq!(rows(&out.join("captured.csv")).len(), 24);
}
