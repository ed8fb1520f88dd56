//! Every call, in memory for tests in this process and as JSON lines for those that kill processes.
//!
//! A call is logged twice: when it has been read, and with `answered` set when the last byte of its reply has
//! been handed to the system. A line is one write without a buffer, so what was logged outlives any kill.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error::MockError;
use crate::fault::FaultKind;
use crate::plan::Note;
use crate::request::{Form, Purpose};
use crate::route::Route;
use crate::script::Bodies;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCall {
    /// The order in which calls were read, from 1.
    pub ordinal: u64,
    /// The route that the path leads to; absent where it leads to none.
    pub route: Option<Route>,
    /// `X-Client-Request-Id`, or the body's digest where the client sent none.
    pub key: String,
    /// The attempt at this key, from 1.
    pub attempt: u32,
    /// What was asked for.
    pub purpose: Purpose,
    /// The form of the input; absent for refused requests.
    pub form: Option<Form>,
    /// The model asked for; absent for refused requests.
    pub model: Option<String>,
    /// The status of the reply; absent where none is given.
    pub status: Option<u16>,
    /// The rule it was refused by.
    pub rule: Option<String>,
    /// The fault that struck.
    pub fault: Option<FaultKind>,
    /// blake3 of the body, in hex.
    pub body_digest: String,
    /// The body's length.
    pub body_bytes: usize,
    /// The body, where the script keeps bodies.
    #[serde(skip)]
    pub body: Option<Vec<u8>>,
    /// The reply has been written in full.
    pub answered: bool,
}

#[derive(Debug)]
pub(crate) struct Log {
    bodies: Bodies,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    calls: Vec<LoggedCall>,
    file: Option<File>,
}

impl Log {
    /// A log that also goes to `path`. Ordinals begin at 1 in every run, so a file holds the calls of one run
    /// only: what an earlier one left there is neither mixed in nor lost.
    pub(crate) fn open(path: Option<&Path>, bodies: Bodies) -> Result<Self, MockError> {
        let open = |path: &Path| {
            let fail = |source| MockError::Log { path: path.to_owned(), source };
            let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
            match file.metadata().map_err(fail)?.len() {
                0 => Ok(file),
                _ => Err(MockError::LogInUse { path: path.to_owned() }),
            }
        };
        let file = path.map(open).transpose()?;
        Ok(Self { bodies, kept: Mutex::new(Kept { calls: Vec::new(), file }) })
    }

    /// Logs a call that has been read; its ordinal comes back.
    pub(crate) fn read(&self, note: Note, body: &[u8]) -> u64 {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let ordinal = kept.calls.len() as u64 + 1;
        let call = LoggedCall {
            ordinal,
            route: note.route,
            key: note.key,
            attempt: note.attempt,
            purpose: note.purpose,
            form: note.form,
            model: note.model,
            status: note.status,
            rule: note.rule.map(str::to_owned),
            fault: note.fault,
            body_digest: note.body_digest,
            body_bytes: body.len(),
            body: (self.bodies == Bodies::Keep).then(|| body.to_vec()),
            answered: false,
        };
        kept.write(&call);
        kept.calls.push(call);
        ordinal
    }

    /// Logs that a call's reply has been written.
    pub(crate) fn answered(&self, ordinal: u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(ordinal).unwrap_or(0);
        let Kept { calls, file } = &mut *kept;
        if let Some(call) = at.checked_sub(1).and_then(|at| calls.get_mut(at)) {
            call.answered = true;
            write_line(file, call);
        }
    }

    pub(crate) fn calls(&self) -> Vec<LoggedCall> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).calls.clone()
    }
}

impl Kept {
    fn write(&mut self, call: &LoggedCall) {
        write_line(&mut self.file, call);
    }
}

/// One line, one write. A log that can no longer be written is given up aloud: the calls go on.
fn write_line(file: &mut Option<File>, call: &LoggedCall) {
    let Some(open) = file else { return };
    let written = serde_json::to_vec(call).map_err(std::io::Error::other).and_then(|mut line| {
        line.push(b'\n');
        open.write_all(&line)
    });
    if let Err(error) = written {
        eprintln!("the log cannot be written: {error}; no more calls are logged");
        *file = None;
    }
}

/// Reads a log file back: one entry a call, in order, as it last was. A torn last line is left out.
///
/// # Errors
/// When the file cannot be read or holds a whole line that is no call.
pub fn read_log(path: &Path) -> Result<Vec<LoggedCall>, MockError> {
    let fail = |source| MockError::Log { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(fail)?;
    let mut calls = BTreeMap::new();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let call: LoggedCall = serde_json::from_str(line).map_err(|error| fail(std::io::Error::other(error)))?;
        calls.insert(call.ordinal, call);
    }
    Ok(calls.into_values().collect())
}
