//! `export`: a session in the format of another program, with what that cannot hold counted.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use laundromat_import::{ImportError, Imported, Input, Target, export, read};

use super::private;
use crate::args::Export;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

/// The format of sessions that were made private when they were imported.
const OWN: &str = "laundromat";

pub(crate) fn run(args: &Export) -> Result<ExitCode, CliError> {
    let target = Target::of(&args.to)?;
    let input = Input::file(&args.session);
    let format = match &args.format {
        Some(format) => format.clone(),
        None => laundromat_import::detect(&args.session)?.id().to_owned(),
    };
    let Imported { mut session, losses, notes } = one(args, read(&input, Some(&format))?)?;
    for text in notes {
        note(&format!("{}: {text}", args.session.display()));
    }
    if !losses.is_empty() {
        note(&format!("{}: {losses}", args.session.display()));
    }
    // A session of our own is as private as it was meant to be when it was imported.
    if format != OWN
        && let Some(privacy) = private::privacy(&args.redaction)?
    {
        let (private, redactions) = privacy.redact(session);
        session = private;
        note(&format!("{} private things replaced", redactions.total()));
    }
    let exported = export(&session, target)?;
    write(&args.out, &exported.bytes)?;
    line(&format!("{}: {} as {}", args.out.display(), session.id, target.id()));
    for (kind, count) in &exported.left_out.0 {
        note(&format!("not held by {}: {count} {kind}", target.id()));
    }
    Ok(ExitCode::Pass)
}

/// The session that is meant.
fn one(args: &Export, mut sessions: Vec<Imported>) -> Result<Imported, CliError> {
    if let Some(id) = &args.id {
        sessions.retain(|imported| imported.session.id == *id);
        if sessions.is_empty() {
            return Err(CliError::NoSuchSession { path: args.session.clone(), session: id.clone() });
        }
    }
    let count = sessions.len();
    match sessions.pop() {
        Some(only) if count == 1 => Ok(only),
        _ => Err(CliError::SeveralSessions { path: args.session.clone(), count }),
    }
}

/// Writes a new file.
fn write(path: &Path, bytes: &[u8]) -> Result<(), ImportError> {
    let failed = |source: io::Error| ImportError::Write { path: path.to_owned(), source };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)
}
