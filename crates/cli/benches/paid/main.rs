//! The paid path: requests a second against the strict mock at concurrency 32, and CPU a request, of
//! `laundromat run` and of a bare `reqwest` loop that sends the same bodies to the same mock.
//!
//! Three cases, see [`CASES`]: what is built is used for one request and replies take a while, as those of
//! endpoints do; the published design's shape, where it is used for six, without latency; and the first again
//! without latency, which is the hardest and no real endpoint. The goal is for the first: without latency 32 slots
//! turn over no faster than the disk commits, whatever else is saved.
//!
//! In each, a first run, not counted, warms up and leaves the bodies. Then come three rounds of one run and
//! one bare loop, in turns the one and the other first. Mock, run and loop are processes of their own; the
//! mock serves on one thread.
//!
//! * *run* is the whole process, from its start to its end: loading the inputs, building, sending, hashing,
//!   compressing, committing, judging, and writing every view at the end;
//! * *to the last commit* is the same less a `report` over the finished run, timed apart;
//! * *bare* is its loop alone: neither start-up nor reading the bodies.
//!
//! The ratio with a goal is the first of the three against the last, which is the less kind way to count.

mod bare;
#[path = "../common/mod.rs"]
mod common;
mod provider;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use common::experiment::{CONCURRENCY, Models, Shape};
use common::measure::{Used, numbers};
use common::mode::Mode;
use common::{experiment, measure};
use laundromat_store::Run;
use provider::{KEY, Provider};

/// What is run against which mock.
struct Case {
    name: &'static str,
    shape: Shape,
    latency_ms: u64,
}

const CASES: [Case; 3] = [
    Case {
        name: "1 summarizer, 1 repetition, replies after 50 ms",
        shape: Shape { sessions: 250, summarizers: 1, repetitions: 1 },
        latency_ms: 50,
    },
    Case {
        name: "3 summarizers, 2 repetitions as in the study, no latency",
        shape: Shape { sessions: 42, summarizers: 3, repetitions: 2 },
        latency_ms: 0,
    },
    Case {
        name: "1 summarizer, 1 repetition, no latency",
        shape: Shape { sessions: 250, summarizers: 1, repetitions: 1 },
        latency_ms: 0,
    },
];

/// The variable that holds the mock's key.
const KEY_ENV: &str = "LAUNDROMAT_BENCH_KEY";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    match arguments.next().as_deref() {
        Some(measure::ROLE) => measure::measure(arguments),
        Some(provider::ROLE) => provider::be(arguments),
        Some(bare::ROLE) => bare::send(arguments),
        _ => {
            let mode = Mode::asked_for();
            for Case { name, shape, latency_ms } in CASES {
                let shape = Shape { sessions: mode.pick(shape.sessions, 1), ..shape };
                println!("paid path: {name}");
                rounds(shape, latency_ms, mode.pick(3, 1));
            }
            println!("goal: a ratio of 70% or more with replies after 50 ms");
            ExitCode::SUCCESS
        }
    }
}

/// One side of a round.
struct Side {
    wall: Duration,
    cpu: Duration,
    /// CPU time of the mock meanwhile.
    mock: Duration,
}

