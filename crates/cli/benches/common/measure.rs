//! One child process, measured by itself.
//!
//! The system keeps the peak memory of a process's children as the largest of all of them, so whoever
//! measures several sees the largest so far. Here each child gets a parent of its own: the benchmark runs
//! itself again with [`ROLE`], that small process starts the one child, waits, and prints what
//! `RUSAGE_CHILDREN` holds.
//!
//! A child's peak is never below that of the process it was forked from. The small process needs about
//! 3 MB, which is less than any figure printed, so no figure is raised by it.

use std::env;
use std::io::{Write as _, stdout};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};

/// First argument of the measuring process; the child's program and arguments follow.
pub(crate) const ROLE: &str = "measure-one-child";

/// What a child used from its start to its end.
#[derive(Debug)]
pub(crate) struct Used {
    /// Time on the clock.
    pub(crate) wall: Duration,
    /// User and system time.
    pub(crate) cpu: Duration,
    /// Largest resident set, in MB.
    pub(crate) peak_mb: f64,
    /// What it printed.
    pub(crate) stdout: String,
}

/// Runs `command` to its end and measures it. It has to succeed.
pub(crate) fn used(command: &Command) -> Used {
    let mut measuring = Command::new(env::current_exe().expect("this program has a path"));
    measuring.arg(ROLE).arg(command.get_program()).args(command.get_args());
    measuring.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        measuring.current_dir(folder);
    }
    let output = measuring.stdin(Stdio::null()).output().expect("this program starts again");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let (figures, stdout) = text.split_once('\n').expect("a line of figures");
    let [wall, cpu, peak] = numbers(figures);
    Used {
        wall: Duration::from_micros(wall),
        cpu: Duration::from_micros(cpu),
        peak_mb: peak as f64 * 1024.0 / 1e6,
        stdout: stdout.to_owned(),
    }
}

/// The measuring process: runs the program that `arguments` begin with, prints microseconds of wall and
/// CPU time and kilobytes of memory, then what the child printed.
pub(crate) fn measure(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let mut command = Command::new(arguments.next().expect("a program"));
    command.args(arguments);
    let started = Instant::now();
    let output = command.output().expect("the program starts");
    let wall = started.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage");
    if !output.status.success() {
        eprintln!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        return ExitCode::FAILURE;
    }
    println!("{} {} {}", wall.as_micros(), cpu(&usage).as_micros(), usage.max_rss());
    stdout().write_all(&output.stdout).expect("printed");
    ExitCode::SUCCESS
}

/// User and system time.
pub(crate) fn cpu(usage: &Usage) -> Duration {
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| Duration::from_secs(time.tv_sec() as u64) + Duration::from_micros(time.tv_usec() as u64))
        .sum()
}

/// The numbers that a child printed on one line.
pub(crate) fn numbers<const N: usize>(line: &str) -> [u64; N] {
    let numbers: Vec<u64> = line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{N} numbers, not \"{line}\""))
}
