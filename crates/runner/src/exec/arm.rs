//! An exec arm as data: a command, where it is run, what it is told, and the one variable it declares.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use laundromat_compactor::arm::SCHEMA;
use laundromat_session::fault::Fault;
use laundromat_session::fields::{Document, Fields};
use serde_json::{Map, Value};

use super::environment;

/// What `kind` says in the file of an exec arm.
pub const KIND: &str = "exec";
/// Stands for the value of the declared variable.
const HOLE: &str = "{variable}";
/// How long a program may take where its arm does not say.
const TIMEOUT: u64 = 600;
/// How long any program may take.
const LONGEST: u64 = 86_400;
/// How many calls a program may make where its arm does not say.
const CALLS: u32 = 50;

/// Where a program is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a folder.
    Folder(PathBuf),
    /// In a checkout of a git repository, made for the run.
    Git {
        /// The repository.
        repository: PathBuf,
        /// The ref, as the arm names it.
        reference: String,
    },
}

/// What differs on purpose between arms of one harness.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// What it is, such as `version`.
    pub name: String,
    /// What stands for `{variable}` in this arm.
    pub value: Value,
}

/// What is done where arms of one harness differ in more than their variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differences {
    /// The experiment is refused.
    Refuse,
    /// The arm was told to allow them.
    Allow,
}

/// An exec arm. `{variable}` is still a hole in its texts; [`ExecArm::filled`] fills it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecArm {
    /// The arm's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The harness; arms of one harness are compared.
    pub harness: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it is run.
    pub place: Place,
    /// Variables of its environment beside those that every program gets.
    pub env: BTreeMap<String, String>,
    /// What it is told beside the messages.
    pub settings: Map<String, Value>,
    /// How long it may take.
    pub timeout: Duration,
    /// How many calls it may make.
    pub most_calls: u32,
    /// What differs on purpose.
    pub variable: Option<Variable>,
    /// What is done about other differences.
    pub differences: Differences,
}

/// Whether `text` is the file of an exec arm.
pub fn is_exec(text: &str) -> bool {
    let Ok((mut document, mut root)) = Document::parse(text) else { return false };
    root.optional::<String>(&mut document, "kind").is_some_and(|kind| kind == KIND)
}

impl ExecArm {
    /// Reads an arm file that stands in `folder`.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        let arm = read(&mut document, &mut root, folder);
        root.finish(&mut document);
        document.finish(arm)
    }

    /// The arm with its variable's value in place of every hole.
    #[must_use]
    pub fn filled(&self) -> Self {
        let Some(variable) = &self.variable else { return self.clone() };
        let word = variable.value.as_str().map_or_else(|| variable.value.to_string(), str::to_owned);
        let fill = |text: &String| text.replace(HOLE, &word);
        let path = |path: &PathBuf| PathBuf::from(path.to_string_lossy().replace(HOLE, &word));
        Self {
            command: self.command.iter().map(fill).collect(),
            place: match &self.place {
                Place::Folder(folder) => Place::Folder(path(folder)),
                Place::Git { repository, reference } => {
                    Place::Git { repository: path(repository), reference: fill(reference) }
                }
            },
            env: self.env.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
            settings: self
                .settings
                .iter()
                .map(|(name, value)| {
                    let filled = match value {
                        // Alone, the hole takes the value as it is, a number too.
                        Value::String(text) if text == HOLE => variable.value.clone(),
                        Value::String(text) => Value::from(text.replace(HOLE, &word)),
                        other => other.clone(),
                    };
                    (name.clone(), filled)
                })
                .collect(),
            ..self.clone()
        }
    }

    /// Whether anything depends on the variable.
    fn has_hole(&self) -> bool {
        let in_place = match &self.place {
            Place::Folder(folder) => folder.to_string_lossy().contains(HOLE),
            Place::Git { repository, reference } => {
                repository.to_string_lossy().contains(HOLE) || reference.contains(HOLE)
            }
        };
        let texts = self.command.iter().chain(self.env.values()).map(String::as_str);
        let settings = self.settings.values().filter_map(Value::as_str);
        in_place || texts.chain(settings).any(|text| text.contains(HOLE))
    }
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, folder: &Path) -> Option<ExecArm> {
    root.schema(document, SCHEMA);
    let _: Option<String> = root.required(document, "kind");
    let name = root.name(document, "an arm");
    let title = root.required(document, "title");
    let harness = root.required(document, "harness");
    let command = root.required_at::<Vec<String>>(document, "command");
    if let Some((command, span)) = &command
        && (command.first().is_none_or(String::is_empty) || command.iter().any(|word| word.contains('\0')))
    {
        document.fault(span, "command", "there is no program to run", "write [\"program\", \"argument\", ...]");
    }
    let place = place(document, root, folder);
    let env = environment(document, root);
    let settings = settings(document, root);
    let timeout = bounded(document, root, "timeout-seconds", LONGEST).unwrap_or(TIMEOUT);
    let most_calls = bounded(document, root, "most-calls", 10_000);
    let allow = root.optional::<bool>(document, "allow-differences").unwrap_or(false);
    let has_variable = root.has("variable");
    let variable_span = root.span();
    let variable = root.table(document, "variable").and_then(|fields| variable(document, fields));
    let arm = ExecArm {
        name: name?,
        title: title?,
        harness: harness?,
        command: command?.0,
        place: place?,
        env: env?,
        settings,
        timeout: Duration::from_secs(timeout),
        most_calls: most_calls.and_then(|calls| u32::try_from(calls).ok()).unwrap_or(CALLS),
        variable,
        differences: if allow { Differences::Allow } else { Differences::Refuse },
    };
    if has_variable != arm.has_hole() {
        let (problem, remedy) = if has_variable {
            ("nothing depends on the declared variable", format!("write {HOLE} where its value belongs"))
        } else {
            ("there is a hole {variable} and no variable", "declare it: [variable] with name and value".to_owned())
        };
        document.fault(&variable_span, "variable", problem, remedy);
    }
    Some(arm)
}

