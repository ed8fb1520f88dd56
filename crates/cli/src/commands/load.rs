//! What commands are pointed at: an arm by name or path, a session, a planted one.

use std::path::{Path, PathBuf};

use laundromat_compactor::prompt::Prompt;
use laundromat_compactor::shield::Shield;
use laundromat_compactor::{Arm, Compactor, presets};
use laundromat_import::Input;
use laundromat_injector::{Attack, Specimen, inject};
use laundromat_runner::supplied::{self, PromptFrom};
use laundromat_runner::{RunError, exec};
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Plant, Session};

use crate::args::Planted;
use crate::error::CliError;

/// A session to show an arm with, and what was planted in it.
pub(super) struct Subject {
    pub(super) session: Session,
    pub(super) plant: Option<Plant>,
}

/// An arm by its name, or by a path that ends in `.toml`.
pub(super) fn arm(name: &str) -> Result<Compactor, CliError> {
    arm_with(name, &[])
}

/// The same, with the real text of its prompt where `supplied` has one for it.
pub(super) fn arm_with(name: &str, supplied: &[PromptFrom]) -> Result<Compactor, CliError> {
    let (text, path) = data_file("arm", name, Path::new(""), presets::arm, &presets::arm_names())?;
    if exec::arm::is_exec(&text) {
        let problem = "an exec arm is another program, which builds its own requests".to_owned();
        let remedy = "see what it sends with `laundromat gateway`";
        return Err(faulty(&path, vec![Fault::new(Place::of_path("exec"), problem, remedy)]));
    }
    let mut arm = Arm::parse(&text).map_err(|faults| faulty(&path, faults))?;
    // What an arm file names by a path stands beside it.
    let folder = path.parent().unwrap_or(Path::new(""));
    let (prompt, prompt_path) = data_file("prompt", &arm.prompt, folder, presets::prompt, &presets::prompt_names())?;
    let prompt = match supplied.iter().find(|given| given.arm == name) {
        None => Prompt::parse(&prompt).map_err(|faults| faulty(&prompt_path, faults))?,
        Some(PromptFrom { file, .. }) => {
            let text = Input::file(file).text()?;
            supplied::supply(&mut arm, &text).map_err(|faults| faulty(file, faults))?
        }
    };
    let shield = match &arm.shield {
        None => None,
        Some(name) => {
            let (text, path) = data_file("shield", name, folder, presets::shield, &presets::shield_names())?;
            Some(Shield::parse(&text).map_err(|faults| faulty(&path, faults))?)
        }
    };
    Ok(Compactor::assemble(arm, prompt, shield))
}

/// The first session of a file.
pub(super) fn session(path: &Path, what: &'static str) -> Result<Session, CliError> {
    let first = laundromat_import::read_path(path, None)?.into_iter().next();
    Ok(first.ok_or_else(|| CliError::Nothing { path: path.to_owned(), what })?.session)
}

/// An attack or control by its name, or by a path that ends in `.toml`.
pub(super) fn attack(name: &str) -> Result<Attack, CliError> {
    let (file, attack) = if name.ends_with(".toml") {
        (Path::new(name).to_owned(), Attack::parse(&Input::file(Path::new(name)).text()?))
    } else {
        (format!("{name}.toml").into(), Attack::embedded(name))
    };
    attack.map_err(|faults| faulty(&file, faults))
}

/// The first session of a file with an attack or control in it.
pub(super) fn planted(path: &Path, attack: &Attack, seed: u64) -> Result<Specimen, CliError> {
    let session = session(path, "plant in")?;
    inject(&session, attack, seed).map_err(|cause| CliError::Run(RunError::NoCarrier { path: path.to_owned(), cause }))
}

/// The same with the attack by name.
pub(super) fn specimen(path: &Path, name: &str, seed: u64) -> Result<Specimen, CliError> {
    planted(path, &attack(name)?, seed)
}

/// The session that the arguments name, planted where they say so.
pub(super) fn subject(args: &Planted) -> Result<Subject, CliError> {
    match &args.attack {
        None => Ok(Subject { session: session(&args.session, "show")?, plant: None }),
        Some(attack) => {
            let specimen = specimen(&args.session, attack, args.seed)?;
            Ok(Subject { session: specimen.session, plant: Some(specimen.plant) })
        }
    }
}

fn faulty(path: &Path, faults: Vec<Fault>) -> CliError {
    CliError::Run(RunError::Faults { path: path.to_owned(), faults })
}

/// The text of a data file and where it stands: one of ours, or one by a path that starts at `folder`.
fn data_file(
    kind: &'static str,
    name: &str,
    folder: &Path,
    embedded: fn(&str) -> Option<&'static str>,
    known: &[&str],
) -> Result<(String, PathBuf), CliError> {
    if name.ends_with(".toml") {
        let path = folder.join(name);
        return Ok((Input::file(&path).text()?, path));
    }
    match embedded(name) {
        Some(text) => Ok((text.to_owned(), PathBuf::from(format!("{name}.toml")))),
        None => {
            let problem = format!("unknown {kind} \"{}\"", name.escape_debug());
            Err(faulty(Path::new(name), vec![Fault::new(Place::of_path(kind), problem, choose_remedy(name, known))]))
        }
    }
}