fn rounds(shape: Shape, latency_ms: u64, rounds: usize) {
    let temp = tempfile::tempdir().expect("a temporary folder");
    let folder = temp.path();
    let mut mock = Provider::start(latency_ms);
    let experiment = experiment::write(folder, shape, Models::Chat { url: &mock.url, key_env: KEY_ENV });
    run(&mut mock, folder, &experiment, "first");
    let sent = check(&folder.join("first"), shape.trials());
    println!(
        "  {} requests a round ({} summaries, {} verdicts) at concurrency {CONCURRENCY}",
        sent.summaries + sent.verdicts,
        sent.summaries,
        sent.verdicts
    );
    println!("  {:<8}{:>31}{:>31}{:>9}{:>24}", "round", "run", "bare", "ratio", "to the last commit");
    let mut ratios = Vec::new();
    let mut columns: [Vec<f64>; 6] = Default::default();
    for round in 1..=rounds {
        let out = format!("round-{round}");
        let (ran, bare) = if round % 2 == 1 {
            let ran = run(&mut mock, folder, &experiment, &out);
            (ran, bare_loop(&mut mock, folder))
        } else {
            let bare = bare_loop(&mut mock, folder);
            (run(&mut mock, folder, &experiment, &out), bare)
        };
        assert_eq!(check(&folder.join(&out), shape.trials()), sent, "rounds differ in what they sent");
        let views = laundromat(folder, &["report", &out]).wall;
        let requests = (sent.summaries + sent.verdicts) as f64;
        let rate = |wall: Duration| requests / wall.as_secs_f64();
        let to_commit = rate(ran.wall.saturating_sub(views));
        ratios.push((rate(ran.wall) / rate(bare.wall), to_commit / rate(bare.wall)));
        let figures = [&ran, &bare].map(|side| {
            let busy = 100.0 * side.mock.as_secs_f64() / side.wall.as_secs_f64();
            [rate(side.wall), side.cpu.as_secs_f64() * 1e3 / requests, busy]
        });
        for (column, figure) in columns.iter_mut().zip(figures.as_flattened()) {
            column.push(*figure);
        }
        line(&round.to_string(), figures.as_flattened(), ratios[ratios.len() - 1]);
    }
    let medians: Vec<f64> = columns.into_iter().map(median).collect();
    let (whole, to_commit) = ratios.into_iter().unzip();
    line("median", &medians, (median(whole), median(to_commit)));
}

fn line(name: &str, figures: &[f64], (whole, to_commit): (f64, f64)) {
    let side =
        |at: usize| format!("{:>6.0}/s {:>6.3} ms CPU, mock {:>3.0}%", figures[at], figures[at + 1], figures[at + 2]);
    println!("  {name:<8}{:>31}{:>31}{:>8.0}%{:>23.0}%", side(0), side(3), 100.0 * whole, 100.0 * to_commit);
}

fn laundromat(folder: &Path, arguments: &[&str]) -> Used {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laundromat"));
    measure::used(command.args(arguments).current_dir(folder).env(KEY_ENV, KEY))
}

fn run(mock: &mut Provider, folder: &Path, experiment: &str, out: &str) -> Side {
    let before = mock.cpu();
    let used = laundromat(folder, &["run", experiment, "--out", out]);
    Side { wall: used.wall, cpu: used.cpu, mock: mock.cpu() - before }
}

fn bare_loop(mock: &mut Provider, folder: &Path) -> Side {
    let before = mock.cpu();
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args([bare::ROLE, &mock.url, "first", &CONCURRENCY.to_string()]).current_dir(folder);
    let [_, wall, cpu] = numbers(measure::used(&command).stdout.trim());
    Side { wall: Duration::from_micros(wall), cpu: Duration::from_micros(cpu), mock: mock.cpu() - before }
}

/// What a run has sent.
#[derive(Debug, PartialEq, Eq)]
struct Calls {
    summaries: usize,
    verdicts: usize,
}

/// Checks that every trial of the run in `folder` was judged and every call answered at once; counts them.
fn check(folder: &Path, trials: usize) -> Calls {
    let run = Run::open(folder).expect("a run");
    let stored = run.trials().expect("trials");
    assert_eq!(stored.len(), trials);
    assert!(stored.iter().all(|trial| trial.reading.is_some()), "a trial has no verdict");
    let mut calls = Calls { summaries: 0, verdicts: 0 };
    run.each_call(|call| {
        assert_eq!(call.attempts, 1, "a call was tried again");
        match call.purpose.as_str() {
            "judge" => calls.verdicts += 1,
            _ => calls.summaries += 1,
        }
    })
    .expect("calls");
    calls
}

/// The middle one; of an even number the higher of the two in the middle.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
