//! `run`: an experiment, from where its store ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use laundromat_runner::{Finished, Inputs, Options};

use crate::args::Run;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::progress::Progress;
use crate::terminal::note;

pub(crate) fn run(args: &Run) -> Result<ExitCode, CliError> {
    let inputs = Arc::new(Inputs::load(&args.experiment)?);
    let folder = args.out.clone().unwrap_or_else(|| Path::new("results").join(&inputs.experiment.name));
    let options = Options {
        today: args.date.map_or_else(today, |date| date.to_string()),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let stop = Arc::clone(&options.stop);
    runtime.spawn(stop_on_interrupt(stop));
    let progress = Progress::new();
    let finished =
        runtime.block_on(laundromat_runner::run(inputs, &folder, options, move |event| progress.show(&event)))?;
    note(&format!("{} calls made", finished.calls));
    super::report::write(&folder)?;
    Ok(ended(finished, args, &folder))
}

/// The first interrupt lets trials in flight finish, the second leaves at once.
async fn stop_on_interrupt(stop: Arc<AtomicBool>) {
    while tokio::signal::ctrl_c().await.is_ok() {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(ExitCode::Interrupted as i32);
        }
        note("stopping: trials in flight are finished and saved; interrupt again to leave at once");
    }
}

fn ended(finished: Finished, args: &Run, folder: &Path) -> ExitCode {
    if finished.is_complete() {
        return ExitCode::Pass;
    }
    let command = match &args.out {
        Some(_) => format!("laundromat run {} --out {}", quoted(&args.experiment), quoted(folder)),
        None => format!("laundromat run {}", quoted(&args.experiment)),
    };
    note(&format!("{} of {} trials are stored; go on with: {command}", finished.stored, finished.planned));
    if finished.interrupted { ExitCode::Interrupted } else { ExitCode::Incomplete }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Today in UTC, so that the same moment is the same date everywhere.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().to_string().chars().take("2026-01-01".len()).collect()
}
