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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::Parser;

    use super::run;
    use crate::args::{Args, Command};
    use crate::exit_code::ExitCode;

    /// Imports in `folder`, whose name stands for `@`.
    fn import(folder: &Path, arguments: &[&str]) -> ExitCode {
        let folder = folder.display().to_string();
        let arguments = arguments.iter().map(|argument| argument.replace('@', &folder));
        let out = format!("{folder}/out");
        let all = ["laundromat", "import", "--out", &out].map(str::to_owned).into_iter().chain(arguments);
        let Command::Import(import) = Args::try_parse_from(all).expect("arguments").command else { panic!("import") };
        run(&import).unwrap_or_else(|error| error.exit_code())
    }

    /// A folder with two sessions, and a file between them that is none.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("in")).expect("a folder");
        let session = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
        for (name, text) in [("a.jsonl", session), ("b.json", "hello"), ("c.jsonl", session)] {
            fs::write(folder.path().join("in").join(name), text).expect("written");
        }
        folder
    }

    fn written(folder: &Path) -> Vec<String> {
        let listed = fs::read_dir(folder.join("out")).into_iter().flatten();
        let mut names: Vec<String> =
            listed.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_wrong_with_one_file_stops_no_other() {
        let folder = folder();
        assert_eq!(import(folder.path(), &["@/none.json", "@/in"]), ExitCode::Usage);
        assert_eq!(written(folder.path()), ["a.json", "c.json"]);
    }

    #[test]
    fn a_taken_name_stops_no_other() {
        let folder = folder();
        assert_eq!(import(folder.path(), &["@/in/a.jsonl", "--first", "1"]), ExitCode::Pass);
        let before = fs::read(folder.path().join("out/a.json")).expect("reads");
        assert_eq!(import(folder.path(), &["@/in/a.jsonl", "@/in/c.jsonl"]), ExitCode::Usage);
        assert_eq!(written(folder.path()), ["a.json", "c.json"]);
        assert_eq!(fs::read(folder.path().join("out/a.json")).expect("reads"), before);
    }

    #[test]
    fn nothing_to_import_is_told_apart_only_where_nothing_else_is_wrong() {
        let folder = folder();
        fs::create_dir(folder.path().join("empty")).expect("a folder");
        assert_eq!(import(folder.path(), &["@/empty"]), ExitCode::NothingSelected);
        assert_eq!(import(folder.path(), &["@/empty", "@/in/a.jsonl"]), ExitCode::NothingSelected);
        assert_eq!(import(folder.path(), &["@/empty", "@/none"]), ExitCode::Usage);
        assert_eq!(import(folder.path(), &["@/none", "@/empty"]), ExitCode::Usage);
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_refused_by_name_and_passed_over_in_a_folder() {
        let folder = folder();
        fs::remove_file(folder.path().join("in/b.json")).expect("removed");
        let pipe = folder.path().join("in/b.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        assert_eq!(import(folder.path(), &["@/in"]), ExitCode::Pass);
        assert_eq!(written(folder.path()), ["a.json", "c.json"]);
        assert_eq!(import(folder.path(), &["@/in/b.json"]), ExitCode::Usage);
    }

    #[test]
    fn at_least_one_turn_is_kept() {
        for first in ["0", "-1", "x"] {
            let parsed = Args::try_parse_from(["laundromat", "import", "a", "--out", "b", "--first", first]);
            assert!(parsed.is_err(), "{first}");
        }
    }
}
