//! The strict mock as a process of its own, so that its CPU is counted apart: the benchmark runs itself
//! again with [`ROLE`].

use std::env;
use std::io::{BufRead, BufReader, Write as _, stdin, stdout};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use laundromat_mock::{Form, Mock, Script};
use nix::sys::resource::{UsageWho, getrusage};

use crate::common::measure::{cpu, numbers};

/// First argument of the mock's process.
pub(crate) const ROLE: &str = "be-the-mock";
/// The key that it takes.
pub(crate) const KEY: &str = "mock-key";

/// The mock's process, which waits as many milliseconds before each reply as `arguments` say: prints where it listens, then its CPU time for every line it gets, until there are
/// no more.
pub(crate) fn be(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let [latency] = numbers(&arguments.next().expect("a latency in milliseconds"));
    // The published rates: some summaries go on to the judge, some do not.
    let launder = [(Form::FlatUser, 0.72), (Form::FlatSplit, 0.6), (Form::Typed, 0.19)];
    let script = launder
        .iter()
        .fold(Script::default().key(KEY).latency_ms(latency), |script, (form, p)| script.launder(*form, *p));
    let mock = Mock::start(script).expect("the mock starts");
    println!("{}", mock.base_url());
    for _ in stdin().lines() {
        println!("{}", cpu(&getrusage(UsageWho::RUSAGE_SELF).expect("usage")).as_micros());
        stdout().flush().expect("printed");
    }
    ExitCode::SUCCESS
}

/// The process, as the benchmark holds it. It ends when dropped.
#[derive(Debug)]
pub(crate) struct Provider {
    child: Child,
    ask: Option<ChildStdin>,
    told: BufReader<ChildStdout>,
    /// Where it listens.
    pub(crate) url: String,
}

impl Provider {
    /// Starts it, with that many milliseconds before each reply.
    pub(crate) fn start(latency_ms: u64) -> Self {
        let mut child = Command::new(env::current_exe().expect("this program has a path"))
            .args([ROLE, &latency_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts again");
        let mut told = BufReader::new(child.stdout.take().expect("a pipe"));
        let ask = child.stdin.take();
        let mut url = String::new();
        told.read_line(&mut url).expect("its address");
        Self { child, ask, told, url: url.trim().to_owned() }
    }

    /// Its CPU time so far.
    pub(crate) fn cpu(&mut self) -> Duration {
        let mut line = String::new();
        self.ask.as_mut().expect("a pipe").write_all(b"\n").expect("it listens");
        self.told.read_line(&mut line).expect("it answers");
        let [micros] = numbers(&line);
        Duration::from_micros(micros)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // The end of its input is what it ends on.
        drop(self.ask.take());
        let _ = self.child.wait();
    }
}
