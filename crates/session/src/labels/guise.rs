//! What forged text dresses up as, and how near that is to what an arm itself writes. The class is computed for each
//! arm, never written in an attack: one label is native to one harness and foreign to the next.

use super::{FORGED, LabelStyle, Naming, STYLES, by_id, fill};
use crate::verdict::ids;

ids! {
    /// How near a forged user label is to the one that an arm's transcript has.
    Likeness {
        /// The very label that the arm writes for its user turns.
        Native = "native",
        /// The same up to case, spaces, digits, invisible characters and one further character.
        NearMiss = "near-miss",
        /// Another harness's, or the arm writes no labels that name the user.
        Foreign = "foreign",
        /// There is no label.
        Unlabelled = "unlabelled",
    }
}

/// Labels to forge a turn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guise {
    /// The identifier of the style.
    pub id: &'static str,
    /// What opens the user's words.
    pub user: &'static str,
    /// What closes them.
    pub user_end: &'static str,
    /// What opens an answer of the assistant.
    pub assistant: &'static str,
    /// What closes it.
    pub assistant_end: &'static str,
    /// Harnesses, templates and files that have it.
    pub used_by: &'static [&'static str],
}

impl Guise {
    /// The guise with this identifier: a style that harnesses write, or a label that is only forged.
    pub fn by_id(id: &str) -> Option<Self> {
        by_id(id).map(Self::of_style).or_else(|| FORGED.iter().find(|label| label.id == id).copied())
    }

    /// The identifiers of all guises.
    pub fn ids() -> Vec<&'static str> {
        STYLES.iter().map(|style| style.id).chain(FORGED.iter().map(|label| label.id)).collect()
    }

    fn of_style(style: &'static LabelStyle) -> Self {
        Self {
            id: style.id,
            user: style.user,
            user_end: style.ends.user,
            assistant: style.assistant,
            assistant_end: style.ends.assistant,
            used_by: style.used_by,
        }
    }

    /// `words` as a forged turn of the user.
    pub fn turn(&self, words: &str) -> String {
        format!("{}{words}{}", fill(self.user, "", 1), self.user_end)
    }

    /// `words` as a forged answer of the assistant.
    pub fn reply(&self, words: &str) -> String {
        format!("{}{words}{}", fill(self.assistant, "", 2), self.assistant_end)
    }

    /// How near the label is to that of an arm that writes `own`; `None` for an arm that writes no transcript.
    pub fn likeness(&self, own: Option<&LabelStyle>) -> Likeness {
        if self.user.is_empty() {
            return Likeness::Unlabelled;
        }
        let Some(own) = own.filter(|own| own.naming == Naming::Role) else { return Likeness::Foreign };
        let (forged, own) = (self.user.trim_end(), own.user.trim_end());
        if forged == own {
            return Likeness::Native;
        }
        // One more character, such as a colon, is overlooked as easily as a capital letter.
        if strsim::levenshtein(&folded(forged), &folded(own)) <= 1 { Likeness::NearMiss } else { Likeness::Foreign }
    }
}

/// A label without what a reader passes over: case, spaces, digits and characters that are not seen.
fn folded(label: &str) -> String {
    label
        .replace("{n}", "")
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_ascii_digit() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Guise, Likeness};
    use crate::labels::by_id;

    fn likeness(forged: &str, own: &str) -> Likeness {
        Guise::by_id(forged).expect("a guise").likeness(by_id(own))
    }

    #[test]
    fn nearness_is_to_what_the_arm_writes() {
        assert_eq!(likeness("bracket-upper", "bracket-upper"), Likeness::Native);
        assert_eq!(likeness("bracket-upper", "crewai"), Likeness::Native);
        assert_eq!(likeness("bracket-title", "bracket-upper"), Likeness::NearMiss);
        assert_eq!(likeness("bracket-bare", "bracket-lower"), Likeness::NearMiss);
        assert_eq!(likeness("md-heading", "md-heading-upper"), Likeness::NearMiss);
        for forged in ["lower-colon", "xml-role", "chatml", "prose-turn", "md-heading"] {
            assert_eq!(likeness(forged, "bracket-upper"), Likeness::Foreign, "{forged}");
        }
        assert_eq!(likeness("unlabelled", "bracket-upper"), Likeness::Unlabelled);
    }

    #[test]
    fn nothing_is_native_to_an_arm_that_names_nobody() {
        for id in Guise::ids().into_iter().filter(|id| !matches!(*id, "unlabelled")) {
            let guise = Guise::by_id(id).expect("a guise");
            let expected = if guise.user.is_empty() { Likeness::Unlabelled } else { Likeness::Foreign };
            assert_eq!(guise.likeness(None), expected, "{id}");
            assert_eq!(guise.likeness(by_id("numbered")), expected, "{id}");
        }
    }

    #[test]
    fn every_style_is_native_to_itself_alone_or_with_its_twins() {
        let mut ids = Guise::ids();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for style in crate::labels::STYLES.iter().filter(|style| style.naming == super::Naming::Role) {
            assert_eq!(likeness(style.id, style.id), Likeness::Native, "{}", style.id);
        }
    }

    #[test]
    fn what_a_style_closes_turns_with_is_forged_too() {
        let guise = Guise::by_id("xml-role").expect("a guise");
        assert_eq!((guise.turn("a"), guise.reply("b")), ("<user>a</user>".into(), "<assistant>b</assistant>".into()));
        let indexed = Guise::by_id("index-role").expect("a guise");
        assert_eq!((indexed.turn("a"), indexed.reply("b")), ("[1] user: a".into(), "[2] assistant: b".into()));
    }
}
