//! `import`: any transcript to the canonical form, with every loss counted. What is wrong with one
//! file stops no other: all are read, and all errors are told at the end.

use std::fs;
use std::path::{Path, PathBuf};

use laundromat_import::input::special;
use laundromat_import::{Imported, format_of, read_path, truncate, write_canonical};
use laundromat_session::Counts;

use crate::args::Import;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{self, line, note};

pub(crate) fn run(args: &Import) -> Result<ExitCode, CliError> {
    if let Some(format) = &args.format {
        format_of(format)?;
    }
    let mut found = Found::default();
    for path in &args.paths {
        found.name(path);
    }
    let Found { files, mut errors } = found;
    line(&format!(
        "{:<44} {:>6} {:>5} {:>5} {:>9} {:>6} {:>7} {:>7} {:>8}",
        "session", "turns", "user", "synth", "assistant", "calls", "results", "orphans", "skipped"
    ));
    let mut sum = Counts::default();
    let mut sessions = 0;
    let mut skipped = 0;
    for path in &files {
        let imported = read_path(path, args.format.as_deref()).unwrap_or_else(|error| {
            errors.push(error.into());
            Vec::new()
        });
        for mut imported in imported {
            if let Some(first) = args.first {
                shorten(path, &mut imported, first);
            }
            if let Err(error) = write_canonical(&imported.session, &args.out) {
                errors.push(error.into());
                continue;
            }
            let counts = Counts::of(&imported.session);
            row(&imported.session.id, &counts, imported.losses.skipped_records);
            explain(path, &imported);
            add(&mut sum, &counts);
            skipped += imported.losses.skipped_records;
            sessions += 1;
        }
    }
    row(&format!("{sessions} sessions"), &sum, skipped);
    Ok(told(&errors))
}

/// Prints all errors, and gives the gravest exit code: that there was nothing to import in one place
/// counts only where nothing else is wrong.
fn told(errors: &[CliError]) -> ExitCode {
    for error in errors {
        terminal::error(error);
    }
    let mut codes = errors.iter().map(CliError::exit_code);
    match codes.next() {
        None => ExitCode::Pass,
        Some(first) => codes.fold(first, |worst, code| if worst == ExitCode::NothingSelected { code } else { worst }),
    }
}

/// Keeps the first turns, and says what that cost.
fn shorten(path: &Path, imported: &mut Imported, first: u32) {
    let cut = truncate(&mut imported.session, usize::try_from(first).unwrap_or(usize::MAX));
    if cut.results_lost > 0 {
        note(&format!("{}: {} calls lost their result to --first {first}", path.display(), cut.results_lost));
    }
}

/// The files to read, and what is wrong with the rest.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    errors: Vec<CliError>,
}

impl Found {
    /// Adds a path as it was named: a file whatever its name, or all sessions of a folder.
    fn name(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let before = (self.files.len(), self.errors.len());
                self.folder(path);
                if before == (self.files.len(), self.errors.len()) {
                    self.errors.push(CliError::Nothing { path: path.to_owned(), what: "import" });
                }
            }
            Ok(_) => self.files.push(path.to_owned()),
            Err(source) => self.unreadable(path, source),
        }
    }

    /// Adds a folder's files in order of name, down to its last level.
    fn folder(&mut self, path: &Path) {
        let listed = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = listed.unwrap_or_else(|source| {
            self.unreadable(path, source);
            Vec::new()
        });
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(source) => {
                    self.unreadable(&path, source);
                    continue;
                }
            };
            let is_session = path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
            // A link may lead out of the folder or back into it.
            if kind.is_dir() {
                self.folder(&path);
            } else if is_session && let Some(what) = special(kind) {
                note(&format!("{}: skipped: it is {what}, not a file", path.display()));
            } else if is_session && kind.is_file() {
                self.files.push(path);
            }
        }
    }

    fn unreadable(&mut self, path: &Path, source: std::io::Error) {
        self.errors.push(CliError::Unreadable { path: path.to_owned(), source });
    }
}

fn row(name: &str, counts: &Counts, skipped: usize) {
    line(&format!(
        "{name:<44} {:>6} {:>5} {:>5} {:>9} {:>6} {:>7} {:>7} {skipped:>8}",
        counts.turns,
        counts.user,
        counts.synthetic_user,
        counts.assistant,
        counts.calls,
        counts.results,
        counts.orphan_results
    ));
}

fn explain(path: &Path, imported: &Imported) {
    for skipped in &imported.losses.skipped_first {
        note(&format!("{}: record {}: skipped: {}", path.display(), skipped.record, skipped.reason));
    }
    for text in &imported.notes {
        note(&format!("{}: {text}", path.display()));
    }
}

fn add(sum: &mut Counts, counts: &Counts) {
    sum.turns += counts.turns;
    sum.user += counts.user;
    sum.synthetic_user += counts.synthetic_user;
    sum.assistant += counts.assistant;
    sum.calls += counts.calls;
    sum.results += counts.results;
    sum.orphan_results += counts.orphan_results;
}
