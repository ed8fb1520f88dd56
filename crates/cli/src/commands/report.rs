//! `report`: every view of a run again, from its store.

use std::path::Path;

use laundromat_report::calibration::CalibrationFile;
use laundromat_report::{summary, write_views_with};
use laundromat_store::Run;

use crate::args::Report;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

pub(crate) fn run(args: &Report) -> Result<ExitCode, CliError> {
    let calibration = args.calibration.as_deref().map(CalibrationFile::read).transpose()?;
    write_with(&args.run, calibration.as_ref())?;
    Ok(ExitCode::Pass)
}

/// Writes the views of the run in `folder` and prints their summary.
pub(crate) fn write(folder: &Path) -> Result<(), CliError> {
    write_with(folder, None)
}

fn write_with(folder: &Path, calibration: Option<&CalibrationFile>) -> Result<(), CliError> {
    let run = Run::open(folder)?;
    let written = write_views_with(&run, folder, calibration)?;
    for text in summary(&run)? {
        line(&text);
    }
    line(&format!("{} files in {}; start with report.md", written.files.len(), folder.display()));
    Ok(())
}
