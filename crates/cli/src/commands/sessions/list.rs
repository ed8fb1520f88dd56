//! `sessions`: one row a session.

use super::survey::{Survey, Surveyed};
use crate::args::SessionsList;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{json, line};

pub(super) fn run(args: &SessionsList) -> Result<ExitCode, CliError> {
    let survey = Survey::of(&args.paths);
    match args.json {
        true => json(&survey.sessions),
        false => print(&survey.sessions),
    }
    Ok(survey.finish())
}

/// Prints a table.
pub(super) fn print(sessions: &[Surveyed]) {
    let heads = ["turns", "results", "tools", "kB", "names", "again"];
    row("session", "format", heads, "plant", "because");
    for one in sessions {
        let figures = [one.turns, one.results, one.tools, one.bytes.div_ceil(1000), one.identifiers, one.recurring]
            .map(|figure| figure.to_string());
        let figures = figures.each_ref().map(String::as_str);
        let because = format!("{}  [{}]", one.reason, one.file.display());
        row(&one.session, &one.format, figures, one.suitability.as_str(), &because);
    }
}

fn row(session: &str, format: &str, figures: [&str; 6], plant: &str, because: &str) {
    const WIDTHS: [usize; 6] = [6, 7, 5, 7, 6, 6];
    let figures: String = figures.iter().zip(WIDTHS).map(|(figure, width)| format!(" {figure:>width$}")).collect();
    line(&format!("{session:<40} {format:<18}{figures}  {plant:<5}  {because}"));
}
