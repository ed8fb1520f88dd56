//! `validate`: every fault of every file, each with its place.

use std::path::Path;

use laundromat_compactor::prompt::{self, Prompt};
use laundromat_compactor::shield::{self, Shield};
use laundromat_compactor::{Arm, Compactor, arm};
use laundromat_import::Input;
use laundromat_injector::{Attack, attack};
use laundromat_runner::{Inputs, RunError, experiment};
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Counts, fields};

use crate::args::Validate;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Validate) -> Result<ExitCode, CliError> {
    let mut faulty = 0;
    for path in &args.files {
        match check(path) {
            Ok(what) => line(&format!("{}: {what}", path.display())),
            Err(error) => {
                faulty += 1;
                for text in error.to_string().lines() {
                    note(&format!("error: {text}"));
                }
            }
        }
    }
    Ok(if faulty == 0 { ExitCode::Pass } else { ExitCode::Usage })
}

/// What a faultless file holds.
fn check(path: &Path) -> Result<String, CliError> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        return data_file(path);
    }
    let sessions = laundromat_import::read_path(path, None)?;
    let described: Vec<String> = sessions
        .iter()
        .map(|imported| {
            let counts = Counts::of(&imported.session);
            let skipped = match imported.losses.skipped_records {
                0 => String::new(),
                n => format!(", {n} records skipped"),
            };
            format!(
                "session {} with {} turns and {} tool results{skipped}",
                imported.session.id, counts.turns, counts.results
            )
        })
        .collect();
    Ok(described.join("; "))
}

fn data_file(path: &Path) -> Result<String, CliError> {
    let text = Input::file(path).text()?;
    let faults = |faults| CliError::Run(RunError::Faults { path: path.to_owned(), faults });
    match schema(&text).map_err(|fault| faults(vec![fault]))?.as_str() {
        experiment::SCHEMA => {
            let inputs = Inputs::load(path)?;
            Ok(format!(
                "experiment {} with {} sessions, {} arms and {} attacks",
                inputs.experiment.name,
                inputs.sessions.len(),
                inputs.arms.len(),
                inputs.attacks.len()
            ))
        }
        arm::SCHEMA => {
            Arm::parse(&text).and_then(Compactor::new).map_err(faults).map(|arm| format!("arm {}", arm.arm().name))
        }
        attack::SCHEMA => Attack::parse(&text).map_err(faults).map(|attack| format!("{} {}", attack.kind, attack.name)),
        prompt::SCHEMA => Prompt::parse(&text).map_err(faults).map(|prompt| format!("prompt {}", prompt.name)),
        shield::SCHEMA => Shield::parse(&text).map_err(faults).map(|_| "shield".to_owned()),
        other => {
            let known = [experiment::SCHEMA, arm::SCHEMA, attack::SCHEMA, prompt::SCHEMA, shield::SCHEMA];
            Err(faults(vec![Fault::new(
                Place::of_path("schema"),
                format!("unknown schema \"{}\"", other.escape_debug()),
                choose_remedy(other, &known),
            )]))
        }
    }
}

/// What kind of data file this says it is.
fn schema(text: &str) -> Result<String, Fault> {
    let (mut document, mut root) = fields::Document::parse(text)?;
    let schema = root.required::<String>(&mut document, "schema");
    document.finish(schema).map_err(|mut faults| faults.remove(0))
}
