//! The whole binary, measured as a user runs it: start-up, and CPU time and memory of a run with the
//! built-in reader over 5,000 trials of sessions of about 60 KB. `just bench` runs it.
//!
//! CPU times are user + system of the child process, so that other load on the machine counts little.
//! `plan` builds the same requests and stops, so the difference is what sending, hashing, compressing,
//! committing, judging and storing cost.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// Arms x attacks of the benchmark experiment.
const TRIALS_A_SESSION: usize = 8;
const WORDS: [&str; 24] = [
    "anchor", "batch", "cache", "delta", "entry", "fixture", "gauge", "handle", "index", "journal", "kernel", "ledger",
    "module", "notice", "offset", "parser", "queue", "record", "schema", "token", "update", "vector", "window",
    "yield",
];

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let quick = std::env::args().any(|arg| arg == "--test");
    let folder = tempfile::tempdir().expect("a temporary folder");
    start_up(if quick { 1 } else { 20 });
    let sizes: &[usize] = if quick { &[1] } else { &[125, 625] };
    for sessions in sizes {
        whole_run(folder.path(), *sessions);
    }
}

struct Used {
    wall: Duration,
    cpu: Duration,
    /// Largest resident set of any child so far, in MB.
    peak_mb: f64,
}

fn used(arguments: &[&str], folder: &Path) -> Used {
    let cpu = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
        let time = |value: nix::sys::time::TimeVal| Duration::new(value.tv_sec() as u64, value.tv_usec() as u32 * 1000);
        (time(usage.user_time()) + time(usage.system_time()), usage.max_rss() as f64 / 1024.0)
    };
    let (before, _) = cpu();
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_laundromat"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let wall = started.elapsed();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (after, peak_mb) = cpu();
    Used { wall, cpu: after - before, peak_mb }
}

fn start_up(times: usize) {
    let runs: Vec<Used> = (0..times).map(|_| used(&["--version"], Path::new("."))).collect();
    let best = runs.iter().map(|run| run.wall).min().unwrap_or_default();
    let peak = runs.iter().map(|run| run.peak_mb).fold(0.0, f64::max);
    println!(
        "start-up            {:.1} ms wall (least of {times}), {peak:.1} MB   goal: 20 ms, 20 MB",
        best.as_secs_f64() * 1e3
    );
}

fn whole_run(folder: &Path, sessions: usize) {
    let trials = sessions * TRIALS_A_SESSION;
    let run = format!("run-{sessions}");
    let experiment = experiment(folder, sessions);
    let plan = used(&["plan", &experiment], folder);
    let whole = used(&["run", &experiment, "--out", &run], folder);
    let again = used(&["run", &experiment, "--out", &run], folder);
    let report = used(&["report", &run], folder);
    let store = fs::metadata(folder.join(&run).join("run.sqlite")).map_or(0, |meta| meta.len());
    let a_trial = |cpu: Duration| cpu.as_secs_f64() * 1e3 / trials as f64;
    let beyond = whole.cpu.saturating_sub(plan.cpu).saturating_sub(report.cpu);
    println!("{trials} trials of about 60 KB");
    println!("  plan              {:.3} ms CPU a trial: reading, planting, building the requests", a_trial(plan.cpu));
    println!(
        "  run               {:.3} ms CPU a trial, {:.2} s wall, {:.0} MB peak, store {:.1} MB",
        a_trial(whole.cpu),
        whole.wall.as_secs_f64(),
        whole.peak_mb,
        store as f64 / 1e6
    );
    println!("  report            {:.3} ms CPU a trial: every view written again", a_trial(report.cpu));
    println!("  run - plan - report  {:.3} ms CPU a trial   goal: 0.3 ms", a_trial(beyond));
    println!("  run again         {:.2} s wall: nothing left to do", again.wall.as_secs_f64());
}

/// Writes the sessions and an experiment over them; gives the experiment's file name.
fn experiment(folder: &Path, count: usize) -> String {
    let sessions = folder.join(format!("sessions-{count}"));
    fs::create_dir_all(&sessions).expect("a folder");
    for number in 0..count {
        fs::write(sessions.join(format!("s{number:05}.json")), session(number)).expect("written");
    }
    let name = format!("bench-{count}.toml");
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"bench-{count}\"\nseed = 1\nsessions = [\"sessions-{count}/*.json\"]\n\
         attacks = [\"standing-approval\", \"clean\"]\narms = [\"hermes-0.19\", \"hermes-main\", \"hermes-split\", \"hermes-typed\"]\n\
         [[summarizers]]\nname = \"reader\"\nmodel = \"builtin:reader\"\n[judge]\nmodel = \"builtin:rules\"\n"
    );
    fs::write(folder.join(&name), text).expect("written");
    name
}

/// A session of 45 messages, about 60 KB as JSON; the same number gives the same bytes.
fn session(number: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ (number as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (WORDS[(state % 24) as usize], state)
    };
    let mut messages = Vec::new();
    for turn in 0..22 {
        if turn % 4 == 0 {
            messages.push(format!(
                "{{\"role\":\"user\",\"content\":\"Please get the {} {} tests green again, see #{}.\"}}",
                word().0,
                word().0,
                100 + turn
            ));
        }
        let call = format!("call_{number:05}_{turn:02}");
        messages.push(format!(
            "{{\"role\":\"assistant\",\"content\":\"Looking at the {} next.\",\"tool_calls\":[{{\"id\":\"{call}\",\"type\":\"function\",\"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"path\\\": \\\"src/{}.py\\\"}}\"}}}}]}}",
            word().0,
            word().0
        ));
        let mut output = String::new();
        while output.len() < 2450 {
            let _ = write!(output, "src/{}/{}.py:{}: ", word().0, word().0, word().1 % 900);
            for _ in 0..8 {
                output.push_str(word().0);
                output.push(' ');
            }
            output.push_str("\\n");
        }
        messages.push(format!("{{\"role\":\"tool\",\"tool_call_id\":\"{call}\",\"content\":\"{output}\"}}"));
    }
    format!("{{\"schema\":\"laundromat-session/1\",\"id\":\"s{number:05}\",\"messages\":[{}]}}", messages.join(","))
}
