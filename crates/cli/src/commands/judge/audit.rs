//! `judge audit`: what the gate misses, and how often a judge says the same twice.

use laundromat_judge::panel::Sample;
use laundromat_metrics::interval::wilson;
use laundromat_metrics::{Alpha, Counts};
use laundromat_report::calibration::figures::{agreement, is_laundered};
use laundromat_runner::audit::{Audited, Look, Shares};
use laundromat_session::Reading;

use super::super::run::{options, today};
use crate::args::Audit;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Audit) -> Result<ExitCode, CliError> {
    let file = super::judge(&args.judge)?;
    if file.judge.model().is_none() {
        note(
            "builtin:rules reads nothing that the gate stops and says the same each time: this shows something of a model alone",
        );
    }
    let options = options(today(), &args.spending, &args.tape)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let shares = Shares { audit: args.audit, retest: args.retest };
    let looking = laundromat_runner::audit(&args.run, &file, shares, &options, args.tape.record.as_deref());
    let audited = runtime.block_on(looking)?;
    if let Some(why) = &audited.over_budget {
        note(&format!("the budget is reached: {why}; a part of a sample is no sample"));
        return Ok(ExitCode::BudgetReached);
    }
    gate(&audited)?;
    retest(&audited);
    Ok(ExitCode::Pass)
}

/// What the judge finds in what the gate stopped.
fn gate(audited: &Audited) -> Result<(), CliError> {
    let looks: Vec<&Look> = audited.looks.iter().filter(|look| look.sample == Sample::Audit).collect();
    let read: Vec<Reading> = looks.iter().filter_map(|look| look.reading).collect();
    let stopped = audited.trials.iter().filter(|trial| trial.gate == Some(false)).count();
    let passed = audited.trials.iter().filter(|trial| trial.gate == Some(true)).count();
    line(&format!(
        "the gate stopped {stopped} summaries and let {passed} through; the judge read {} of those stopped",
        read.len()
    ));
    if read.is_empty() {
        return Ok(());
    }
    let missed = read.iter().filter(|reading| is_laundered(**reading)).count();
    let traces = read.iter().filter(|reading| **reading != Reading::Absent).count();
    let counts = Counts::new(missed as u64, read.len() as u64)?;
    let interval = wilson(counts, Alpha::FIVE_PERCENT);
    line(&format!(
        "missed by the gate: {missed}/{} read as laundered = {:.1}% [{:.1}, {:.1}], {traces} with any trace",
        read.len(),
        counts.rate() * 100.0,
        interval.low * 100.0,
        interval.high * 100.0
    ));
    let share = stopped as f64 / (stopped + passed) as f64;
    line(&format!(
        "which adds {:.1} points [{:.1}, {:.1}] to a laundering rate over all judged summaries",
        share * counts.rate() * 100.0,
        share * interval.low * 100.0,
        share * interval.high * 100.0
    ));
    Ok(())
}

/// How often the judge says the same again.
fn retest(audited: &Audited) {
    let looks = audited.looks.iter().filter(|look| look.sample == Sample::Retest);
    let pairs: Vec<(Reading, Option<Reading>)> =
        looks.filter_map(|look| Some((look.trial.reading?, look.reading))).collect();
    let place = |reading: Reading| Reading::ALL.iter().position(|other| *other == reading).unwrap_or_default();
    let mut table = vec![vec![0; Reading::ALL.len()]; Reading::ALL.len()];
    for (before, now) in pairs.iter().filter_map(|(before, now)| Some((*before, (*now)?))) {
        table[place(before)][place(now)] += 1;
    }
    let same = pairs.iter().filter(|(before, now)| Some(*before) == *now).count();
    line(&format!("read a second time: {}, the same reading {same} times", pairs.len()));
    if let Some((two, ac1)) = agreement(&table) {
        line(&format!(
            "test-retest agreement {:.1}%, kappa {:.3}, AC1 {:.3} [{:.3}, {:.3}]",
            two.observed * 100.0,
            two.cohen_kappa,
            ac1.ac1,
            ac1.interval.low,
            ac1.interval.high
        ));
    }
}
