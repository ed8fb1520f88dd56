//! The paid path on the real binary against the strict mock, over a real socket.

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{laundromat, repo};
use laundromat_mock::{AppliesTo, Fault, FaultKind, Form, JudgeScript, Mock, Script, Verdict, When, draw};

const KEY: &str = "mock-key-7f3a";

fn script() -> Script {
    Script::default().key(KEY).seed(7)
}

fn mock(script: Script) -> Mock {
    Mock::start(script).expect("the mock starts")
}

/// The study scenario, pointed at the mock.
fn study(mock: &Mock, folder: &Path) -> PathBuf {
    let text = fs::read_to_string(repo("scenarios/role-typed-study.toml")).expect("the scenario");
    let sessions = repo("sessions/*.json").canonicalize().unwrap_or_else(|_| repo("sessions/*.json"));
    let text = text
        .replace("https://openrouter.ai/api/v1", &mock.base_url())
        .replace("../sessions/*.json", &sessions.display().to_string());
    let path = folder.join("study.toml");
    fs::write(&path, text).expect("written");
    path
}

/// One session, one typed arm, one model; `more` goes to the end of the file.
fn small(url: &str, folder: &Path, more: &str) -> PathBuf {
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"small\"\nseed = 1\nsessions = [{:?}]\n\
         attacks = [\"standing-approval\"]\narms = [\"hermes-main\"]\n\
         [[summarizers]]\nname = \"m\"\nmodel = \"some-model\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n\
         [judge]\nmodel = \"a-judge\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n\
         [limits]\nattempts = 2\nbackoff-ms = 1\nattempt-seconds = 5\n{more}",
        repo("sessions/fix-region-rollup-test.json").display().to_string()
    );
    let path = folder.join("small.toml");
    fs::write(&path, text).expect("written");
    path
}

fn run(experiment: &Path, out: &Path) -> std::process::Output {
    laundromat()
        .env("OPENROUTER_API_KEY", KEY)
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .arg("run")
        .arg(experiment)
        .args(["--date", "2026-03-04", "--out"])
        .arg(out)
        .output()
        .expect("it runs")
}

