//! `import`: any transcript to the canonical form, with every loss counted. What is wrong with one
//! file stops no other: all are read, at the same time, and all errors are told at the end.
//!
//! * [`files`]: one file to sessions on disk; [`order`]: names are given in the order of the files.
//! * [`table`]: what came out, as a table or as JSON; [`bar`]: how far it is.

mod bar;
mod files;
mod order;
mod table;

use laundromat_import::{format_of, walk};
use rayon::iter::{ParallelBridge, ParallelIterator};

use super::private;
use crate::args::Import;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{self, note};

use bar::Bar;
use files::{Ended, FileReport};
use order::Order;

pub(crate) fn run(args: &Import) -> Result<ExitCode, CliError> {
    if let Some(format) = &args.format {
        format_of(format)?;
    }
    let privacy = private::privacy(&args.redaction)?;
    let walk = walk(&args.paths);
    let bar = Bar::new(&walk.candidates);
    let order = Order::default();
    // One by one from the front, so that names can be given soon.
    walk.candidates.iter().enumerate().par_bridge().for_each(|(index, candidate)| {
        let mut report = FileReport::new(candidate);
        report.read(args, privacy.as_ref(), |report| {
            bar.session();
            order.front(index, report);
        });
        bar.file(candidate);
        order.finish(index, report);
    });
    bar.end();
    let reports = order.into_reports();

    let mut errors: Vec<CliError> = walk.errors.into_iter().map(CliError::from).collect();
    errors.extend(walk.empty.iter().map(|path| CliError::Nothing { path: path.clone(), what: "import" }));
    let passed_over = reports.iter().filter(|report| report.ended == Ended::PassedOver).count();
    if errors.is_empty() && passed_over == reports.len() {
        errors.extend(args.paths.iter().map(|path| CliError::Nothing { path: path.clone(), what: "import" }));
    }
    match args.json {
        true => table::json(&reports, passed_over),
        false => table::print(&reports),
    }
    match &privacy {
        _ if reports.iter().all(|report| report.rows.is_empty()) => {}
        Some(_) => note(&table::redactions(&reports)),
        None => note("nothing was made private: the sessions hold whatever their files hold"),
    }
    for text in reports.iter().flat_map(|report| &report.notes) {
        note(text);
    }
    for (path, what) in &walk.special {
        note(&format!("{}: passed over: it is {what}, not a file", path.display()));
    }
    for (count, what) in [(passed_over, "files without a session"), (walk.links, "links")] {
        if count > 0 {
            note(&format!("passed over: {count} {what}"));
        }
    }
    errors.extend(reports.into_iter().flat_map(|report| report.errors));
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
    fn a_folder_may_hold_other_things() {
        let folder = folder();
        for (name, text) in [("README.md", "hello"), ("data.csv", "a,b\n1,2\n"), ("no.jsonl", "{\"a\":1}\n")] {
            fs::write(folder.path().join("in").join(name), text).expect("written");
        }
        fs::rename(folder.path().join("in/c.jsonl"), folder.path().join("in/c.traj")).expect("renamed");
        assert_eq!(import(folder.path(), &["@/in"]), ExitCode::Pass);
        assert_eq!(written(folder.path()), ["a.json", "c.json"]);
        assert_eq!(import(folder.path(), &["@/in/README.md"]), ExitCode::Usage, "a named file has to be one");
    }

    #[test]
    fn of_two_sessions_with_one_id_the_first_has_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("in");
        fs::create_dir(&inside).expect("a folder");
        for number in 0..20 {
            // The first is the slowest to read.
            let text = format!("turn {number} ").repeat(if number == 0 { 100_000 } else { 1 });
            let session = format!("{{\"id\":\"same\",\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}");
            fs::write(inside.join(format!("{number:02}.json")), session).expect("written");
        }
        assert_eq!(import(folder.path(), &["@/in"]), ExitCode::Usage);
        assert_eq!(written(folder.path()), ["same.json"]);
        assert!(fs::read_to_string(folder.path().join("out/same.json")).expect("reads").contains("turn 0 "));
    }

    #[test]
    fn strict_writes_only_what_is_whole() {
        let folder = folder();
        fs::write(folder.path().join("in/b.jsonl"), "{\"role\":\"user\",\"content\":\"a\"}\nnot json\n")
            .expect("written");
        assert_eq!(import(folder.path(), &["@/in", "--strict"]), ExitCode::Usage);
        assert_eq!(written(folder.path()), ["a.json", "c.json"]);
        assert_eq!(import(folder.path(), &["@/in"]), ExitCode::Pass);
        assert_eq!(written(folder.path()), ["a.json", "b.json", "c.json"]);
    }

    #[test]
    fn at_least_one_turn_is_kept() {
        for first in ["0", "-1", "x"] {
            let parsed = Args::try_parse_from(["laundromat", "import", "a", "--out", "b", "--first", first]);
            assert!(parsed.is_err(), "{first}");
        }
    }
}
