//! `import`: any transcript to the canonical form, with every loss counted.

use std::fs;
use std::path::{Path, PathBuf};

use laundromat_import::{Imported, read_path, truncate, write_canonical};
use laundromat_session::Counts;

use crate::args::Import;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Import) -> Result<ExitCode, CliError> {
    let mut paths = Vec::new();
    for path in &args.paths {
        collect(path, &mut paths)?;
    }
    line(&format!(
        "{:<44} {:>6} {:>5} {:>5} {:>9} {:>6} {:>7} {:>7} {:>8}",
        "session", "turns", "user", "synth", "assistant", "calls", "results", "orphans", "skipped"
    ));
    let mut sum = Counts::default();
    let mut sessions = 0;
    let mut failed = Vec::new();
    for path in &paths {
        match read_path(path, args.format.as_deref()) {
            Ok(imported) => {
                for mut imported in imported {
                    if let Some(first) = args.first {
                        let cut = truncate(&mut imported.session, first);
                        if cut.results_lost > 0 {
                            note(&format!(
                                "{}: {} calls lost their result to --first {first}",
                                path.display(),
                                cut.results_lost
                            ));
                        }
                    }
                    write_canonical(&imported.session, &args.out)?;
                    let counts = Counts::of(&imported.session);
                    row(&imported.session.id, &counts, imported.losses.skipped_records);
                    explain(path, &imported);
                    add(&mut sum, &counts);
                    sessions += 1;
                }
            }
            Err(error) => failed.push(error),
        }
    }
    row(&format!("{sessions} sessions"), &sum, 0);
    let last = failed.pop();
    for error in failed {
        note(&format!("error: {error}"));
    }
    match last {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::Pass),
    }
}

/// The files to read: a file as it is named, a folder's files in order of name, down to its last level.
fn collect(path: &Path, out: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let unreadable = |source| CliError::Unreadable { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        out.push(path.to_owned());
        return Ok(());
    }
    let before = out.len();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path).map_err(unreadable)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        let is_session = entry.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
        // A link may lead out of the folder or back into it.
        if entry.is_symlink() {
            continue;
        }
        if entry.is_dir() {
            match collect(&entry, out) {
                Ok(()) | Err(CliError::Nothing { .. }) => {}
                Err(error) => return Err(error),
            }
        } else if is_session {
            out.push(entry);
        }
    }
    if out.len() == before { Err(CliError::Nothing { path: path.to_owned(), what: "import" }) } else { Ok(()) }
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
