//! The arms that an experiment names, read and checked: built-in ones with their prompt and shield, and programs.

use std::path::Path;
use std::sync::Arc;

use laundromat_compactor::prompt::Prompt;
use laundromat_compactor::shield::{Shield, ShieldChoice};
use laundromat_compactor::{Arm, Compactor, presets as arms};
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_store::{ArmInfo, Asks};

use crate::error::RunError;
use crate::exec::ExecArm;
use crate::exec::alike;
use crate::exec::arm::{KIND, is_exec};
use crate::exec::programs::sources;
use crate::experiment::ArmEntry;
use crate::inputs::{ArmKind, Origin, data_file, digest, read_text};
use crate::supplied;

/// An arm as it was read.
pub(crate) struct Loaded {
    pub(crate) kind: ArmKind,
    pub(crate) info: ArmInfo,
    /// As the experiment names it.
    entry: String,
    /// Names of its shields, chosen or not.
    shields: Vec<String>,
    /// An exec arm whose variable is still a hole.
    template: Option<ExecArm>,
}

/// Exec arms of one harness that differ in more than they declare.
pub(crate) fn unlike(arms: &[Loaded], from: &Origin<'_>) -> Option<RunError> {
    let templates: Vec<&ExecArm> = arms.iter().filter_map(|loaded| loaded.template.as_ref()).collect();
    let (name, problem) = alike::unlike(&templates)?;
    let loaded = arms.iter().find(|loaded| loaded.info.name == name)?;
    let remedy =
        "make them alike, write {variable} where they differ on purpose, or say allow-differences = true in one";
    Some(from.fault("arms", &loaded.entry, problem, remedy.to_owned()))
}

fn exec_arm(entry: &ArmEntry, text: &str, path: &Path) -> Result<Loaded, RunError> {
    let faulty = |faults| RunError::Faults { path: path.to_owned(), faults };
    let template = ExecArm::parse(text, path.parent().unwrap_or(Path::new("."))).map_err(faulty)?;
    let arm = template.filled();
    let sources = sources(&arm).map_err(|problem| {
        faulty(vec![Fault::new(Place::of_path("git.ref"), problem, "name a ref of that repository")])
    })?;
    let info = ArmInfo {
        name: arm.name.clone(),
        title: arm.title.clone(),
        form: KIND.to_owned(),
        prompt: "the harness's own".to_owned(),
        faults: Vec::new(),
        digest: digest(&[text.as_bytes(), b"\0", &sources].concat()),
        gate: entry.gate,
        asks: Asks::Summarizer,
        supplied: None,
    };
    let kind = ArmKind::Exec { arm: Box::new(arm), path: path.to_owned() };
    Ok(Loaded { kind, info, entry: entry.name.clone(), shields: Vec::new(), template: Some(template) })
}

/// Reads an arm of the experiment, with the shields that the run has chosen; all where it has not.
pub(crate) fn arm(entry: &ArmEntry, choice: Option<&[String]>, from: &Origin<'_>) -> Result<Loaded, RunError> {
    let (text, path) = data_file("arms", &entry.name, from, arms::arm, &arms::arm_names())?;
    if is_exec(&text) {
        if let Some(file) = &entry.prompt_from {
            let problem = format!("\"{}\" is another program, which has its own prompt", entry.name);
            let remedy = format!("leave the prompt of {} out", file.display());
            return Err(from.fault("arms", &entry.name, problem, remedy));
        }
        return exec_arm(entry, &text, &path);
    }
    let faulty = |path: &Path, faults| RunError::Faults { path: path.to_owned(), faults };
    let mut arm = Arm::parse(&text).map_err(|faults| faulty(&path, faults))?;
    // What an arm file names by a path stands beside it.
    let beside = Origin { experiment: &path, text: &text, folder: path.parent().unwrap_or(Path::new(".")) };
    let (prompt, prompt_path) = data_file("prompt", &arm.prompt, &beside, arms::prompt, &arms::prompt_names())?;
    let shield = match &arm.shield {
        Some(name) => Some(data_file("shield", name, &beside, arms::shield, &arms::shield_names())?),
        None => None,
    };
    let given = entry.prompt_from.as_ref().map(|file| read_text(&from.folder.join(file)).map(|text| (file, text)));
    let given = given.transpose()?;
    let prompt_text = given.as_ref().map_or(prompt.as_str(), |(_, text)| text.as_str());
    let digested = [text.as_str(), prompt_text].join("\0");
    let prompt = match &given {
        Some((file, text)) => supplied::supply(&mut arm, text).map_err(|faults| faulty(file, faults))?,
        None => Prompt::parse(&prompt).map_err(|faults| faulty(&prompt_path, faults))?,
    };
    let shield = match &shield {
        Some((text, path)) => Some(Shield::parse(text).map_err(|faults| faulty(path, faults))?),
        None => None,
    };
    let shields: Vec<String> = shield.iter().flat_map(Shield::names).map(str::to_owned).collect();
    // What another arm of the run has is none of this one's.
    let choice = choice.map_or(ShieldChoice::All, |chosen| {
        ShieldChoice::Only(shields.iter().filter(|name| chosen.contains(name)).cloned().collect())
    });
    let compactor = Compactor::assemble(arm, prompt, shield)
        .shielded(&choice)
        .map_err(|unknown| from.fault("shields", &unknown.name, unknown.to_string(), unknown.remedy.clone()))?;
    let arm = compactor.arm();
    let info = ArmInfo {
        name: arm.name.clone(),
        title: arm.title.clone(),
        form: arm.form.id().to_owned(),
        prompt: arm.prompt_basis.id().to_owned(),
        faults: arm.faults.iter().map(|fault| fault.id().to_owned()).collect(),
        // A shield that the run has not chosen is none of the arm's.
        digest: digest(
            [digested.as_str(), compactor.shield().map(Shield::source).unwrap_or_default()].join("\0").as_bytes(),
        ),
        gate: entry.gate,
        asks: if arm.form.asks_model() { Asks::Summarizer } else { Asks::Nobody },
        supplied: given.map(|(_, text)| digest(text.as_bytes())),
    };
    Ok(Loaded { kind: ArmKind::Built(Arc::new(compactor)), info, entry: entry.name.clone(), shields, template: None })
}

/// The choice of a shield that no arm of the run has, before anything is compacted.
pub(crate) fn unknown_shields(arms: &[Loaded], choice: Option<&[String]>, from: &Origin<'_>) -> Option<RunError> {
    let mut known: Vec<&str> = arms.iter().flat_map(|loaded| &loaded.shields).map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    let name = choice?.iter().find(|name| !known.contains(&name.as_str()))?;
    let remedy = match known.as_slice() {
        [] => "no arm of this experiment has a shield; leave the key out".to_owned(),
        _ => format!("{}; its arms have {}", choose_remedy(name, &known), known.join(", ")),
    };
    Some(from.fault("shields", name, format!("unknown shield \"{}\"", name.escape_debug()), remedy))
}
