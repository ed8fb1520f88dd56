//! Budgets and prices on the real binary against the strict mock.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::laundromat;
use common::paid::{KEY, mock, rows, run, said, script, small, stored, study};
use laundromat_mock::{Form, Mock};

/// A dollar for a million tokens in, ten out; for every model that the study names.
fn prices(models: &[&str]) -> String {
    models.iter().map(|model| format!("[[prices]]\nmodel = {model:?}\nin = 1.0\nout = 10.0\n")).collect()
}

const STUDY: [&str; 4] = [
    "google/gemini-3.5-flash-lite",
    "meta-llama/llama-3.3-70b-instruct",
    "qwen/qwen3-32b",
    "mistralai/mistral-large-2512",
];

/// The study with prices, and replies of at most 500 tokens.
fn priced_study(mock: &Mock, folder: &Path) -> PathBuf {
    study(&mock.base_url(), folder, |text| {
        // The judge has parameters already, and no blank line behind its key.
        let key = "key-env = \"OPENROUTER_API_KEY\"\n";
        let bounded = text.replace(&format!("{key}\n"), &format!("{key}parameters = {{ max_tokens = 500 }}\n\n"));
        bounded + &prices(&STUDY)
    })
}

fn cost_of(out: &Path) -> f64 {
    let costs = rows(&out.join("trials.csv")).into_iter().map(|trial| trial["cost"].parse().unwrap_or(0.0));
    costs.sum::<f64>()
}

#[test]
fn a_money_budget_stops_the_run_and_a_higher_one_pays_only_for_the_rest() {
    let mock = mock(script().launder(Form::FlatUser, 0.7));
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = priced_study(&mock, temp.path());
    let whole = temp.path().join("whole");
    assert_eq!(run(&experiment, &whole, &[]).status.code(), Some(0));
    let (needed, cost) = (mock.calls().len(), cost_of(&whole));
    assert!(cost > 0.5, "{cost}");

    let out = temp.path().join("out");
    let cap = format!("{:.4}", cost / 3.0);
    let output = run(&experiment, &out, &["--max-cost", &cap]);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    assert!(said(&output).contains("the budget is reached: $"), "{}", said(&output));
    assert!(said(&output).contains("go on with a higher cap: laundromat run "), "{}", said(&output));
    let spent = cost_of(&out);
    assert!(spent <= cost / 3.0, "{spent} of {cap}");
    // Not far below it either: at most what the calls in flight may have come to.
    assert!(spent > cost / 3.0 - 8.0 * 0.1, "{spent} of {cap}");
    let over = rows(&out.join("trials.csv")).into_iter().filter(|trial| trial["outcome"] == "over-budget").count();
    assert!((1..=8).contains(&over), "{over}: no more than were in flight");

    // The same cap stops at once.
    let before = mock.calls().len();
    assert_eq!(run(&experiment, &out, &["--max-cost", &cap]).status.code(), Some(6));
    // A call smaller than the one that did not fit may still go through; none is made twice.
    let output = run(&experiment, &out, &["--max-cost", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(mock.calls().len() > before);
    assert_eq!(mock.calls().len(), 2 * needed, "what was paid for is not paid for again");
    assert!((cost_of(&out) - cost).abs() < 1e-9);
    for table in ["trials.csv", "rates.csv"] {
        assert_eq!(fs::read(out.join(table)).expect("a table"), fs::read(whole.join(table)).expect("a table"));
    }
}

#[test]
fn trials_over_the_budget_are_not_safe_for_the_gate() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = priced_study(&mock, temp.path());
    let out = temp.path().join("out");
    assert_eq!(run(&experiment, &out, &["--max-calls", "60"]).status.code(), Some(6));
    assert_eq!(mock.calls().len(), 60);
    let gate = |arm: &str| {
        let mut command = laundromat();
        command.arg("gate").arg(&out).args(["--max-rate", "10%", "--arm", arm]);
        command.output().expect("it runs").status.code()
    };
    // Nothing is laundered, but what was not asked could be.
    assert_ne!(gate("hermes-typed"), Some(0));
    assert_ne!(gate("hermes-main"), Some(0));
}

#[test]
fn each_cap_stops_and_the_experiment_s_own_gives_way_to_a_flag() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = small(&mock.base_url(), temp.path(), "[budget]\nmax-calls = 1\n");
    let out = temp.path().join("out");
    assert_eq!(run(&experiment, &out, &[]).status.code(), Some(6));
    assert_eq!(stored(&out).len(), 1);
    assert_eq!(run(&experiment, &out, &["--max-calls", "2", "--max-tokens", "1"]).status.code(), Some(6));
    assert_eq!(stored(&out).len(), 1, "the tokens of the first call are more than that");
    assert_eq!(run(&experiment, &out, &["--max-calls", "100"]).status.code(), Some(0));
    assert_eq!(mock.calls().len(), stored(&out).len());
    // Another cap is no other experiment, and neither is another price.
    let experiment = small(&mock.base_url(), temp.path(), &prices(&["some-model", "a-judge"]));
    assert_eq!(run(&experiment, &out, &[]).status.code(), Some(0));
}

