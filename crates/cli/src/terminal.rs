//! What is printed. Text from files is hostile: control and direction characters are shown, not sent.

use std::io::{self, Write};
use std::process::ExitCode as Process;

use laundromat_report::escape::visible;

use crate::error::CliError;

/// Prints one line of a result.
pub(crate) fn line(text: &str) {
    // A closed pipe, as behind `head`, ends the output and is no error.
    let _ = writeln!(io::stdout(), "{}", visible(text));
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
