//! Killed at seeded moments and started again, a run ends as an unbroken one, and no call whose reply
//! was committed is made again.

mod common;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::repo;
use laundromat_mock::{Form, Mock, Script, draw};
use laundromat_store::Run;

const KILLS: usize = 20;
const DATE: &str = "2026-03-04";
const CONCURRENCY: usize = 8;

fn start(experiment: &Path, out: &Path, date: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laundromat"));
    command
        .env("OPENROUTER_API_KEY", "mock-key")
        .arg("run")
        .arg(experiment)
        .args(["--date", date, "--out"])
        .arg(out)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn views(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    [
        "report.md",
        "trials.csv",
        "rates.csv",
        "contrasts.csv",
        "recall.csv",
        "plots/rates.svg",
        "plots/rates.png",
        "plots/models.svg",
        "plots/recall.svg",
    ]
    .into_iter()
    .map(|name| (name, fs::read(folder.join(name)).expect(name)))
    .collect()
}

/// Keys of the calls that are committed.
fn committed(out: &Path) -> HashSet<String> {
    let mut keys = HashSet::new();
    // A run killed before its first commit has no store to read yet.
    if let Ok(run) = Run::open(out) {
        run.each_call(|call| {
            keys.insert(blake3::Hash::from_bytes(call.key).to_hex().to_string());
        })
        .expect("the store can be read after a kill");
    }
    keys
}

#[test]
fn a_killed_run_ends_as_an_unbroken_one_and_pays_for_nothing_twice() {
    let script = Script::default()
        .latency_ms(20)
        .launder(Form::FlatUser, 0.7)
        .launder(Form::FlatSplit, 0.6)
        .launder(Form::Typed, 0.2);
    let mock = Mock::start(script).expect("the mock starts");
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = temp.path().join("study.toml");
    let text = fs::read_to_string(repo("scenarios/role-typed-study.toml"))
        .expect("the scenario")
        .replace("https://openrouter.ai/api/v1", &mock.base_url())
        .replace("../sessions/*.json", &repo("sessions/*.json").display().to_string());
    fs::write(&experiment, text).expect("written");

    let whole = temp.path().join("whole");
    assert!(start(&experiment, &whole, DATE).stderr(Stdio::null()).status().expect("it runs").success());
    let needed = mock.calls().len();

    let broken = temp.path().join("broken");
    let mut paid_for: Vec<(usize, HashSet<String>)> = Vec::new();
    let mut told = String::new();
    for kill in 0..KILLS {
        let mut child = start(&experiment, &broken, DATE).stderr(Stdio::piped()).spawn().expect("it starts");
        // After so many more calls than before; the seed is the kill's number.
        let moment = mock.calls().len() + 1 + (40.0 * draw::draw(1, "kill", &kill.to_string())) as usize;
        let patience = Instant::now();
        while mock.calls().len() < moment && patience.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        told.push_str(&String::from_utf8_lossy(&child.wait_with_output().expect("ended").stderr));
        paid_for.push((mock.calls().len(), committed(&broken)));
    }
    let partial = paid_for.iter().filter(|(_, committed)| !committed.is_empty() && committed.len() < needed).count();
    assert!(partial > KILLS / 2, "only {partial} of {KILLS} kills struck a run that was under way");
    // Another day: the date pinned at the first start stands, or other requests would be sent.
    let last = start(&experiment, &broken, "2026-12-24").stderr(Stdio::piped()).output().expect("it runs");
    let said = String::from_utf8_lossy(&last.stderr).into_owned();
    assert!(last.status.success(), "{said}");
    // A kill right after a start may come before anything was sent, so it is not every start that has it to say.
    told.push_str(&said);
    assert!(told.contains("calls were in flight when the run was last stopped"), "{told}");
    for ((name, expected), (_, got)) in views(&whole).into_iter().zip(views(&broken)) {
        assert!(expected == got, "{name} differs after {KILLS} kills");
    }
    assert_eq!(committed(&whole), committed(&broken), "the same requests were sent");

    // By the mock's own log: what was committed at a kill was not asked for after it.
    let calls = mock.calls();
    for (seen, committed) in &paid_for {
        for call in &calls[*seen..] {
            assert!(!committed.contains(&call.key), "a committed call was made again");
        }
    }
    let mut times: HashMap<&str, usize> = HashMap::new();
    for call in &calls[needed..] {
        *times.entry(&call.key).or_default() += 1;
    }
    assert_eq!(times.len(), needed, "the broken run needs the same calls");
    let repeated: usize = times.values().map(|times| times - 1).sum();
    assert!(repeated <= KILLS * CONCURRENCY, "{repeated} repeats are more than were in flight");
    println!("{KILLS} kills, {needed} calls needed, {repeated} asked again because they were in flight");
}
