//! The views of a run: tables for people and for programs, and plots, from the store alone.
//!
//! ```text
//! store -> Run -> data::Tables -> csv_files | markdown | plots -> results/<name>/
//! ```
//!
//! * [`data`]: everything that is shown, computed once; [`tally`]: trials counted, rates with their interval;
//!   [`clusters`]: what the runs of an arm are worth; [`sessions`]: two arms session by session; [`served`]: who answered.
//! * `csv_files`, `markdown`, `plots`: the views; each only writes down what `data` holds.
//! * [`gate`]: what a run shows against a limit or a [`baseline`], the file of an earlier run's counts.
//! * [`escape`]: hostile text made harmless; `text`: numbers as people read them; `font`: the embedded font.
//! * `files`: atomic writing; `error`: what can go wrong.
//!
//! It may use `metrics`, `store` and `session`. All statistics are in `metrics`. The same store gives the same
//! bytes: no view but `calls.csv` holds a clock, a latency or an attempt. Another view is one module and one line in
//! [`write_views`].

pub mod baseline;
pub mod calibration;
pub mod clusters;
mod csv_files;
pub mod data;
mod error;
pub mod escape;
mod files;
mod font;
pub mod gate;
mod markdown;
mod plots;
mod sentence;
pub mod served;
pub mod sessions;
mod summary;
pub mod tally;
mod text;

use std::path::Path;

use laundromat_store::Run;
use rayon::prelude::*;

pub use error::ReportError;
pub use files::Written;

use crate::calibration::CalibrationFile;
use crate::data::Tables;
use crate::font::Fonts;
use crate::plots::PLOTS;
use crate::plots::chart::PlotContext;
use crate::served::Served;

/// Writes every view of `run` into `folder`, replacing those that are there.
///
/// # Errors
/// When the run cannot be read or a view cannot be written. Views that were written before stay.
pub fn write_views(run: &Run, folder: &Path) -> Result<Written, ReportError> {
    write_views_with(run, folder, None)
}

/// [`write_views`], with rates corrected by `calibration` beside the raw ones where one is named.
///
/// # Errors
/// As [`write_views`].
pub fn write_views_with(
    run: &Run,
    folder: &Path,
    calibration: Option<&CalibrationFile>,
) -> Result<Written, ReportError> {
    let trials = run.trials()?;
    let served = Served::of(run)?;
    let tables = Tables::new(run.manifest(), &trials).with_served(served);
    let fonts = Fonts::load();
    let context = PlotContext { tables: &tables, fonts: &fonts };
    let mut written = Written::default();
    written.put(folder, "trials.csv", &csv_files::trials(&tables)?)?;
    written.put(folder, "rates.csv", &csv_files::rates(&tables)?)?;
    written.put(folder, "contrasts.csv", &csv_files::contrasts(&tables)?)?;
    written.put(folder, "recall.csv", &csv_files::recall(&tables)?)?;
    written.put(folder, "calls.csv", &csv_files::calls(run)?)?;
    if let Some(captured) = csv_files::captured(run)? {
        written.put(folder, "captured.csv", &captured)?;
    }
    if let Some(contexts) = csv_files::contexts(run)? {
        written.put(folder, "contexts.csv", &contexts)?;
    }
    // Drawing is most of the work; what is written, and in which order, does not depend on it.
    let drawn: Vec<_> = PLOTS.par_iter().map(|plot| plot.render(&context)).collect();
    for (plot, rendered) in PLOTS.iter().zip(drawn) {
        let rendered = rendered?;
        written.put(folder, &format!("plots/{}.svg", plot.name), rendered.svg.as_bytes())?;
        written.put(folder, &format!("plots/{}.png", plot.name), &rendered.png)?;
    }
    // Last: whoever finds a new report finds the tables and plots it speaks of.
    written.put(folder, "report.md", markdown::document(&tables, calibration).as_bytes())?;
    Ok(written)
}

/// The run in a few lines, for a terminal.
///
/// # Errors
/// When the run cannot be read.
pub fn summary(run: &Run) -> Result<Vec<String>, ReportError> {
    let trials = run.trials()?;
    Ok(summary::lines(&Tables::new(run.manifest(), &trials).with_served(Served::of(run)?)))
}
