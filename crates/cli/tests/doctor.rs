//! `doctor` on the real binary against the strict mock: what it says without a call, and the table of routes and arms.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use common::destinations::{ALL, environment};
use common::paid::{KEY, mock, script};
use common::{laundromat, repo};
use laundromat_mock::{Fault, FaultKind, Form, Mock, Purpose, When};

const ARMS: &str = "\"hermes-main\", \"hermes-split\", \"hermes-typed\"";

/// An experiment with a summarizer behind each destination, and the judge behind the first; `more` stands in front.
fn experiment(mock: &Mock, folder: &Path, change: impl Fn(String) -> String) -> PathBuf {
    let root = mock.root_url();
    let summarizers: String = ALL
        .iter()
        .map(|it| format!("[[summarizers]]\nname = {0:?}\nmodel = \"model-of-{0}\"\n{1}\n", it.profile, it.keys(&root)))
        .collect();
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"check\"\nseed = 1\nsessions = [{:?}]\n\
         attacks = [\"standing-approval\"]\narms = [{ARMS}]\n{summarizers}\
         [judge]\nmodel = \"a-judge\"\n{}[limits]\nattempts = 2\nbackoff-ms = 1\n",
        repo("sessions/fix-region-rollup-test.json").display().to_string(),
        ALL[0].keys(&root),
    );
    let path = folder.join("check.toml");
    fs::write(&path, change(text)).expect("written");
    path
}

fn doctor(command: &mut Command, arguments: &[&str], mock: &Mock) -> (Output, String) {
    let output = command.arg("doctor").args(arguments).output().expect("it runs");
    let told = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    assert!(!told.contains(KEY), "a key is shown: {told}");
    let told = told.replace(&mock.root_url(), "[mock]").replace(&format!("127.0.0.1:{}", mock.port()), "[host]");
    (output, told)
}

fn models() -> Vec<String> {
    ALL.iter().map(|it| format!("model-of-{}", it.profile)).chain(["a-judge".to_owned()]).collect()
}

#[test]
fn without_live_everything_is_looked_at_and_nothing_is_asked() {
    let mock = mock(script().models(models()));
    let temp = tempfile::tempdir().expect("a folder");
    let set = |text: String| {
        text.replacen("[[summarizers]]", "[[summarizers]]\ntemperature = 0.5\nseed = 4\neffort = \"low\"", 8)
    };
    let path = experiment(&mock, temp.path(), set).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path], &mock);
    assert_eq!(output.status.code(), Some(0), "{told}");
    insta::assert_snapshot!("doctor", told);
    assert!(mock.calls().iter().all(|call| call.purpose == Purpose::Unknown && call.status == Some(404)), "no call");
}

#[test]
fn what_is_wrong_is_named_with_a_remedy_and_an_exit_code() {
    let mock = mock(script().models(["some-model", "a-judge"]));
    let temp = tempfile::tempdir().expect("a folder");
    let path = experiment(&mock, temp.path(), |text| text).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path], &mock);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let absent = "openai: the model \"model-of-openai\" does not exist there; known: some-model, a-judge";
    assert!(told.contains(absent), "{told}");
    assert!(told.contains("gemini-2x: the model \"model-of-gemini-2x\" does not exist there; "), "{told}");
    assert!(told.contains("bedrock-converse: ok\n"), "without a list nothing is known: {told}");

    let (output, told) = doctor(&mut environment("wrong-key-0c2e"), &[&path], &mock);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("openai: the key was not accepted (HTTP 401): "), "{told}");
    assert!(told.contains("gemini-2x: the key was not accepted (HTTP 400): "), "{told}");
    assert!(!told.contains("wrong-key-0c2e"), "{told}");

    let mut keyless = environment(KEY);
    let (output, told) =
        doctor(keyless.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_AUTH_TOKEN"), &[&path], &mock);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("key       missing; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"), "{told}");

    let gone = |text: String| {
        text.replace(&mock.root_url(), "http://127.0.0.1:9").replace("[limits]", "[limits]\nconnect-seconds = 2")
    };
    let path = experiment(&mock, temp.path(), gone).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path], &mock);
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert_eq!(told.matches(": no connection: ").count(), 9, "{told}");
}

