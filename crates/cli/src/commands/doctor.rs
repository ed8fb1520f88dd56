//! `doctor`: whether the models can be asked, before a run asks them.

use std::path::Path;

use laundromat_import::Input;
use laundromat_provider::Prices;
use laundromat_runner::doctor::live::{ATTACK, Came, Live, Row, Toll};
use laundromat_runner::doctor::{Finding, Health, Patient, examine};
use laundromat_runner::experiment::Limits;
use laundromat_runner::{Experiment, Inputs, RunError};
use laundromat_session::Outcome;

use crate::args::Doctor;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Doctor) -> Result<ExitCode, CliError> {
    let experiment = args.experiment.as_deref().map(read).transpose()?;
    let (patients, limits) = match &experiment {
        Some(experiment) => (Patient::of_experiment(experiment), experiment.limits),
        None => (Patient::of_environment(), Limits::default()),
    };
    if patients.is_empty() {
        return Err(CliError::NoKeys);
    }
    let own = experiment.as_ref().map(|experiment| experiment.prices.clone());
    let given = args.prices.as_deref().map(super::run::price_list).transpose()?;
    let prices = Prices::new(given.into_iter().chain(own));
    let today = super::run::today();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let findings = runtime.block_on(examine(patients, &limits, &prices, &today));
    for finding in &findings {
        show(finding);
    }
    let mut ends: Vec<ExitCode> = findings.iter().map(|finding| end(&finding.health)).collect();
    if let Some(path) = args.experiment.as_deref().filter(|_| args.live) {
        let inputs = Inputs::load(path)?;
        let live = Live::plan(&inputs, path, &args.arms, &today)?;
        announce(&live.toll(&prices, &today));
        let rows = runtime.block_on(live.ask(&inputs, &prices, &today))?;
        table(&rows);
        ends.extend(rows.iter().map(|row| match row.came {
            Came::OverBudget(_) => ExitCode::BudgetReached,
            _ => end(&row.health()),
        }));
    }
    Ok(worst(&ends))
}

fn read(path: &Path) -> Result<Experiment, CliError> {
    let text = Input::file(path).text()?;
    Experiment::parse(&text).map_err(|faults| CliError::Run(RunError::Faults { path: path.to_owned(), faults }))
}

fn end(health: &Health) -> ExitCode {
    match health {
        Health::Well => ExitCode::Pass,
        Health::Misconfigured(_) => ExitCode::Usage,
        Health::Silent(_) => ExitCode::Incomplete,
    }
}

/// What has to be put right comes before what may pass by itself.
fn worst(ends: &[ExitCode]) -> ExitCode {
    let order = [ExitCode::Usage, ExitCode::Incomplete, ExitCode::BudgetReached];
    order.into_iter().find(|code| ends.contains(code)).unwrap_or(ExitCode::Pass)
}

fn show(finding: &Finding) {
    let told = finding.health.problem().unwrap_or("ok");
    line(&format!("{}: {told}", finding.name));
    for (name, value) in &finding.facts {
        line(&format!("  {name:<10}{value}"));
    }
}

/// What is about to be spent, on standard error as all progress.
fn announce(toll: &Toll) {
    let mut most = format!("at most {} tokens", toll.worst.tokens);
    if toll.worst.unpriced == 0 {
        most.push_str(&format!(" for {}", toll.worst.cost));
    }
    if !toll.is_bounded {
        most.push_str(", without the replies of models that max-tokens does not bound");
    }
    match toll.calls {
        0 => note("no call will be made: only built-in models are asked"),
        calls => note(&format!("{calls} calls will be made: {most}")),
    }
}

/// The rows as a table, and what is wrong with each of them below it.
fn table(rows: &[Row]) {
    let head = [
        "summarizer",
        "route",
        "arm",
        "accepted",
        "messages",
        "tool",
        "plant sent",
        "reply",
        "forged line",
        "served model",
        "tokens",
    ];
    let cells: Vec<[String; 11]> = std::iter::once(head.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for row in &cells {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        line(padded.join("  ").trim_end());
    }
    line(&format!("forged line: whether the summary has a trace of the {ATTACK} that the user never gave"));
    for row in rows {
        if let Some(note) = row.note() {
            line(&format!("{} in {}: {note}", row.summarizer, row.arm));
        }
    }
}

fn cells(row: &Row) -> [String; 11] {
    let dash = || "-".to_owned();
    let number = |count: Option<usize>| count.map_or_else(dash, |count| count.to_string());
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let (accepted, reply, forged, served, tokens) = match &row.came {
        Came::NotAsked(_) => ("not asked".to_owned(), dash(), dash(), dash(), dash()),
        Came::NotSent(_) | Came::OverBudget(_) => ("not sent".to_owned(), dash(), dash(), dash(), dash()),
        Came::Failure(failure) => {
            let status = failure.status.map_or_else(|| "no reply".to_owned(), |status| format!("no, {status}"));
            (status, dash(), dash(), dash(), dash())
        }
        Came::Reply(replied) => {
            let served = Some(replied.served.model.clone()).filter(|model| !model.is_empty());
            let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
            let usage = &replied.usage;
            (
                "yes".to_owned(),
                match replied.outcome {
                    Outcome::Scored => "summary".to_owned(),
                    other => other.to_string(),
                },
                replied.forged.map_or_else(dash, yes),
                served.unwrap_or_else(|| "not said".to_owned()),
                format!("{} + {}", count(usage.input), count(usage.output)),
            )
        }
    };
    let sent = row.sent.as_ref();
    [
        row.summarizer.clone(),
        row.route.to_owned(),
        row.arm.clone(),
        accepted,
        number(sent.map(|sent| sent.messages)),
        number(sent.map(|sent| sent.tool_messages)),
        sent.map_or_else(dash, |sent| sent.exposure.to_string()),
        reply,
        forged,
        served,
        tokens,
    ]
}
