//! The contrasts that an experiment is for, named before anything is paid: `primary = ["ARM vs ARM"]`.

use laundromat_session::fault::Fault;
use laundromat_session::fields::{Document, Fields};
use laundromat_store::PrimaryContrast;

/// What stands between the two arms.
const VERSUS: &str = " vs ";

/// Reads the key; none where it is left out. Whether the arms exist is known once they are read.
pub(super) fn primary<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Vec<PrimaryContrast> {
    let Some((texts, span)) = root.optional_at::<Vec<String>>(document, "primary") else { return Vec::new() };
    let mut contrasts: Vec<PrimaryContrast> = Vec::new();
    for text in texts {
        let fault = match contrast(&text) {
            None => Some((format!("\"{}\" names no two arms", text.escape_debug()), "write \"ARM vs ARM\"")),
            Some(it) if contrasts.iter().any(|other| is_same(other, &it)) => {
                Some((format!("\"{}\" stands twice", text.escape_debug()), "keep it once"))
            }
            Some(it) => {
                contrasts.push(it);
                None
            }
        };
        if let Some((problem, remedy)) = fault {
            document.fault(&span, "primary", problem, remedy);
        }
    }
    contrasts
}

fn contrast(text: &str) -> Option<PrimaryContrast> {
    let (first, second) = text.split_once(VERSUS)?;
    let (first, second) = (first.trim().to_owned(), second.trim().to_owned());
    (!first.is_empty() && !second.is_empty() && first != second).then_some(PrimaryContrast { first, second })
}

/// Whichever arm stands first, the comparison is the same.
fn is_same(one: &PrimaryContrast, other: &PrimaryContrast) -> bool {
    (&one.first, &one.second) == (&other.first, &other.second)
        || (&one.first, &one.second) == (&other.second, &other.first)
}

/// The contrasts in one line, as the plan's digest holds them; empty for none.
pub(crate) fn listed(contrasts: &[PrimaryContrast]) -> String {
    contrasts.iter().map(|it| format!("{}{VERSUS}{}", it.first, it.second)).collect::<Vec<_>>().join(", ")
}

/// The first arm that a contrast names and the experiment does not have, with the contrast's text and what to do.
pub(crate) fn unknown_arm(contrasts: &[PrimaryContrast], arms: &[&str]) -> Option<(String, Fault)> {
    let named = contrasts.iter().flat_map(|it| [(it, &it.first), (it, &it.second)]);
    let (contrast, arm) = named.into_iter().find(|(_, name)| !arms.contains(&name.as_str()))?;
    let problem = format!("\"{}\" is no arm of this experiment", arm.escape_debug());
    let remedy = format!("{}; contrasts name arms as tables do", laundromat_session::fault::choose_remedy(arm, arms));
    let place = laundromat_session::fault::Place::of_path("primary");
    Some((format!("{}{VERSUS}{}", contrast.first, contrast.second), Fault::new(place, problem, remedy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<PrimaryContrast>, String> {
        let (mut document, mut root) = Document::parse(line).map_err(|fault| fault.to_string())?;
        let contrasts = primary(&mut document, &mut root);
        root.finish(&mut document);
        document.finish(Some(contrasts)).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn two_arms_make_a_contrast() {
        let one = PrimaryContrast { first: "a-1".to_owned(), second: "b".to_owned() };
        assert_eq!(read("primary = [\"a-1 vs b\"]"), Ok(vec![one.clone()]));
        assert_eq!(read(""), Ok(Vec::new()));
        assert_eq!(listed(&[one.clone(), one.clone()]), "a-1 vs b, a-1 vs b");
        assert_eq!(unknown_arm(std::slice::from_ref(&one), &["a-1", "b"]), None);
        let (text, fault) = unknown_arm(&[one], &["a-1", "c"]).expect("b is unknown");
        assert!(text == "a-1 vs b" && fault.to_string().contains("\"b\" is no arm of this experiment"));
    }

    #[test]
    fn what_is_no_contrast_is_named() {
        for (line, named) in [
            ("primary = [\"a\"]", "\"a\" names no two arms; write \"ARM vs ARM\""),
            ("primary = [\"a vs a\"]", "names no two arms"),
            ("primary = [\"a vs b\", \"b vs a\"]", "\"b vs a\" stands twice"),
        ] {
            let fault = read(line).expect_err("a fault");
            assert!(fault.contains(named), "{fault}");
        }
    }
}
