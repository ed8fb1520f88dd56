//! `validate`: every fault of every file, each with its place.

use std::path::Path;

use laundromat_compactor::prompt::{self, Prompt};
use laundromat_compactor::shield::{self, Shield};
use laundromat_compactor::{Arm, arm, presets};
use laundromat_import::Input;
use laundromat_injector::{Attack, attack, library};
use laundromat_judge::{Rubric, rubric};
use laundromat_runner::exec::ExecArm;
use laundromat_runner::{Inputs, RunError, exec, experiment};
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
            let not_sent: String = inputs.experiment.not_sent().iter().map(|it| format!("; {it}")).collect();
            Ok(format!(
                "experiment {} with {} sessions, {} arms and {} attacks{not_sent}",
                inputs.experiment.name,
                inputs.sessions.len(),
                inputs.arms.len(),
                inputs.attacks.len()
            ))
        }
        arm::SCHEMA if exec::arm::is_exec(&text) => {
            let arm = ExecArm::parse(&text, path.parent().unwrap_or(Path::new("."))).map_err(faults)?;
            Ok(format!("exec arm {}", arm.name))
        }
        arm::SCHEMA => {
            let arm = Arm::parse(&text).map_err(faults)?;
            let named = [
                ("prompt", Some(&arm.prompt), presets::prompt_names()),
                ("shield", arm.shield.as_ref(), presets::shield_names()),
            ];
            let missing = named.into_iter().filter_map(|(key, name, known)| unknown(path, key, name?, &known));
            let missing: Vec<Fault> = missing.collect();
            if missing.is_empty() { Ok(format!("arm {}", arm.name)) } else { Err(faults(missing)) }
        }
        attack::SCHEMA => Attack::parse(&text).map_err(faults).map(|attack| format!("{} {}", attack.kind, attack.name)),
        library::SCHEMA => library::parse(&text)
            .map_err(faults)
            .map(|(axis, values)| format!("axis {axis} with {} values", values.len())),
        prompt::SCHEMA => Prompt::parse(&text).map_err(faults).map(|prompt| format!("prompt {}", prompt.name)),
        rubric::SCHEMA => Rubric::parse(&text).map_err(faults).map(|rubric| format!("rubric {}", rubric.name)),
        shield::SCHEMA => Shield::parse(&text).map_err(faults).map(|_| "shield".to_owned()),
        other => {
            let known = [
                experiment::SCHEMA,
                arm::SCHEMA,
                attack::SCHEMA,
                library::SCHEMA,
                prompt::SCHEMA,
                rubric::SCHEMA,
                shield::SCHEMA,
            ];
            Err(faults(vec![Fault::new(
                Place::of_path("schema"),
                format!("unknown schema \"{}\"", other.escape_debug()),
                choose_remedy(other, &known),
            )]))
        }
    }
}

/// What is wrong with the prompt or shield that an arm names: one of ours by its name, or a file of that
/// kind, by a path that ends in `.toml` and starts at the arm's folder.
fn unknown(arm: &Path, key: &str, name: &str, known: &[&str]) -> Option<Fault> {
    if !name.ends_with(".toml") {
        let problem = format!("unknown {key} \"{}\"", name.escape_debug());
        let fault = || Fault::new(Place::of_path(key), problem, choose_remedy(name, known));
        return (!known.contains(&name)).then(fault);
    }
    let file = arm.parent().unwrap_or(Path::new("")).join(name);
    let is_sound = Input::file(&file).text().is_ok_and(|text| match key {
        "prompt" => Prompt::parse(&text).is_ok(),
        _ => Shield::parse(&text).is_ok(),
    });
    let problem = format!("{} is missing, or is a {key} with faults", file.display());
    let fault =
        || Fault::new(Place::of_path(key), problem, "validate that file too: each of its faults is named there");
    (!is_sound).then(fault)
}

/// What kind of data file this says it is.
fn schema(text: &str) -> Result<String, Fault> {
    let (mut document, mut root) = fields::Document::parse(text)?;
    let schema = root.required::<String>(&mut document, "schema");
    document.finish(schema).map_err(|mut faults| faults.remove(0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::check;

    /// What is said about a file with this name and content, its folder left out.
    fn told(name: &str, bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        let told = check(&path).unwrap_or_else(|error| error.to_string());
        told.replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn every_line_begins_with_its_file() {
        let session = br#"{"schema": "laundromat-session/1", "id": "", "messages": [{"role": 1}], "x": 2}"#;
        let told = told("a.json", session);
        assert_eq!(told.lines().count(), 3, "{told}");
        assert!(told.lines().all(|line| line.starts_with("a.json: ")), "{told}");
    }

    #[test]
    fn files_that_are_not_utf8_are_told_so_with_the_place() {
        for (name, bytes) in
            [("a.toml", &b"x = 1\ny = \"\xE4\"\n"[..]), ("a.json", b"{\"schema\": \"laundromat-session/1\",\n\"\xE4\"")]
        {
            let told = told(name, bytes);
            let line = told.strip_prefix(&format!("{name}:2:")).expect("the line");
            assert!(
                line.contains(": not UTF-8 text: byte ") && line.ends_with(" is 0xE4; save the file as UTF-8"),
                "{told}"
            );
        }
    }

    #[test]
    fn an_arm_may_name_files_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let presets = laundromat_compactor::presets::arm("hermes-main").expect("an arm");
        let arm = folder.path().join("arm.toml");
        let with = |prompt: &str| {
            fs::write(&arm, presets.replace("prompt = \"hermes-main\"", &format!("prompt = \"{prompt}\"")))
                .expect("written");
            check(&arm).unwrap_or_else(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
        };
        assert_eq!(with("hermes-main"), "arm hermes-main");
        assert_eq!(
            with("hermes-mian"),
            "arm.toml: prompt: unknown prompt \"hermes-mian\"; did you mean \"hermes-main\"?"
        );
        assert!(with("own.toml").starts_with("arm.toml: prompt: own.toml is missing, or is a prompt with faults; "));
        // An arm that names itself is no endless task.
        assert!(with("arm.toml").starts_with("arm.toml: prompt: arm.toml is missing, or is a prompt with faults; "));
        let prompt = laundromat_compactor::presets::prompt("hermes-main").expect("a prompt");
        fs::write(folder.path().join("own.toml"), prompt).expect("written");
        assert_eq!(with("own.toml"), "arm hermes-main");
    }
}
