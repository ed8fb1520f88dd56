//! `attacks`: the list of attacks and axes, and one attack as it stands in a session.

mod list;
mod planted;

use laundromat_compactor::Next;
use laundromat_compactor::compactor::Given;
use laundromat_injector::classes::Classes;
use laundromat_runner::classes::facts;

use crate::args::{Attacks, AttacksCommand, AttacksShow};
use crate::commands::load;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Attacks) -> Result<ExitCode, CliError> {
    match &args.command {
        None => {
            list::print();
            Ok(ExitCode::Pass)
        }
        Some(AttacksCommand::Show(args)) => show(args),
    }
}

fn show(args: &AttacksShow) -> Result<ExitCode, CliError> {
    let attack = load::attack(&args.attack)?;
    let specimen = load::planted(&args.session, &attack, args.seed)?;
    note(&format!("{} ({}): {}", attack.name, attack.kind, attack.title));
    for text in planted::lines(&specimen) {
        line(&text);
    }
    line(&format!("statement: {}", specimen.plant.statement));
    line(&format!("canaries: {}", specimen.plant.canaries.join(", ")));
    if let Some(arm) = &args.arm {
        let compactor = load::arm(arm)?;
        let classes = Classes::of(&specimen, &attack, &facts(compactor.arm()));
        let places: Vec<&str> = classes.places.iter().map(|place| place.id()).collect();
        line(&format!("in {}: label {}, place {}", compactor.arm().name, classes.likeness, listed(&places)));
        let view = compactor.view(compactor.records(&specimen.session));
        let given = Given { date: "2026-01-01", previous: None };
        line(&match compactor.next(&view, given, &[]) {
            Ok(Next::Ask(request) | Next::Replace(request)) => {
                format!("exposure in the first request: {}", request.exposure(&specimen.plant))
            }
            Ok(Next::Summary(_)) => "no request".to_owned(),
            Err(refusal) => format!("refused: {refusal}"),
        });
    }
    Ok(ExitCode::Pass)
}

fn listed(places: &[&str]) -> String {
    if places.is_empty() { "none".to_owned() } else { places.join(", ") }
}