/// A number from 1 to `most`.
fn bounded<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, key: &'static str, most: u64) -> Option<u64> {
    let (value, span) = root.optional_at::<u64>(document, key)?;
    if !(1..=most).contains(&value) {
        document.fault(&span, key, format!("{value} is outside 1 to {most}"), "write a number in that range");
    }
    Some(value)
}

fn place<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, folder: &Path) -> Option<Place> {
    let cwd = root.optional_at::<String>(document, "cwd");
    let Some(mut git) = root.table(document, "git") else {
        return Some(Place::Folder(cwd.map_or_else(|| folder.to_owned(), |(cwd, _)| folder.join(cwd))));
    };
    if let Some((_, span)) = &cwd {
        document.fault(span, "cwd", "a git ref is its own folder", "keep either cwd or [git]");
    }
    let repository = git.required::<String>(document, "repository");
    let reference = git.required::<String>(document, "ref");
    git.finish(document);
    Some(Place::Git { repository: folder.join(repository?), reference: reference? })
}

fn environment<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<BTreeMap<String, String>> {
    if !root.has("env") {
        return Some(BTreeMap::new());
    }
    let (env, span) = root.optional_at::<BTreeMap<String, String>>(document, "env")?;
    for (name, value) in &env {
        if let Some(problem) = environment::problem(name, value) {
            document.fault(&span, &format!("env.{}", name.escape_debug()), problem, "choose another name or value");
        }
    }
    Some(env)
}

fn settings<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Map<String, Value> {
    let Some((settings, span)) = root.optional_at::<Map<String, Value>>(document, "settings") else {
        return Map::new();
    };
    for taken in super::protocol::OUR_SETTINGS {
        if settings.contains_key(*taken) {
            let problem = format!("\"{taken}\" is laundromat's to tell");
            document.fault(&span, &format!("settings.{taken}"), problem, "leave it out");
        }
    }
    settings
}

fn variable<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Variable> {
    let name = fields.required(document, "name");
    let value: Option<(Value, Range<usize>)> = fields.required_at(document, "value");
    if let Some((value, span)) = &value
        && (value.is_array() || value.is_object())
    {
        document.fault(span, "variable.value", "a variable has one value", "write text, a number, or true or false");
    }
    fields.finish(document);
    Some(Variable { name: name?, value: value?.0 })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ExecArm, Place, is_exec};

    const ARM: &str = r#"
schema = "laundromat-arm/1"
kind = "exec"
name = "h-1"
title = "t"
harness = "h"
command = ["bin-{variable}/python", "drive.py"]
cwd = "drivers"
[env]
MODE = "lean-{variable}"
[settings]
keep = "{variable}"
[variable]
name = "version"
value = 3
"#;

    fn faults(from: &str, to: &str) -> Vec<String> {
        assert!(ARM.contains(from), "{from}");
        ExecArm::parse(&ARM.replace(from, to), Path::new("a"))
            .map_or_else(|faults| faults.iter().map(ToString::to_string).collect(), |_| Vec::new())
    }

    #[test]
    fn the_variable_fills_every_hole_and_keeps_its_type_where_it_stands_alone() {
        assert!(is_exec(ARM) && !is_exec("schema = \"laundromat-arm/1\""));
        let arm = ExecArm::parse(ARM, Path::new("a")).expect("an arm").filled();
        assert_eq!(arm.command[0], "bin-3/python");
        assert_eq!(arm.place, Place::Folder("a/drivers".into()));
        assert_eq!(arm.env["MODE"], "lean-3");
        assert_eq!(arm.settings["keep"], 3);
    }

    #[test]
    fn faults_name_key_and_remedy() {
        for (from, to, told) in [
            ("command = [\"bin-{variable}/python\", \"drive.py\"]", "command = []", "command: there is no program"),
            ("[variable]\nname = \"version\"\nvalue = 3", "", "variable: there is a hole {variable}"),
            ("value = 3", "value = [3]", "variable.value: a variable has one value"),
            ("MODE = ", "OPENAI_API_KEY = ", "env.OPENAI_API_KEY: this variable is set for every program"),
            ("MODE = ", "\"A=B\" = ", "env.A=B: this cannot name a variable"),
            ("keep = ", "model = ", "settings.model: \"model\" is laundromat's to tell"),
            ("title = \"t\"", "title = \"t\"\ntimeout-seconds = 0", "timeout-seconds: 0 is outside 1 to 86400"),
            (
                "cwd = \"drivers\"",
                "cwd = \"x\"\ngit = { repository = \"r\", ref = \"v1\" }",
                "cwd: a git ref is its own",
            ),
            ("title = \"t\"", "title = \"t\"\nprompt = \"x\"", "unknown key \"prompt\""),
        ] {
            let faults = faults(from, to);
            assert!(faults.iter().any(|fault| fault.contains(told)), "{told}: {faults:?}");
        }
        assert_eq!(faults("bin-{variable}", "bin"), Vec::<String>::new(), "one hole is enough");
    }
}
