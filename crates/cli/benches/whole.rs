//! The whole binary, measured as a user runs it without a key: start-up, then CPU time and memory of a run
//! with the built-in reader over 1,000 and 5,000 trials of sessions of about 60 KB.
//!
//! CPU times are user + system of the child process, so that other load on the machine counts little.
//!
//! The figure with a goal is *run - plan - report*. What is subtracted:
//!
//! * `plan`, a whole process: start-up, loading and checking the inputs, reading each session a second time,
//!   planting, records, views, every arm's request as messages, exposure, the scan for identifiers; and two
//!   things that a run does not do: estimating tokens and printing the plan;
//! * `report`, a whole process: start-up, reading the finished store, computing and writing every view. A run
//!   ends with the same.
//!
//! A run starts once and two start-ups are subtracted, so the figure is too low by one start-up and by
//! `plan`'s own two things: a few microseconds a trial over 1,000 trials, a fifth of that over 5,000.
//!
//! What is *not* subtracted, and so is the figure: the request's JSON body, its blake3, the call's key, zstd
//! of body and reply, the built-in reader's answer, committing calls, plants and trials to SQLite, parsing the
//! reply, gate, judging, recall, usability, progress, and handing all that between threads.

mod common;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use common::experiment::{Models, Shape};
use common::measure::Used;
use common::mode::Mode;
use common::{experiment, measure};
use laundromat_store::Run;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(measure::ROLE) {
        return measure::measure(arguments);
    }
    let mode = Mode::asked_for();
    let folder = tempfile::tempdir().expect("a temporary folder");
    start_up(mode.pick(20, 1));
    for sessions in mode.pick(&[125, 625][..], &[1]) {
        whole_run(folder.path(), *sessions);
    }
    ExitCode::SUCCESS
}

fn laundromat(folder: &Path, arguments: &[&str]) -> Used {
    measure::used(Command::new(env!("CARGO_BIN_EXE_laundromat")).args(arguments).current_dir(folder))
}

fn start_up(times: usize) {
    let runs: Vec<Used> = (0..times).map(|_| laundromat(Path::new("."), &["--version"])).collect();
    assert!(runs.iter().all(|run| run.stdout.starts_with("laundromat ")), "not the version: {runs:?}");
    let best = runs.iter().map(|run| run.wall).min().unwrap_or_default();
    let peak = runs.iter().map(|run| run.peak_mb).fold(0.0, f64::max);
    println!(
        "laundromat --version  {:.1} ms wall (least of {times}), {peak:.1} MB peak   goal: 20 ms, 20 MB",
        best.as_secs_f64() * 1e3
    );
}

fn whole_run(folder: &Path, sessions: usize) {
    let shape = Shape::unshared(sessions);
    let trials = shape.trials();
    let out = format!("run-{sessions}");
    let experiment = experiment::write(folder, shape, Models::Builtin);
    let plan = laundromat(folder, &["plan", &experiment]);
    let run = laundromat(folder, &["run", &experiment, "--out", &out]);
    let again = laundromat(folder, &["run", &experiment, "--out", &out]);
    let report = laundromat(folder, &["report", &out]);
    let beyond = run.cpu.saturating_sub(plan.cpu).saturating_sub(report.cpu);
    let a_trial = |cpu: Duration| cpu.as_secs_f64() * 1e3 / trials as f64;
    let row = |name: &str, used: &Used| {
        println!(
            "  {name:<20}{:>7.3} ms CPU a trial {:>7.2} s wall {:>5.0} MB peak",
            a_trial(used.cpu),
            used.wall.as_secs_f64(),
            used.peak_mb
        );
    };
    println!("{trials} trials of sessions of about 60 KB");
    row("plan", &plan);
    row("run", &run);
    row("report", &report);
    row("run, nothing to do", &again);
    println!("  run - plan - report {:>7.3} ms CPU a trial   goal: 0.3 ms", a_trial(beyond));
    stored(&folder.join(out), trials);
}

/// Checks that every trial was scored on an answer of its own, and says how large the store is.
fn stored(out: &Path, expected: usize) {
    let run = Run::open(out).expect("a run");
    let trials = run.trials().expect("trials");
    assert_eq!(trials.len(), expected);
    assert!(trials.iter().all(|trial| trial.reading.is_some()), "a trial has no verdict");
    let mut calls: Vec<_> = trials.iter().filter_map(|trial| trial.call).collect();
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), expected, "two trials share an answer");
    let sent: u64 = trials.iter().map(|trial| trial.cell.input_chars).sum();
    let store = fs::metadata(out.join("run.sqlite")).expect("a store").len();
    println!("  store               {:.1} MB for {:.1} million characters sent", store as f64 / 1e6, sent as f64 / 1e6);
}
