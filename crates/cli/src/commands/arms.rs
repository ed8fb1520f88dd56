//! `arms`: the list of arms, what one sends, and where two differ.

mod list;
mod printed;

use laundromat_compactor::{Compactor, Request};
use laundromat_runner::supplied::PromptFrom;
use laundromat_session::{Exposure, Plant};
use similar::{ChangeTag, TextDiff};

use crate::args::{Arms, ArmsCommand, ArmsDiff, ArmsShow};
use crate::commands::load;
use crate::commands::sent::{NO_REPLY, Sent, sent};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

/// Unchanged lines around a difference.
const AROUND: usize = 3;

pub(crate) fn run(args: &Arms) -> Result<ExitCode, CliError> {
    match &args.command {
        None => list::print(),
        Some(ArmsCommand::Show(args)) => show(args),
        Some(ArmsCommand::Diff(args)) => diff(args),
    }
}

fn show(args: &ArmsShow) -> Result<ExitCode, CliError> {
    named(&args.prompt_from, &[&args.arm])?;
    let compactor = load::arm_with(&args.arm, &args.prompt_from)?;
    let subject = load::subject(&args.from)?;
    let sent = sent(&compactor, &subject, &args.from.date.to_string())?;
    heading(&compactor, &sent);
    for text in printed::requests(sent.requests()) {
        line(&text);
    }
    if let Some(plant) = &subject.plant {
        line(&format!("exposure: {} ({})", exposure(&sent, plant).id(), plant.statement));
    }
    Ok(ExitCode::Pass)
}

/// A prompt for an arm that is not shown would be left out without a word.
fn named(supplied: &[PromptFrom], shown: &[&str]) -> Result<(), CliError> {
    match supplied.iter().find(|given| !shown.contains(&given.arm.as_str())) {
        Some(given) => Err(CliError::PromptForNobody { arm: given.arm.clone(), shown: shown.join(" and ") }),
        None => Ok(()),
    }
}

fn heading(compactor: &Compactor, sent: &Sent) {
    let arm = compactor.arm();
    note(&format!("{}: {}", arm.name, arm.title));
    match sent {
        Sent::InPlace(_) => note("no model is asked: these messages stand in place of the turns"),
        Sent::Asked(requests) => {
            let (harness, version) = (&arm.source.harness, &arm.source.version);
            note(&format!("the structure is {harness} {version}'s; prompt = {}", arm.prompt_basis.id()));
            if requests.len() > 1 {
                note(&format!("{} calls; the answers that later ones hold are shown as {NO_REPLY}", requests.len()));
            }
        }
    }
}

/// How much of the plant all calls together carry.
fn exposure(sent: &Sent, plant: &Plant) -> Exposure {
    let mut all = Request::default();
    for request in sent.requests() {
        all.carried.extend(request.carried.iter().cloned());
    }
    all.exposure(plant)
}

fn diff(args: &ArmsDiff) -> Result<ExitCode, CliError> {
    named(&args.prompt_from, &[&args.first, &args.second])?;
    let subject = load::subject(&args.from)?;
    let date = args.from.date.to_string();
    let mut sides = Vec::new();
    for name in [&args.first, &args.second] {
        let compactor = load::arm_with(name, &args.prompt_from)?;
        let sent = sent(&compactor, &subject, &date)?;
        sides.push((compactor.arm().name.clone(), printed::requests(sent.requests())));
    }
    let [(first, before), (second, after)] = &sides[..] else { return Ok(ExitCode::Internal) };
    let (before, after) = (refs(before), refs(after));
    let diff = TextDiff::from_slices(&before, &after);
    if before == after {
        note(&format!("{first} and {second} send the same for this session"));
        return Ok(ExitCode::Pass);
    }
    line(&format!("--- {first}"));
    line(&format!("+++ {second}"));
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        line(&hunk.header().to_string());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            line(&format!("{sign}{}", change.value()));
        }
    }
    Ok(ExitCode::Pass)
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}