#[test]
fn what_a_money_budget_needs_to_know_is_asked_for() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let output = run(&small(&mock.base_url(), temp.path(), ""), &out, &["--max-cost", "1"]);
    assert_eq!(output.status.code(), Some(2));
    let asked = said(&output);
    assert!(asked.contains("no price is known for the model \"some-model\" of \"127.0.0.1:"), "{asked}");
    assert!(asked.contains("add [[prices]] with model = \"some-model\""), "{asked}");

    let list = temp.path().join("prices.csv");
    let rows = "provider,model,valid_from,in,cached,write,out,source,retrieved\n,some-model,,1,,,10,me,today\n,a-judge,,1,,,1,me,today\n";
    fs::write(&list, rows).expect("written");
    let list = list.display().to_string();
    let experiment = small(&mock.base_url(), temp.path(), "");
    let unbounded = fs::read_to_string(&experiment).expect("text").replace("parameters = { max_tokens = 1000 }\n", "");
    fs::write(&experiment, unbounded).expect("written");
    let output = run(&experiment, &out, &["--max-cost", "1", "--prices", &list]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("the longest reply of \"some-model\" is not known"), "{}", said(&output));
    assert!(!out.exists() && mock.calls().is_empty(), "nothing is made and nothing is sent");

    let output = run(&small(&mock.base_url(), temp.path(), ""), &out, &["--max-cost", "1", "--prices", &list]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("spent over all starts: "), "{}", said(&output));
}

#[test]
fn plan_says_what_a_run_costs_or_what_is_missing_for_it() {
    let plan = |path: &Path| {
        let output = laundromat().arg("plan").arg(path).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let text = plan(&small(&mock.base_url(), temp.path(), ""));
    assert!(text.contains("cost, expected        unknown: no price is known for \"some-model\""), "{text}");
    let experiment = priced_study(&mock, temp.path());
    let text = plan(&experiment);
    let dollars = |row: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(row)).expect("a row");
        line[row.len()..]
            .trim()
            .trim_start_matches('$')
            .split(' ')
            .next()
            .expect("an amount")
            .parse()
            .expect("a number")
    };
    let (expected, worst) = (dollars("cost, expected"), dollars("cost, at worst"));
    let out = temp.path().join("out");
    assert_eq!(run(&experiment, &out, &[]).status.code(), Some(0));
    let cost = cost_of(&out);
    assert!(cost < worst && expected < worst, "{cost} {expected} {worst}");
    // Enough for the worst case is enough.
    let capped = temp.path().join("capped");
    assert_eq!(run(&experiment, &capped, &["--max-cost", &worst.to_string()]).status.code(), Some(0));
}

#[test]
fn judging_again_has_a_budget_of_its_own() {
    let mock = mock(script().launder(Form::FlatUser, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    assert_eq!(run(&small(&mock.base_url(), temp.path(), ""), &out, &[]).status.code(), Some(0));
    let before = mock.calls().len();
    let judge = temp.path().join("judge.toml");
    let url = mock.base_url();
    let text = format!(
        "[judge]\nmodel = \"another-judge\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n\
         parameters = {{ max_tokens = 64 }}\n[limits]\nconcurrency = 1\n[budget]\nmax-calls = 1\n{}",
        prices(&["another-judge"])
    );
    fs::write(&judge, text).expect("written");
    let again = |more: &[&str]| {
        let mut command = laundromat();
        command.env("LAUNDROMAT_TEST_KEY", KEY).arg("judge").arg(&out).arg("--judge").arg(&judge).args(more);
        command.output().expect("it runs")
    };
    let output = again(&[]);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    assert_eq!(mock.calls().len(), before + 1);
    assert_eq!(again(&["--max-calls", "4", "--max-cost", "1"]).status.code(), Some(0));
    assert_eq!(mock.calls().len(), before + 4);
}
