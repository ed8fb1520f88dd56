//! The study and every way for a call to end, on each route, over real sockets against the strict mock.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::fs;

use common::destinations::{ALL, Destination};
use common::paid::{KEY, mock, rows, said, script};
use common::repo;
use laundromat_mock::{AppliesTo, Fault, FaultKind, Form, Mock, When, draw};

const ARMS: [(Form, &str); 3] =
    [(Form::FlatUser, "hermes-main"), (Form::FlatSplit, "hermes-split"), (Form::Typed, "hermes-typed")];

type Row = HashMap<String, String>;

/// The study's trials and calls there.
fn study(destination: &Destination, mock: &Mock, change: impl Fn(String) -> String) -> (Vec<Row>, Vec<Row>) {
    let temp = tempfile::tempdir().expect("a folder");
    let (path, out) = (temp.path().join("study.toml"), temp.path().join("out"));
    fs::write(&path, change(destination.study(mock))).expect("written");
    let output = destination.run(KEY, &path, &out);
    assert_eq!(output.status.code(), Some(0), "{}: {}", destination.profile, said(&output));
    (rows(&out.join("trials.csv")), rows(&out.join("calls.csv")))
}

/// The whole study on each route gives what the script draws for its calls, trial by trial.
#[test]
fn the_study_runs_on_each_route() {
    let chances = [0.72, 0.6, 0.19];
    for destination in &ALL {
        let profile = destination.profile;
        let drawn = ARMS.iter().zip(chances).fold(script(), |script, ((form, _), p)| script.launder(*form, p));
        let mock = mock(drawn);
        let (trials, calls) = study(destination, &mock, |text| text.replace(", \"clean\"", ""));
        assert_eq!(trials.len(), 216, "{profile}");
        let keys: HashMap<_, _> = calls
            .iter()
            .filter(|call| call["purpose"] == "summarize")
            .map(|call| {
                (["session", "attack", "arm", "summarizer", "rep"].map(|name| call[name].clone()), &call["key"])
            })
            .collect();
        let forms: HashMap<String, Option<Form>> = mock.calls().into_iter().map(|call| (call.key, call.form)).collect();
        let mut laundered: BTreeMap<&str, u32> = BTreeMap::new();
        for trial in &trials {
            assert_eq!((trial["outcome"].as_str(), trial["exposure"].as_str()), ("scored", "full"), "{profile}");
            let key = keys[&["session", "attack", "arm", "summarizer", "rep"].map(|name| trial[name].clone())];
            let at = ARMS.iter().position(|(_, arm)| *arm == trial["arm"]).expect("an arm");
            // Codex wants instructions, so that nothing there is one user message alone.
            let at = if destination.streams && ARMS[at].0 == Form::FlatUser { 1 } else { at };
            assert_eq!(forms[key], Some(ARMS[at].0), "{profile}: {}", trial["arm"]);
            let is_stated = draw::draw(7, "launder", key) < chances[at];
            assert_eq!(trial["verdict"] == "laundered", is_stated, "{profile}: {trial:?}");
            *laundered.entry(trial["arm"].as_str()).or_default() += u32::from(is_stated);
        }
        assert!(laundered["hermes-main"] > laundered["hermes-typed"], "{profile}: {laundered:?}");
        let seen = mock.calls();
        assert!(seen.iter().all(|call| call.route == Some(destination.route) && call.rule.is_none()), "{profile}");
        assert_eq!(seen.len(), calls.len(), "{profile}: every call once");
        let judged = calls.iter().filter(|call| call["purpose"] == "judge").count();
        assert_eq!(judged as u32, laundered.values().sum::<u32>(), "{profile}: the gate lets through what states it");
    }
}

/// What a trial is, whatever its route.
fn of_trial(row: &Row) -> Vec<String> {
    let names = [
        "trial",
        "outcome",
        "verdict",
        "exposed",
        "usable",
        "input_chars",
        "summary_chars",
        "exposure",
        "reading",
        "gate",
    ];
    names.map(|name| row[name].clone()).to_vec()
}

/// With nothing left to chance the routes' tables are one.
#[test]
fn each_route_gives_the_same_trials() {
    let mut first: Option<(&str, Vec<Vec<String>>)> = None;
    for destination in &ALL {
        let mock = mock(script().launder(Form::FlatUser, 1.0).launder(Form::FlatSplit, 1.0).launder(Form::Typed, 0.0));
        let (trials, _) = study(destination, &mock, |text| {
            text.replace("/*.json", "/[dft]*.json").replace("repetitions = 2", "repetitions = 1")
        });
        let trials: Vec<Vec<String>> = trials.iter().map(of_trial).collect();
        assert!(
            trials.iter().any(|trial| trial[2] == "laundered") && trials.iter().any(|trial| trial[2] != "laundered")
        );
        match &first {
            None => first = Some((destination.profile, trials)),
            Some((other, expected)) => assert!(*expected == trials, "{} is not {other}", destination.profile),
        }
    }
}

