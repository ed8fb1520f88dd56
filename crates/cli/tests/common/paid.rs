//! Runs against the strict mock.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use laundromat_mock::{Mock, Script};

use super::{laundromat, repo};

/// The key that the mock takes.
pub(crate) const KEY: &str = "mock-key-7f3a";

/// A script with that key.
pub(crate) fn script() -> Script {
    Script::default().key(KEY).seed(7)
}

/// A running mock.
pub(crate) fn mock(script: Script) -> Mock {
    Mock::start(script).expect("the mock starts")
}

/// The study scenario, pointed at `url`, with `change` made to it.
pub(crate) fn study(url: &str, folder: &Path, change: impl Fn(String) -> String) -> PathBuf {
    let text = fs::read_to_string(repo("scenarios/role-typed-study.toml")).expect("the scenario");
    let sessions = repo("sessions/*.json");
    let text = text
        .replace("https://openrouter.ai/api/v1", url)
        .replace("../sessions/*.json", &sessions.display().to_string());
    let changed = change(text.clone());
    assert_ne!(changed, text, "nothing was changed");
    let path = folder.join("study.toml");
    fs::write(&path, changed).expect("written");
    path
}

/// One session, one typed arm, one model with bounded replies; `more` goes to the end of the file, into its limits.
pub(crate) fn small(url: &str, folder: &Path, more: &str) -> PathBuf {
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"small\"\nseed = 1\nrepetitions = 4\nsessions = [{:?}]\n\
         attacks = [\"standing-approval\"]\narms = [\"hermes-main\"]\n\
         [[summarizers]]\nname = \"m\"\nmodel = \"some-model\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n\
         parameters = {{ max_tokens = 1000 }}\n\
         [judge]\nmodel = \"a-judge\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n\
         parameters = {{ temperature = 0, max_tokens = 64 }}\n\
         [limits]\nconcurrency = 1\nattempts = 2\nbackoff-ms = 1\nattempt-seconds = 5\n{more}",
        repo("sessions/fix-region-rollup-test.json").display().to_string()
    );
    let path = folder.join("small.toml");
    fs::write(&path, text).expect("written");
    path
}

/// `run` with the keys set.
pub(crate) fn run(experiment: &Path, out: &Path, more: &[&str]) -> Output {
    laundromat()
        .env("OPENROUTER_API_KEY", KEY)
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .arg("run")
        .arg(experiment)
        .arg("--out")
        .arg(out)
        .args(more)
        .output()
        .expect("it runs")
}

/// What it said.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of a table; none of the columns that tests look at holds a comma.
pub(crate) fn rows(path: &Path) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path).expect("a table");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    lines
        .map(|line| head.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

/// The keys of all calls that a run has committed.
pub(crate) fn stored(out: &Path) -> Vec<String> {
    rows(&out.join("calls.csv")).into_iter().map(|mut call| call.remove("key").expect("a key")).collect()
}
