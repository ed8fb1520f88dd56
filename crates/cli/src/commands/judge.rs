//! `judge`: another judge over a run's stored summaries; below it, what measures judges.

mod audit;
mod calibrate;
mod label;
mod panel;

use std::fs;
use std::path::{Path, PathBuf};

use laundromat_runner::experiment::{self, JudgeFile};
use laundromat_runner::{RunError, rejudge};

use super::run::{again, block_on, ended, options, quoted, today};
use crate::args::{Judge, JudgeCommand};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::progress::Progress;

pub(crate) fn run(args: &Judge) -> Result<ExitCode, CliError> {
    match (&args.command, &args.run, &args.judge) {
        (Some(JudgeCommand::Calibrate(args)), ..) => calibrate::run(args),
        (Some(JudgeCommand::Panel(args)), ..) => panel::run(args),
        (Some(JudgeCommand::Audit(args)), ..) => audit::run(args),
        (Some(JudgeCommand::Label(args)), ..) => label::run(args),
        (None, Some(run), Some(judge)) => again_judged(args, run, judge),
        // Without a subcommand clap asks for both.
        (None, ..) => Err(CliError::Internal("a run to judge was not named".to_owned())),
    }
}

/// Judges what the run in `source` has stored, with the judge called `name`.
fn again_judged(args: &Judge, source: &Path, name: &str) -> Result<ExitCode, CliError> {
    let judge = judge(name)?;
    let folder = args.out.clone().unwrap_or_else(|| beside(source));
    let options = options(today(), &args.spending, &args.tape)?;
    let progress = Progress::new();
    let show = move |event| progress.show(&event);
    let judging = rejudge(source, judge, &folder, options.clone(), show);
    let finished = block_on(&options, judging)?;
    let command =
        format!("laundromat judge {} --judge {} --out {}", quoted(source), quoted(Path::new(name)), quoted(&folder));
    if let Some(tape) = &args.tape.record {
        laundromat_runner::record(&folder, Some(source), tape)?;
    }
    ended(&finished, &again(command, &args.spending, &args.tape), &folder)
}

/// The judge that is named, or described by a file.
fn judge(name: &str) -> Result<JudgeFile, CliError> {
    let path = Path::new(name);
    let text = if path.extension().is_some_and(|extension| extension == "toml") {
        fs::read_to_string(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?
    } else {
        format!("[judge]\nmodel = {name:?}\n")
    };
    let mut file =
        experiment::parse_judge(&text).map_err(|faults| RunError::Faults { path: path.to_owned(), faults })?;
    file.judge.load_rubric(path.parent().unwrap_or(Path::new(".")))?;
    Ok(file)
}

/// `results/quickstart` -> `results/quickstart-judged`.
fn beside(run: &Path) -> PathBuf {
    let mut name = run.file_name().unwrap_or_default().to_owned();
    name.push("-judged");
    run.with_file_name(name)
}
