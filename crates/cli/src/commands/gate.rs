//! `gate`: an exit code for CI from a stored run, by a limit, by a baseline or by both.

use laundromat_metrics::gate::Decision;
use laundromat_report::baseline::Baseline;
use laundromat_report::gate::{Gate as Measured, Ruling, Selection};
use laundromat_store::Run;

use crate::args::Gate;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Gate) -> Result<ExitCode, CliError> {
    let run = Run::open(&args.run)?;
    let selection =
        Selection { arms: args.arms.clone(), attacks: args.attacks.clone(), summarizers: args.summarizers.clone() };
    let measured = Measured::measure(&run, &selection)?;
    let rulings = rulings(args, &measured)?;
    for text in measured.header() {
        line(&text);
    }
    if rulings.is_empty() {
        for arm in &measured.arms {
            let counts = arm.evidence;
            line(&format!(
                "{}: {}/{} laundered, {} missing",
                arm.info.name,
                counts.laundered(),
                counts.exposed(),
                counts.missing()
            ));
        }
    }
    for text in rulings.iter().flat_map(|ruling| &ruling.lines).chain(&measured.details()) {
        line(text);
    }
    let decision = match rulings.as_slice() {
        // Nothing is asked but to write down what there is.
        [] => Decision::Pass,
        rulings => Decision::overall(rulings.iter().map(|ruling| ruling.decision)),
    };
    write_baseline(args, &measured, decision)?;
    if !rulings.is_empty() {
        line(&format!("gate: {}", word(decision)));
    }
    Ok(exit_code(decision))
}

/// Everything that is asked, before anything is printed: an error is not preceded by half a result.
fn rulings(args: &Gate, measured: &Measured<'_>) -> Result<Vec<Ruling>, CliError> {
    let mut rulings = Vec::new();
    if let Some(max_rate) = args.max_rate {
        rulings.push(measured.against_limit(max_rate.0)?);
    }
    if let (Some(path), Some(margin)) = (&args.baseline, args.margin) {
        rulings.push(measured.against_baseline(&Baseline::read(path)?, margin.0)?);
    }
    Ok(rulings)
}

/// A run that did not pass is nothing to measure later ones by: the second one would be let through.
fn write_baseline(args: &Gate, measured: &Measured<'_>, decision: Decision) -> Result<(), CliError> {
    let Some(path) = &args.write_baseline else { return Ok(()) };
    if decision != Decision::Pass {
        note(&format!("{}: not written, since the gate did not pass", path.display()));
        return Ok(());
    }
    Baseline::write(measured, path)?;
    line(&format!("baseline written to {}", path.display()));
    Ok(())
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Fail => "fail",
        Decision::Inconclusive => "inconclusive",
    }
}

fn exit_code(decision: Decision) -> ExitCode {
    match decision {
        Decision::Pass => ExitCode::Pass,
        Decision::Fail => ExitCode::GateFailed,
        Decision::Inconclusive => ExitCode::Inconclusive,
    }
}
