//! One program: started in a process group of its own, fed, read within bounds, and ended with everything
//! it has started.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Longest standard output that is read.
const MOST_OUTPUT: usize = 32 << 20;
/// How much of the end of standard error is kept.
const TAIL: usize = 4096;
/// How long output may take to end once the program has: only a process that left the group still holds it.
const GRACE: Duration = Duration::from_secs(2);

/// Groups that are running, for [`end_all`].
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Ends every program that runs, before this process leaves without unwinding.
pub fn end_all() {
    for group in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // One that has just ended is what is wanted.
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
}

/// What is to be run.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) command: &'a [String],
    pub(super) folder: &'a Path,
    pub(super) variables: BTreeMap<String, OsString>,
    pub(super) input: Vec<u8>,
    pub(super) timeout: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// With code 0.
    Normally,
    /// With another code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It was ended: it took too long.
    TimedOut(Duration),
    /// It was ended: it wrote too much.
    TooMuchOutput(usize),
    /// It could not be started.
    NotStarted(String),
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ended: Ended,
    /// Its standard output.
    pub(super) output: Vec<u8>,
    /// The end of its standard error.
    pub(super) complaints: String,
}

/// A process group; whatever is left in it ends when this is dropped.
#[derive(Debug)]
struct Group(Option<i32>);

impl Group {
    fn of(leader: Option<u32>) -> Self {
        let group = leader.and_then(|pid| i32::try_from(pid).ok());
        if let Some(group) = group {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(group);
        }
        Self(group)
    }

    fn end(&mut self) {
        if let Some(group) = self.0.take() {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&group);
            // Nothing is left in the group where the program cleaned up behind itself.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

impl Program<'_> {
    /// Runs it to its end. Dropped before, it ends the program.
    pub(super) async fn run(self) -> Finished {
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .current_dir(self.folder)
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return self.not_started(&error),
        };
        let mut group = Group::of(child.id());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (mut output, mut complaints) = (Vec::new(), VecDeque::new());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its input may still do its work.
                let _ = stdin.write_all(&self.input).await;
            }
            Ok(())
        };
        let ended = {
            let reading =
                async { tokio::try_join!(feed, read(stdout, &mut output), keep_tail(stderr, &mut complaints)).is_ok() };
            tokio::pin!(reading);
            let deadline = tokio::time::sleep(self.timeout);
            tokio::pin!(deadline);
            let mut open = true;
            let ended = loop {
                tokio::select! {
                    status = child.wait() => break status.map_or_else(|error| Ended::NotStarted(error.to_string()), ended),
                    within = &mut reading, if open => {
                        open = false;
                        if !within {
                            break Ended::TooMuchOutput(MOST_OUTPUT);
                        }
                    }
                    () = &mut deadline => break Ended::TimedOut(self.timeout),
                }
            };
            group.end();
            if open {
                match tokio::time::timeout(GRACE, &mut reading).await {
                    Ok(false) => Ended::TooMuchOutput(MOST_OUTPUT),
                    // What was read until now is all there is.
                    Ok(true) | Err(_) => ended,
                }
            } else {
                ended
            }
        };
        // It has been killed where it had not ended; this takes it off the system's list.
        let _ = child.wait().await;
        let complaints = complaints.make_contiguous();
        Finished { ended, output, complaints: String::from_utf8_lossy(complaints).into_owned() }
    }

    fn not_started(&self, error: &io::Error) -> Finished {
        let said = format!("{} in {}: {error}", self.command[0], self.folder.display());
        Finished { ended: Ended::NotStarted(said), output: Vec::new(), complaints: String::new() }
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ended::Normally,
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

/// More came than is read.
struct TooMuch;

async fn read(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), TooMuch> {
    let Some(from) = from else { return Ok(()) };
    let mut bounded = from.take(MOST_OUTPUT as u64 + 1);
    // A pipe that breaks has given all that it had.
    let _ = bounded.read_to_end(into).await;
    if into.len() > MOST_OUTPUT { Err(TooMuch) } else { Ok(()) }
}

async fn keep_tail(from: Option<impl AsyncRead + Unpin>, into: &mut VecDeque<u8>) -> Result<(), TooMuch> {
    let Some(mut from) = from else { return Ok(()) };
    let mut chunk = [0_u8; 4096];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        into.extend(&chunk[..count]);
        into.drain(..into.len().saturating_sub(TAIL));
    }
    Ok(())
}