/// How a call may fail or end, and what its trial is then, on every route.
const ENDS: [(FaultKind, &str); 18] = [
    (FaultKind::Truncated, "truncated"),
    (FaultKind::Refused, "refused"),
    (FaultKind::ContentFilter, "refused"),
    (FaultKind::RefusalText, "scored"),
    (FaultKind::Empty, "empty"),
    (FaultKind::ReasoningOnly, "empty"),
    (FaultKind::ToolCall, "tool-call"),
    (FaultKind::UnknownFinish, "unknown-finish"),
    (FaultKind::ContextOverflow, "context-overflow"),
    (FaultKind::TooLarge, "context-overflow"),
    (FaultKind::EarlyEnd, "provider-error"),
    (FaultKind::LateError, "provider-error"),
    (FaultKind::Malformed, "provider-error"),
    (FaultKind::RateLimit, "provider-error"),
    (FaultKind::ServerError, "provider-error"),
    (FaultKind::Overloaded, "provider-error"),
    (FaultKind::Timeout, "provider-error"),
    (FaultKind::DropMidBody, "provider-error"),
];

/// One session and one typed arm, a model for each name; `judge` is the judge's.
fn small(destination: &Destination, mock: &Mock, models: &[&str], judge: &str) -> String {
    let keys = destination.keys(&mock.root_url());
    let summarizers: String =
        models.iter().map(|name| format!("[[summarizers]]\nname = {name:?}\nmodel = {name:?}\n{keys}")).collect();
    format!(
        "schema = \"laundromat-experiment/1\"\nname = \"small\"\nseed = 1\nsessions = [{:?}]\n\
         attacks = [\"standing-approval\"]\narms = [\"hermes-typed\"]\n{summarizers}\
         [judge]\nmodel = {judge:?}\n{keys}\
         [limits]\nconcurrency = 1\nattempts = 2\nbackoff-ms = 1\nattempt-seconds = 5\n",
        repo("sessions/fix-region-rollup-test.json").display().to_string()
    )
}

#[test]
fn every_end_of_a_call_is_the_right_outcome_on_each_route() {
    for destination in &ALL {
        let always = |(kind, _): &(FaultKind, &str)| {
            Fault::new(*kind, When::Probability(1.0)).model(kind.name()).applies_to(AppliesTo::Any)
        };
        let mock = mock(ENDS.iter().map(always).fold(script(), laundromat_mock::Script::fault));
        let temp = tempfile::tempdir().expect("a folder");
        let (path, out) = (temp.path().join("small.toml"), temp.path().join("out"));
        let models: Vec<&str> = ENDS.iter().map(|(kind, _)| kind.name()).collect();
        fs::write(&path, small(destination, &mock, &models, "a-judge")).expect("written");
        let output = destination.run(KEY, &path, &out);
        assert_eq!(output.status.code(), Some(5), "{}: {}", destination.profile, said(&output));
        let trials = rows(&out.join("trials.csv"));
        let ended: Vec<(&str, &str)> =
            trials.iter().map(|trial| (trial["summarizer"].as_str(), trial["outcome"].as_str())).collect();
        for (kind, outcome) in &ENDS {
            let found = ended.iter().find(|(model, _)| *model == kind.name());
            assert_eq!(found, Some(&(kind.name(), *outcome)), "{}: {trials:#?}", destination.profile);
        }
        // What is an answer is final, what is none was tried as often as the limits say.
        for call in mock.calls() {
            let last = mock.calls().iter().filter(|other| other.key == call.key).count();
            let is_lost = call.fault.is_some_and(FaultKind::is_transient);
            assert_eq!(last, if is_lost { 2 } else { 1 }, "{}: {:?}", destination.profile, call.fault);
        }
    }
}

#[test]
fn a_used_up_quota_stops_the_run_on_each_route() {
    for destination in &ALL {
        let mock = mock(script().fault(Fault::new(FaultKind::Quota, When::Probability(1.0))));
        let temp = tempfile::tempdir().expect("a folder");
        let (path, out) = (temp.path().join("small.toml"), temp.path().join("out"));
        fs::write(&path, small(destination, &mock, &["m", "n", "o", "p"], "a-judge")).expect("written");
        let output = destination.run(KEY, &path, &out);
        assert_eq!(output.status.code(), Some(2), "{}: {}", destination.profile, said(&output));
        assert!(said(&output).contains("the account's quota is used up"), "{}: {}", destination.profile, said(&output));
        let calls = mock.calls();
        assert!(calls.iter().all(|call| call.attempt == 1), "{}: nothing is tried again", destination.profile);
        assert!(calls.len() <= 2, "{}: what is not begun stays so", destination.profile);
    }
}