#[test]
fn without_an_experiment_the_profiles_with_a_key_are_looked_at() {
    let mut command = environment(KEY);
    for it in &ALL {
        command.env_remove(it.key_env);
    }
    let unset = command.arg("doctor").output().expect("it runs");
    assert_eq!(unset.status.code(), Some(4), "{}", String::from_utf8_lossy(&unset.stderr));
    assert!(String::from_utf8_lossy(&unset.stderr).contains("no key of any profile is set"));

    // Azure's address stands in a variable, so that no test has to leave this machine for it.
    let mock = mock(script());
    let azure = || {
        let mut command = environment(KEY);
        for it in ALL.iter().filter(|it| it.profile != "azure") {
            command.env_remove(it.key_env);
        }
        command.env("AZURE_OPENAI_ENDPOINT", mock.root_url());
        command
    };
    let (output, told) = doctor(&mut azure(), &[], &mock);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.starts_with("azure: ok\n  profile   azure\n"), "{told}");
    let (output, told) = doctor(azure().env_remove("OPENAI_API_VERSION"), &[], &mock);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("needs the environment variable OPENAI_API_VERSION, which is not set; set it"), "{told}");
}

#[test]
fn live_shows_route_by_arm() {
    let mock = mock(script().models(models()).launder(Form::FlatUser, 1.0).launder(Form::FlatSplit, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let path = experiment(&mock, temp.path(), |text| text).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live"], &mock);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let table = told.split_once("summarizer ").expect("a table").1;
    insta::assert_snapshot!("doctor-live", format!("summarizer {table}"));
    let calls = mock.calls();
    assert_eq!(calls.iter().filter(|call| call.purpose == Purpose::Summarize).count(), 8 * 3);
    assert!(calls.iter().all(|call| call.rule.is_none() || call.status == Some(404)), "nothing is refused");

    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live", "--arm", "hermes-typed"], &mock);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("8 calls will be made: "), "{told}");
    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live", "--arm", "hermes-tpyed"], &mock);
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("there is no arm \"hermes-tpyed\"; did you mean \"hermes-typed\"?"), "{told}");
}

#[test]
fn live_says_what_each_arm_came_to() {
    let fault = |kind: FaultKind, of: &str| Fault::new(kind, When::Probability(1.0)).model(format!("model-of-{of}"));
    let faulty = script()
        .models(models())
        .fault(fault(FaultKind::Truncated, "openai"))
        .fault(fault(FaultKind::ContextOverflow, "openai-responses"))
        .fault(fault(FaultKind::Overloaded, "gemini-2x"))
        .fault(fault(FaultKind::Refused, "bedrock-converse"));
    let mock = mock(faulty);
    let temp = tempfile::tempdir().expect("a folder");
    let narrow = |text: String| text.replace(ARMS, "\"hermes-typed\"");
    let path = experiment(&mock, temp.path(), narrow).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live"], &mock);
    assert_eq!(output.status.code(), Some(2), "{told}");
    for said in [
        "openai in hermes-typed: the reply was cut off; raise max-tokens",
        "openai-responses in hermes-typed: the request is larger than the model's context (HTTP 400)",
        "gemini-2x in hermes-typed: the server is overloaded (HTTP 503)",
        "bedrock-converse in hermes-typed: the model or a filter refused",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    // An arm that makes its own requests is no fault.
    let own = repo("adapters/example/arm.toml").display().to_string();
    let with_exec = |text: String| text.replace(ARMS, &format!("\"hermes-typed\", {own:?}"));
    let path = experiment(&mock, temp.path(), with_exec).display().to_string();
    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live", "--arm", "example-keep-2"], &mock);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("openai in example-keep-2: not asked, its program makes its own requests"), "{told}");
    // A budget holds here too.
    let capped = |text: String| format!("{}[budget]\nmax-calls = 3\n", text.replace(ARMS, "\"hermes-typed\""));
    let path = experiment(&mock, temp.path(), capped).display().to_string();
    let before = mock.calls().iter().filter(|call| call.purpose == Purpose::Summarize && call.attempt == 1).count();
    let (output, told) = doctor(&mut environment(KEY), &[&path, "--live", "--arm", "hermes-typed"], &mock);
    assert_eq!(output.status.code(), Some(2), "what has to be put right comes first: {told}");
    assert!(told.contains("raise [budget] for this check"), "{told}");
    let after = mock.calls().iter().filter(|call| call.purpose == Purpose::Summarize && call.attempt == 1).count();
    assert!(after - before <= 8, "{told}");
}

#[test]
fn live_needs_an_experiment() {
    let output = laundromat().args(["doctor", "--live"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
