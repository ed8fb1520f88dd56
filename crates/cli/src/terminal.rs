//! What is printed. Text from files is hostile: control and direction characters are shown, not sent.

use std::borrow::Cow;
use std::io::{self, Write};
use std::process::ExitCode as Process;

use laundromat_report::escape::visible;
use serde::Serialize;

use crate::error::CliError;

/// Prints one line of a result.
pub(crate) fn line(text: &str) {
    // A closed pipe, as behind `head`, ends the output and is no error.
    let _ = writeln!(io::stdout(), "{}", visible(text));
}

/// Prints a value as JSON. What would reorder or hide text on a terminal is escaped as JSON does it.
pub(crate) fn json(value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut shown = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        match visible(line) {
            Cow::Borrowed(line) => shown.push_str(line),
            Cow::Owned(_) => line.chars().for_each(|c| push_escaped(&mut shown, c)),
        }
        shown.push('\n');
    }
    let _ = io::stdout().write_all(shown.as_bytes());
}

fn push_escaped(shown: &mut String, c: char) {
    let mut bytes = [0; 4];
    match visible(c.encode_utf8(&mut bytes)) {
        Cow::Borrowed(_) => shown.push(c),
        Cow::Owned(_) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}

/// Prints one line of progress or advice.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// Prints an error, one line a fault.
pub(crate) fn error(error: &CliError) {
    for line in error.to_string().lines() {
        note(&format!("error: {line}"));
    }
}

/// Prints what clap has to say: help and version to standard output, faults to standard error.
pub(crate) fn usage(error: &clap::Error) -> Process {
    let _ = error.print();
    if error.use_stderr() { crate::exit_code::ExitCode::Usage.into() } else { Process::SUCCESS }
}

/// Columns of the terminal that results go to; `None` where they go elsewhere.
pub(crate) fn columns() -> Option<usize> {
    console::Term::stdout().size_checked().map(|(_, columns)| columns.into())
}