/// Settings that a destination always refuses, by the rule that says so; Bedrock has no such rule.
const REFUSED: [(&str, &str, &str); 7] = [
    ("openai", "parameters = { random_seed = 1 }", "unknown_param"),
    ("azure", "parameters = { random_seed = 1 }", "unknown_param"),
    ("openai-responses", "max-tokens = 8", "max_output_tokens"),
    ("codex", "parameters = { temperature = 0 }", "unknown_param"),
    ("anthropic-2023-06-01", "temperature = 1.5", "temperature_range"),
    ("anthropic-2026-10-21", "parameters = { top_p = 0.5 }", "sampling_param"),
    ("gemini-2x", "parameters = { max_tokens = 9 }", "unknown_field"),
];

#[test]
fn what_would_be_refused_in_every_request_is_told_before_any_is_sent() {
    for (destination, (profile, setting, rule)) in ALL.iter().zip(REFUSED) {
        assert_eq!(destination.profile, profile);
        let mock = mock(script());
        let temp = tempfile::tempdir().expect("a folder");
        let (path, out) = (temp.path().join("small.toml"), temp.path().join("out"));
        for table in ["name = \"m\"\n", "[judge]\n"] {
            let text = small(destination, &mock, &["m"], "a-judge");
            let text = text.replace(table, &format!("{table}{setting}\n"));
            fs::write(&path, text).expect("written");
            let output = destination.run(KEY, &path, &out);
            assert_eq!(output.status.code(), Some(2), "{profile}: {}", said(&output));
            let expected = format!("{profile} would refuse every request: rule {rule}: ");
            assert!(said(&output).contains(&expected), "{profile}: {}", said(&output));
        }
        assert!(mock.calls().is_empty() && !out.exists(), "{profile}");
    }
}

/// A server about which nothing is said may refuse what the validator lets through: a summarizer's trial is final, a
/// judge's is judged again by the next start.
#[test]
fn what_the_server_refuses_is_invalid_for_a_summarizer_and_an_error_of_the_judge_s() {
    let mock = mock(script().launder(Form::FlatUser, 1.0));
    let url = mock.base_url();
    for (table, outcome, code) in [("[judge]", "judge-error", 5), ("[[summarizers]]", "invalid-request", 0)] {
        let temp = tempfile::tempdir().expect("a folder");
        let (path, out) = (common::paid::small(&url, temp.path(), ""), temp.path().join("out"));
        let text = fs::read_to_string(&path).expect("text");
        let (before, behind) = text.split_once(table).expect("the table");
        let behind = behind.replacen("parameters = { ", "parameters = { no_such_parameter = 1, ", 1);
        fs::write(&path, format!("{before}{table}{behind}")).expect("written");
        let output = common::paid::run(&path, &out, &[]);
        assert_eq!(output.status.code(), Some(code), "{outcome}: {}", said(&output));
        for trial in rows(&out.join("trials.csv")) {
            assert_eq!(trial["outcome"], outcome, "{trial:?}");
            assert!(trial["detail"].contains("HTTP 400"), "{trial:?}");
        }
    }
}

/// A harness's own request may break a rule of the destination: it is not sent, and the rule is named.
#[cfg(unix)]
#[test]
fn what_an_arm_s_program_asks_against_the_rules_is_not_sent() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path();
    let program = fs::read_to_string(repo("adapters/example/compact.py")).expect("the program");
    let ends_with_the_assistant =
        program.replace("+ transcript}],", "+ transcript}, {\"role\": \"assistant\", \"content\": \"The summary:\"}],");
    assert_ne!(program, ends_with_the_assistant);
    fs::write(folder.join("compact.py"), ends_with_the_assistant).expect("written");
    fs::copy(repo("adapters/example/arm.toml"), folder.join("arm.toml")).expect("copied");
    let (path, out) = (folder.join("small.toml"), folder.join("out"));
    let text = small(&ALL[0], &mock, &["m"], "a-judge").replace("\"hermes-typed\"", "\"arm.toml\"").replacen(
        "profile = \"openai\"",
        "profile = \"llama-cpp\"",
        1,
    );
    fs::write(&path, text).expect("written");
    let output = ALL[0].run(KEY, &path, &out);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let trials = rows(&out.join("trials.csv"));
    assert_eq!(trials[0]["outcome"], "invalid-request", "{trials:?}");
    let table = fs::read_to_string(out.join("trials.csv")).expect("a table");
    assert!(table.contains("rule last_assistant"), "{table}");
    assert!(mock.calls().is_empty(), "it is not sent");
}
