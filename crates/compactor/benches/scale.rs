//! Does building a request take time and memory in step with the session? Every preset over 1, 10 and 100 MB,
//! its shield off and on, each in a process of its own, so that the peak of its memory can be read.
//!
//!     cargo bench -p laundromat-compactor --bench scale [-- NAME...]
//!
//! Caps are taken off: they would leave most of a large session out. Times are processor time, so that other
//! programs of the machine do not count. Memory is the peak of the whole process over what it holds once the
//! session is made.

#[path = "support/session.rs"]
mod support;

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use laundromat_compactor::{Arm, Compactor, Given, Next, Refusal, Request, presets};
use laundromat_session::Session;
use nix::time::{ClockId, clock_gettime};

use support::{bytes, session};

/// Sizes in millions of bytes, and how often each is measured: the shortest time counts.
const SIZES: [(usize, usize); 3] = [(1, 9), (10, 3), (100, 1)];
/// A first argument that says: measure here.
const CHILD: &str = "--child";
/// Shield that stands in for those of arms that have none.
const SHIELD: &str = "hermes-default";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.split_first() {
        Some((first, rest)) if first == CHILD => child(rest),
        _ => parent(&args),
    }
}

/// What a child measured.
#[derive(Clone, Copy, Default)]
struct Measured {
    seconds: f64,
    /// Peak of the process over what it held with the session.
    memory: f64,
    bytes: usize,
}

fn parent(names: &[String]) -> ExitCode {
    println!("{:28} {:>8} {:>8} {:>10} {:>10} {:>8}", "preset", "10/1", "100/10", "MB/s off", "MB/s on", "memory");
    for name in presets::arm_names() {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let off = SIZES.map(|(size, times)| shortest(name, size, times, "off"));
        let on = shortest(name, SIZES[2].0, SIZES[2].1, "on");
        let [Some(one), Some(ten), Some(hundred)] = off else {
            println!("{name:28} refused");
            continue;
        };
        let speed = |it: Measured| it.bytes as f64 / 1e6 / it.seconds;
        println!(
            "{name:28} {:8.1} {:8.1} {:10.0} {:10.0} {:7.2}x",
            ten.seconds / one.seconds,
            hundred.seconds / ten.seconds,
            speed(hundred),
            on.map_or(0.0, speed),
            hundred.memory,
        );
    }
    ExitCode::SUCCESS
}

/// Every measurement is the first build of a process, as a large one always is: a second would find memory
/// that is mapped already.
fn shortest(name: &str, size: usize, times: usize, shield: &str) -> Option<Measured> {
    let all = (0..times).map(|_| measured(name, size, shield)).collect::<Option<Vec<_>>>()?;
    all.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

fn measured(name: &str, size: usize, shield: &str) -> Option<Measured> {
    let program = std::env::current_exe().ok()?;
    let out = Command::new(program).args([CHILD, name, &size.to_string(), shield]).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let mut words = text.split_whitespace();
    Some(Measured {
        seconds: words.next()?.parse().ok()?,
        memory: words.next()?.parse().ok()?,
        bytes: words.next()?.parse().ok()?,
    })
}

fn child(args: &[String]) -> ExitCode {
    let [name, size, shield] = args else { return ExitCode::FAILURE };
    let size: usize = size.parse().expect("a number");
    let session = session(size * 1_000_000);
    let bytes = bytes(&session);
    let compactor = compactor(name, shield == "on");
    let held = memory("VmRSS:");
    let clock = Clock::start();
    if build(&compactor, &session).is_err() {
        return ExitCode::FAILURE;
    }
    let seconds = clock.elapsed().as_secs_f64();
    println!("{seconds} {} {bytes}", memory("VmHWM:") as f64 / held as f64);
    ExitCode::SUCCESS
}

/// Processor time of this thread where the system tells, else the time of day.
struct Clock {
    processor: Option<Duration>,
    start: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { processor: processor_time(), start: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.processor, processor_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.start.elapsed(),
        }
    }
}

fn processor_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

/// A figure of the process's memory in bytes; 1 where the system does not tell.
fn memory(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.map_or(1, |kilobytes| kilobytes * 1024)
}

/// Every request of a compaction, one at a time, as a trial that sends them has them.
fn build(compactor: &Compactor, session: &Session) -> Result<(), Refusal> {
    let view = compactor.view(compactor.records(session));
    let given = Given { date: "2026-03-04", previous: None };
    let mut replies = Vec::new();
    loop {
        match compactor.next(&view, given, &replies)? {
            Next::Ask(request) => drop(black_box::<Request>(request)),
            Next::Replace(_) | Next::Summary(_) => return Ok(()),
        }
        replies.push("{}".to_owned());
    }
}

/// The preset without caps, so that all of the session is sent.
fn compactor(name: &str, shielded: bool) -> Compactor {
    let mut arm = Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    arm.caps = Default::default();
    arm.context_tokens = usize::MAX;
    arm.shield = shielded.then(|| arm.shield.take().unwrap_or_else(|| SHIELD.to_owned()));
    Compactor::new(arm).expect("no faults")
}
