//! `run`: an experiment, from where its store ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use laundromat_runner::{Finished, Growth, Inputs, Options, RunError};

use crate::args::Run;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::progress::Progress;
use crate::terminal::note;

pub(crate) fn run(args: &Run) -> Result<ExitCode, CliError> {
    let inputs = Arc::new(Inputs::load(&args.experiment)?);
    let experiment = &inputs.experiment;
    let folder = args.out.clone().or_else(|| experiment.output.clone());
    let folder = folder.unwrap_or_else(|| Path::new("results").join(&experiment.name));
    let growth = if args.extend { Growth::Extend } else { Growth::Refuse };
    let options = Options { growth, ..options(args.date.map_or_else(today, |date| date.to_string())) };
    let progress = Progress::new();
    let running = laundromat_runner::run(inputs, &folder, options.clone(), move |event| progress.show(&event));
    let finished = block_on(&options, running)?;
    let mut command = format!("laundromat run {}", quoted(&args.experiment));
    if args.out.is_some() {
        command.push_str(&format!(" --out {}", quoted(&folder)));
    }
    ended(&finished, &command, &folder)
}

/// How to run as of `today`, not yet asked to stop.
pub(crate) fn options(today: String) -> Options {
    Options { today, stop: Arc::new(AtomicBool::new(false)), growth: Growth::Refuse }
}

/// Runs `running` to its end; an interrupt asks it to stop.
pub(crate) fn block_on(
    options: &Options,
    running: impl Future<Output = Result<Finished, RunError>>,
) -> Result<Finished, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    runtime.spawn(stop_on_interrupt(Arc::clone(&options.stop)));
    Ok(runtime.block_on(running)?)
}

/// The first interrupt lets trials in flight finish, the second leaves at once.
async fn stop_on_interrupt(stop: Arc<AtomicBool>) {
    let mut asked = false;
    while tokio::signal::ctrl_c().await.is_ok() {
        if asked {
            // No program may outlive what started it.
            laundromat_runner::exec::process::end_all();
            std::process::exit(ExitCode::Interrupted as i32);
        }
        asked = true;
        stop.store(true, Ordering::Relaxed);
        note("stopping: trials in flight are finished and saved; interrupt again to leave at once");
    }
}

/// Writes the views and says how it ended; `command` goes on with what is left.
pub(crate) fn ended(finished: &Finished, command: &str, folder: &Path) -> Result<ExitCode, CliError> {
    note(&format!("{} calls made", finished.calls));
    super::report::write(folder)?;
    if finished.is_complete() {
        return Ok(ExitCode::Pass);
    }
    if let Some(reason) = &finished.gave_up {
        note(&format!("error: {reason}"));
    }
    note(&format!("{} of {} trials are stored; go on with: {command}", finished.stored, finished.planned));
    Ok(if finished.interrupted { ExitCode::Interrupted } else { ExitCode::Incomplete })
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Today in UTC, so that the same moment is the same date everywhere.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().to_string().chars().take("2026-01-01".len()).collect()
}
