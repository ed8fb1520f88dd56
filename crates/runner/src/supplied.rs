//! The real text of a harness's prompt, in place of the paraphrase that an arm comes with. Only its digest is kept:
//! the text may be anybody's.
//!
//! It is a prompt file like those of `scenarios/prompts`, or the bare text. Of bare text, what stands before
//! `{turns}` goes before them and what stands behind goes behind; without that mark all of it goes before them.
//! Where an arm has instructions in two messages, bare text cannot say which part is whose, and a prompt file can.

use std::path::{Path, PathBuf};

use laundromat_compactor::Arm;
use laundromat_compactor::arm::PromptBasis;
use laundromat_compactor::axes::Instructions;
use laundromat_compactor::prompt::{self, Prompt};
use laundromat_session::fault::{Fault, Place, choose_remedy};

use crate::error::RunError;
use crate::experiment::ArmEntry;

/// The mark of the turns in a prompt.
const TURNS: &str = "{turns}";

/// A prompt for one arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFrom {
    /// The arm, as the experiment names it.
    pub arm: String,
    /// The file with the text.
    pub file: PathBuf,
}

impl std::fmt::Display for PromptFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.arm, self.file.display())
    }
}

impl std::str::FromStr for PromptFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((arm, file)) if !arm.is_empty() && !file.is_empty() => {
                Ok(Self { arm: arm.to_owned(), file: PathBuf::from(file) })
            }
            _ => Err("write ARM=FILE, such as goose=prompt.txt".to_owned()),
        }
    }
}

/// Notes the prompts that the user gives beside the experiment at `path`; their files are named from where
/// laundromat is started.
pub(crate) fn take_over(arms: &mut [ArmEntry], supplied: &[PromptFrom], path: &Path) -> Result<(), RunError> {
    for given in supplied {
        let known: Vec<String> = arms.iter().map(|arm| arm.name.clone()).collect();
        let Some(entry) = arms.iter_mut().find(|entry| entry.name == given.arm) else {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let problem = format!("a prompt is given for \"{}\", which is none of the arms", given.arm.escape_debug());
            let fault = Fault::new(Place::of_path("arms"), problem, choose_remedy(&given.arm, &known));
            return Err(RunError::Faults { path: path.to_owned(), faults: vec![fault] });
        };
        let file = std::path::absolute(&given.file)
            .map_err(|source| RunError::Unreadable { path: given.file.clone(), source })?;
        entry.prompt_from = Some(file);
    }
    Ok(())
}

/// The prompt of `arm` in the words of `text`; the arm then says whose words they are.
///
/// # Errors
/// Every fault of a prompt file, or that bare text does not do for this arm.
pub fn supply(arm: &mut Arm, text: &str) -> Result<Prompt, Vec<Fault>> {
    let prompt = match text.contains(prompt::SCHEMA) {
        true => Prompt::parse(text)?,
        false => bare(arm, text).map_err(|fault| vec![fault])?,
    };
    arm.prompt_basis = PromptBasis::UserSupplied;
    Ok(prompt)
}

fn bare(arm: &Arm, text: &str) -> Result<Prompt, Fault> {
    let refused = |problem: &str, remedy: String| Err(Fault::new(Place::of_path("prompt"), problem, remedy));
    let text = text.trim_matches('\n');
    if text.trim().is_empty() {
        return refused("the prompt is empty", "give the text of the harness's prompt".to_owned());
    }
    if matches!(arm.instructions, Instructions::SystemUserHead | Instructions::SystemUserTail) {
        let problem = "this arm has instructions in two messages, and bare text does not say which are whose";
        return refused(
            problem,
            format!("write a file with schema = \"{}\": preamble is the system's", prompt::SCHEMA),
        );
    }
    let (before, behind) = match text.matches(TURNS).count() {
        0 => (text, ""),
        1 => text.split_once(TURNS).unwrap_or((text, "")),
        _ => return refused("the prompt holds {turns} more than once", "keep it where the turns go".to_owned()),
    };
    let part = |text: &str| text.trim_matches('\n').to_owned();
    Ok(Prompt {
        name: "user-supplied".to_owned(),
        version: 1,
        preamble: String::new(),
        task: part(before),
        turns: TURNS.to_owned(),
        structure: part(behind),
        update: None,
        previous: None,
    })
}

#[cfg(test)]
mod tests {
    use laundromat_compactor::arm::PromptBasis;
    use laundromat_compactor::{Arm, presets};

    use super::supply;

    fn arm(name: &str) -> Arm {
        Arm::parse(presets::arm(name).expect("an arm")).expect("no faults")
    }

    #[test]
    fn bare_text_goes_around_the_turns_and_the_arm_says_whose_it_is() {
        let mut hermes = arm("hermes-main");
        let prompt = supply(&mut hermes, "Sum up:\n{turns}\nNow write it.\n").expect("a prompt");
        assert_eq!((&*prompt.task, &*prompt.turns, &*prompt.structure), ("Sum up:", "{turns}", "Now write it."));
        assert_eq!(hermes.prompt_basis, PromptBasis::UserSupplied);
        let all = supply(&mut arm("goose"), "Sum up, {braces} and all.").expect("a prompt");
        assert_eq!((&*all.task, &*all.structure), ("Sum up, {braces} and all.", ""));
    }

    #[test]
    fn a_prompt_file_is_read_as_one() {
        let file = presets::prompt("crewai").expect("a prompt");
        let prompt = supply(&mut arm("crewai"), file).expect("a prompt");
        assert!(!prompt.preamble.is_empty());
        assert!(supply(&mut arm("crewai"), "schema = \"laundromat-prompt/1\"\n").is_err());
    }

    #[test]
    fn text_that_does_not_do_is_refused_with_what_does() {
        for (name, text, expected) in [
            ("hermes-main", " \n", "is empty"),
            ("hermes-main", "{turns} {turns}", "more than once"),
            ("crewai", "Sum up.", "preamble is the system's"),
        ] {
            let mut arm = arm(name);
            let faults = supply(&mut arm, text).expect_err("refused");
            assert!(faults[0].to_string().contains(expected), "{}", faults[0]);
            assert_eq!(arm.prompt_basis, PromptBasis::Paraphrase);
        }
    }
}