fn rows(path: &Path) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path).expect("a table");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    lines
        .map(|line| head.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

#[test]
fn the_study_gives_the_rates_that_the_script_says() {
    let launder = [
        (Form::FlatUser, 0.72, "hermes-main"),
        (Form::FlatSplit, 0.6, "hermes-split"),
        (Form::Typed, 0.19, "hermes-typed"),
    ];
    let script = launder.iter().fold(script(), |script, (form, p, _)| script.launder(*form, *p));
    let mock = mock(script);
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let output = run(&study(&mock, temp.path()), &out);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    // Worked out from the keys alone: which attacked runs the script launders.
    let calls = rows(&out.join("calls.csv"));
    let summaries: Vec<_> = calls.iter().filter(|call| call["purpose"] == "summarize").collect();
    assert_eq!(summaries.len(), 12 * 3 * 2 * 3 * 2);
    let mut expected: HashMap<&str, u32> = HashMap::new();
    for call in summaries.iter().filter(|call| call["attack"] == "standing-approval") {
        let (_, p, arm) = launder.iter().find(|(_, _, arm)| *arm == call["arm"]).expect("an arm");
        *expected.entry(arm).or_default() += u32::from(draw::draw(7, "launder", &call["key"]) < *p);
    }
    let rates = rows(&out.join("rates.csv"));
    for (_, _, arm) in launder {
        let row = rates
            .iter()
            .find(|row| row["arm"] == arm && row["attack"] == "standing-approval" && row["summarizer"] == "all")
            .expect("a row");
        assert_eq!((row["runs"].as_str(), row["exposed"].as_str()), ("72", "72"));
        assert_eq!(row["laundered"], expected[arm].to_string(), "{arm}");
        let clean = rates
            .iter()
            .find(|row| row["arm"] == arm && row["attack"] == "clean" && row["summarizer"] == "all")
            .expect("a row");
        assert_eq!(clean["laundered"], "0", "{arm}");
    }

    // Contrasts by the textbook formula.
    for contrast in rows(&out.join("contrasts.csv")).iter().filter(|row| row["summarizer"] == "all") {
        let rate = |arm: &str| f64::from(expected[arm]) / 72.0;
        let (a, b) = (rate(&contrast["arm_a"]), rate(&contrast["arm_b"]));
        let pooled = (a + b) / 2.0;
        let z = (a - b) / (pooled * (1.0 - pooled) * 2.0 / 72.0).sqrt();
        let got: f64 = contrast["z"].parse().expect("a number");
        assert!((got - z).abs() < 1e-5, "{got} {z}");
    }

    // Every laundered summary was judged, none that the gate stopped.
    let judged = calls.iter().filter(|call| call["purpose"] == "judge").count();
    assert_eq!(judged as u32, expected.values().sum::<u32>());
    assert_eq!(mock.calls().len(), calls.len(), "every call of the mock is in the store, none twice");

    // The study's judge again, offline, without a call.
    let before = mock.calls().len();
    let again = temp.path().join("again");
    laundromat().arg("judge").arg(&out).args(["--judge", "builtin:rules", "--out"]).arg(&again).assert().success();
    assert_eq!(mock.calls().len(), before);
    for row in rows(&again.join("rates.csv"))
        .iter()
        .filter(|row| row["attack"] == "standing-approval" && row["summarizer"] == "all")
    {
        assert_eq!(row["laundered"], expected[row["arm"].as_str()].to_string());
    }
}

/// A fault, the outcome it must lead to, and the exit code.
#[test]
fn every_outcome_is_reached() {
    let always = |kind, calls| {
        script().launder(Form::FlatUser, 1.0).fault(Fault::new(kind, When::Probability(1.0)).applies_to(calls))
    };
    let maybe = JudgeScript {
        verdicts: vec![Verdict { pattern: ".".to_owned(), word: "MAYBE".to_owned() }],
        ..JudgeScript::default()
    };
    let cases = [
        ("scored", 0, script().launder(Form::FlatUser, 1.0), ""),
        ("truncated", 0, always(FaultKind::Truncated, AppliesTo::Summarize), ""),
        ("refused", 0, always(FaultKind::Refused, AppliesTo::Summarize), ""),
        ("refused", 0, always(FaultKind::ContentFilter, AppliesTo::Summarize), ""),
        ("tool-call", 0, always(FaultKind::ToolCall, AppliesTo::Summarize), ""),
        ("empty", 0, always(FaultKind::Empty, AppliesTo::Summarize), ""),
        ("empty", 0, always(FaultKind::ReasoningOnly, AppliesTo::Summarize), ""),
        ("unknown-finish", 0, always(FaultKind::UnknownFinish, AppliesTo::Summarize), ""),
        ("context-overflow", 0, always(FaultKind::ContextOverflow, AppliesTo::Summarize), ""),
        ("invalid-request", 0, script(), "[summarizers.parameters]\nno_such_parameter = 1\n"),
        ("provider-error", 5, always(FaultKind::ServerError, AppliesTo::Summarize), ""),
        ("provider-error", 5, always(FaultKind::Overloaded, AppliesTo::Summarize), ""),
        ("provider-error", 5, always(FaultKind::Drop, AppliesTo::Summarize), ""),
        ("provider-error", 5, always(FaultKind::DropMidBody, AppliesTo::Summarize), ""),
        ("provider-error", 5, always(FaultKind::Malformed, AppliesTo::Summarize), ""),
        ("provider-error", 5, always(FaultKind::RateLimit, AppliesTo::Summarize), ""),
        (
            "provider-error",
            5,
            script().fault(Fault::new(FaultKind::Hang, When::Probability(1.0)).hang_ms(20_000)),
            "attempt",
        ),
        ("judge-error", 5, always(FaultKind::ServerError, AppliesTo::Judge), ""),
        ("unparsable", 0, script().launder(Form::FlatUser, 1.0).judge(maybe), ""),
        ("unparsable", 0, always(FaultKind::Truncated, AppliesTo::Judge), ""),
    ];
    for (outcome, code, script, more) in cases {
        let faults = script.faults.clone();
        let mock = mock(script);
        let temp = tempfile::tempdir().expect("a folder");
        let out = temp.path().join("out");
        let experiment = small(&mock.base_url(), temp.path(), "");
        let text = fs::read_to_string(&experiment).expect("text");
        let text = match more {
            "attempt" => text.replace("attempt-seconds = 5", "attempt-seconds = 1"),
            "" => text,
            // Parameters of the summarizer stand in its table.
            more => text.replace("[judge]", &format!("{more}[judge]")),
        };
        fs::write(&experiment, text).expect("written");
        let output = run(&experiment, &out);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{outcome} {faults:?}\n{said}");
        let trials = rows(&out.join("trials.csv"));
        assert_eq!(trials[0]["outcome"], outcome, "{faults:?}\n{said}");
        assert_eq!(
            trials[0]["verdict"].is_empty(),
            outcome != "scored",
            "{faults:?}: no verdict without a judge's word"
        );
        if code == 5 {
            assert!(said.contains("go on with: laundromat run "), "{said}");
        }
    }
}

#[test]
fn what_failed_in_transport_is_tried_again_and_nothing_else() {
    // The first attempt of the first start fails; the second start goes through.
    let fault = Fault::new(FaultKind::ServerError, When::Attempts(vec![1])).applies_to(AppliesTo::Summarize);
    let mock = mock(script().fault(fault));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let experiment = small(&mock.base_url(), temp.path(), "");
    let text = fs::read_to_string(&experiment).expect("text").replace("attempts = 2", "attempts = 1");
    fs::write(&experiment, text).expect("written");
    assert_eq!(run(&experiment, &out).status.code(), Some(5));
    assert_eq!(run(&experiment, &out).status.code(), Some(0));
    let calls = mock.calls().len();
    assert_eq!(run(&experiment, &out).status.code(), Some(0));
    assert_eq!(mock.calls().len(), calls, "a finished run asks nothing");
}

#[test]
fn a_wrong_key_a_wrong_model_and_no_server_end_early_with_a_remedy() {
    let mock = mock(script().models(["another-model"]));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let experiment = small(&mock.base_url(), temp.path(), "");
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let with_key = |key: &str| {
        let mut command = laundromat();
        command.env("LAUNDROMAT_TEST_KEY", key).arg("run").arg(&experiment).arg("--out").arg(&out);
        command.output().expect("it runs")
    };

    // An empty variable is one that is not set.
    let unset = with_key("");
    assert_eq!(unset.status.code(), Some(2));
    assert!(said(&unset).contains("LAUNDROMAT_TEST_KEY is not set"), "{}", said(&unset));
    assert!(!out.exists(), "nothing is made without a key");

    let wrong = with_key("wrong-key-123");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("the key was not accepted (HTTP 401)"), "{}", said(&wrong));
    assert!(!said(&wrong).contains("wrong-key-123"));

    let model = run(&experiment, &out);
    assert_eq!(model.status.code(), Some(2));
    assert!(said(&model).contains("there is no such model or route (HTTP 404)"), "{}", said(&model));

    let gone = small("http://127.0.0.1:9/v1", temp.path(), "");
    let unreachable = run(&gone, &temp.path().join("gone"));
    assert_eq!(unreachable.status.code(), Some(5));
    let trials = rows(&temp.path().join("gone/trials.csv"));
    assert_eq!(trials[0]["outcome"], "provider-error");
    assert!(trials[0]["detail"].contains("no connection"), "{}", trials[0]["detail"]);
}

#[test]
fn a_run_in_which_nothing_gets_through_gives_up() {
    let mock = mock(script().fault(Fault::new(FaultKind::ServerError, When::Probability(1.0))));
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = study(&mock, temp.path());
    let text = fs::read_to_string(&experiment).expect("text").replace("attempts = 5", "attempts = 2\nbackoff-ms = 1");
    fs::write(&experiment, text).expect("written");
    let output = run(&experiment, &temp.path().join("out"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("no call got through to http://127.0.0.1"), "{said}");
    assert!(mock.calls().len() < 100, "{}", mock.calls().len());
}

/// The key stands in one header and nowhere else.
#[test]
fn the_key_is_nowhere() {
    let mock = mock(script().launder(Form::FlatUser, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let output = run(&small(&mock.base_url(), temp.path(), ""), &out);
    assert_eq!(output.status.code(), Some(0));
    let mut texts = vec![output.stdout, output.stderr];
    for place in ["", "plots"] {
        for entry in fs::read_dir(out.join(place)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                texts.push(fs::read(path).expect("bytes"));
            }
        }
    }
    for text in texts {
        assert!(!text.windows(KEY.len()).any(|window| window == KEY.as_bytes()));
    }
}
