//! `run`: an experiment, from where its store ends.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use laundromat_provider::{Amount, Cap, Cassette, OverBudget, PriceList};
use laundromat_runner::{Finished, Growth, Inputs, Options, RunError};

use crate::args::{Run, Spending, Tape};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::progress::Progress;
use crate::terminal::note;

pub(crate) fn run(args: &Run) -> Result<ExitCode, CliError> {
    let inputs = Arc::new(Inputs::load_with(&args.experiment, &args.prompt_from)?);
    let experiment = &inputs.experiment;
    let folder = args.out.clone().or_else(|| experiment.output.clone());
    let folder = folder.unwrap_or_else(|| Path::new("results").join(&experiment.name));
    let growth = if args.extend { Growth::Extend } else { Growth::Refuse };
    let today = args.date.map_or_else(today, |date| date.to_string());
    let options = Options { growth, ..options(today, &args.spending, &args.tape)? };
    let progress = Progress::new();
    let running = laundromat_runner::run(inputs, &folder, options.clone(), move |event| progress.show(&event));
    let finished = block_on(&options, running)?;
    let mut command = format!("laundromat run {}", quoted(&args.experiment));
    if args.out.is_some() {
        command.push_str(&format!(" --out {}", quoted(&folder)));
    }
    for given in &args.prompt_from {
        command.push_str(&format!(" --prompt-from {}", quoted(Path::new(&given.to_string()))));
    }
    if let Some(tape) = &args.tape.record {
        laundromat_runner::record(&folder, None, tape)?;
    }
    ended(&finished, &again(command, &args.spending, &args.tape), &folder)
}

/// How to run as of `today`, not yet asked to stop.
///
/// # Errors
/// When a price list or a cassette cannot be used.
pub(crate) fn options(today: String, spending: &Spending, tape: &Tape) -> Result<Options, CliError> {
    if let Some(path) = &tape.record {
        laundromat_runner::may_record(path).map_err(RunError::from)?;
    }
    let replay = tape.replay.as_deref().map(Cassette::open).transpose().map_err(RunError::from)?;
    Ok(Options {
        today,
        stop: Arc::new(AtomicBool::new(false)),
        growth: Growth::Refuse,
        cap: Cap { cost: spending.max_cost, tokens: spending.max_tokens, calls: spending.max_calls },
        prices: spending.prices.as_deref().map(price_list).transpose()?,
        replay: replay.map(Arc::new),
    })
}

/// The price list in the file at `path`.
pub(crate) fn price_list(path: &Path) -> Result<PriceList, CliError> {
    let text = fs::read_to_string(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
    Ok(PriceList::parse(&text, path).map_err(RunError::from)?)
}

/// `command` with the flags that a start after this one needs too. Caps are left out: they are for the user to choose.
pub(crate) fn again(mut command: String, spending: &Spending, tape: &Tape) -> String {
    for (flag, path) in [("prices", &spending.prices), ("record", &tape.record), ("replay", &tape.replay)] {
        if let Some(path) = path {
            command.push_str(&format!(" --{flag} {}", quoted(path)));
        }
    }
    command
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
    match finished.retries {
        0 => note(&format!("{} calls made", finished.calls)),
        retries => note(&format!("{} calls made, with {retries} further attempts", finished.calls)),
    }
    if finished.spent.calls > 0 {
        note(&format!("spent over all starts: {}", spent(&finished.spent)));
    }
    super::report::write(folder)?;
    if finished.is_complete() {
        return Ok(ExitCode::Pass);
    }
    if let Some(reason) = &finished.over_budget {
        note(&format!("the budget is reached: {reason}"));
        note(&format!(
            "{} of {} trials are stored; go on with a higher cap: {command} --max-{}",
            finished.stored,
            finished.planned,
            twice(reason)
        ));
        return Ok(ExitCode::BudgetReached);
    }
    if let Some(reason) = &finished.gave_up {
        note(&format!("error: {reason}"));
    }
    note(&format!("{} of {} trials are stored; go on with: {command}", finished.stored, finished.planned));
    Ok(if finished.interrupted { ExitCode::Interrupted } else { ExitCode::Incomplete })
}

/// The flag that doubles the cap that was reached, without its `--max-`.
fn twice(reached: &OverBudget) -> String {
    match reached {
        OverBudget::Cost { cap, next, .. } => {
            format!("cost {:.2}", ((*cap + *cap + *next).dollars() * 100.0).ceil() / 100.0)
        }
        OverBudget::Tokens { cap, next, .. } => format!("tokens {}", cap.saturating_mul(2).saturating_add(*next)),
        OverBudget::Calls { cap, .. } => format!("calls {}", cap.saturating_mul(2).max(1)),
    }
}

/// What was spent, as people read it.
fn spent(amount: &Amount) -> String {
    let counted = format!("{} calls, {} tokens", amount.calls, amount.tokens);
    match amount.unpriced {
        0 => format!("{counted}, {}", amount.cost),
        unpriced if unpriced == amount.calls => format!("{counted}; no price is known"),
        unpriced => format!("{counted}, {} and {unpriced} calls of models without a price", amount.cost),
    }
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '=');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Today in UTC, so that the same moment is the same date everywhere.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().to_string().chars().take("2026-01-01".len()).collect()
}
