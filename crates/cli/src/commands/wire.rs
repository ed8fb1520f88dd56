//! `wire check`: a folder of wire vectors against the routes.

use std::fs;

use laundromat_provider::wire_check::{self, Checked, Coverage};

use crate::args::WireCheck;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

pub(crate) fn run(args: &WireCheck) -> Result<ExitCode, CliError> {
    let unreadable = |source| CliError::Unreadable { path: args.dir.clone(), source };
    fs::read_dir(&args.dir).map_err(unreadable)?;
    let files = wire_check::check(|name| fs::read_to_string(args.dir.join(name))).map_err(unreadable)?;
    for file in &files {
        for failure in &file.failures {
            line(&format!("FAIL {} {}: {}", file.file, failure.vector, failure.what));
        }
    }
    line(&format!("{:<34}{:>8}{:>8}", "file", "vectors", "failed"));
    for file in &files {
        line(&row(file));
    }
    let failed: usize = files.iter().map(|file| file.failures.len()).sum();
    let checked: usize = files.iter().map(|file| file.coverage.vectors()).sum();
    line(&format!("{:<34}{checked:>8}{failed:>8}", "all"));
    match (checked, failed) {
        (_, 1..) => Ok(ExitCode::GateFailed),
        (0, 0) => Err(CliError::NoVectors { path: args.dir.clone() }),
        (1.., 0) => Ok(ExitCode::Pass),
    }
}

fn row(file: &Checked) -> String {
    let vectors = match file.coverage {
        Coverage::Vectors(vectors) => vectors,
        Coverage::Missing => return format!("{:<34} missing", file.file),
    };
    let own = match file.own_options.len() {
        0 => String::new(),
        n => format!("  {n} with options that are not their profile's"),
    };
    format!("{:<34}{vectors:>8}{:>8}{own}", file.file, file.failures.len())
}
