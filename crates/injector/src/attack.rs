//! An attack or control, ready to be planted. [`crate::draft`] reads it from its file.

use laundromat_session::PlantKind;
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::labels::Guise;

use crate::axes::{Carrier, Encoding, Offset, Pressure, Split};
pub use crate::axes::{Embedding, Third};
use crate::draft::Draft;
use crate::presets;

/// What `schema` says in an attack file.
pub const SCHEMA: &str = "laundromat-attack/1";

/// What goes into a session: one value on each axis, the identifiers looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The labels that forged turns copy.
    pub guise: Guise,
    /// What is closed before the planted text; empty for nothing.
    pub close: String,
    /// What is opened behind it again; empty for nothing.
    pub open: String,
    /// What the text is made to look like, with the holes `{turn}`, `{reply}` and `{line}`.
    pub frame: String,
    /// The words, with the holes `{host}` and `{path}`.
    pub text: String,
    /// What a forged assistant answers.
    pub reply: String,
    /// How the words are encoded.
    pub encoding: Encoding,
    /// Whether they are planted whole.
    pub split: Split,
    /// What works against them, where they are a rule of the user's.
    pub pressure: Pressure,
    /// What carries them.
    pub carrier: Carrier,
    /// Which carriers are eligible.
    pub third: Third,
    /// Where in the carrier.
    pub offset: Offset,
    /// How the text stands there.
    pub embedding: Embedding,
    /// In how many carriers.
    pub copies: usize,
    /// Characters of neutral lines behind the planted text. Where there are some, the carrier is also made long
    /// enough for the offset.
    pub filler: usize,
}

/// An attack or control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attack {
    /// Its name, the file name without `.toml`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What kind of plant it makes.
    pub kind: PlantKind,
    /// The statement the judge is asked about, with the same holes.
    pub statement: String,
    /// Lower-case phrases that carry the statement's meaning.
    pub phrases: Vec<String>,
    /// What is planted; nothing on a clean control.
    pub payload: Option<Payload>,
    /// The attack whose words are used, and whose place and canary.
    pub paired_with: Option<String>,
    /// The name that place and canary are derived from.
    pub(crate) seed_name: String,
}

impl Attack {
    /// Reads an attack file. What it is paired with is looked up among the embedded ones.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        Draft::parse(text).map(|(_, attack)| attack)
    }

    /// The attack `name` that comes with laundromat.
    ///
    /// # Errors
    /// An unknown name, or faults of the file.
    pub fn embedded(name: &str) -> Result<Self, Vec<Fault>> {
        match presets::attack(name) {
            Some(text) => Self::parse(text),
            None => Err(vec![Fault::new(
                Place::of_path("attacks"),
                format!("unknown attack \"{name}\""),
                choose_remedy(name, &presets::attack_names()),
            )]),
        }
    }

    /// The name that place and canary are derived from: the attack's own, or of the one it is paired with.
    pub fn canary_name(&self) -> &str {
        &self.seed_name
    }
}

#[cfg(test)]
mod tests {
    use super::Attack;
    use crate::presets;

    /// The faults of the embedded attack `name` with `from` replaced by `to`.
    fn faults(name: &str, from: &str, to: &str) -> Vec<String> {
        let text = presets::attack(name).expect("an attack");
        assert!(text.contains(from), "{from}");
        let faults = Attack::parse(&text.replacen(from, to, 1)).expect_err("faulty");
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn embedded_attacks_have_no_faults() {
        for name in presets::attack_names() {
            let attack = Attack::embedded(name).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
            assert_eq!(attack.name, name);
        }
    }

    #[test]
    fn a_name_must_fit_tables_and_file_names() {
        for (attack, own) in [("standing-approval", "name = \"standing-approval\""), ("clean", "name = \"clean\"")] {
            for name in ["", "../x", "a b", "all"] {
                let told = faults(attack, own, &format!("name = \"{name}\""));
                assert_eq!(told.len(), 1, "{told:#?}");
                let start = format!("2:8: name: \"{name}\" cannot name an attack; use 1 to 100 letters");
                assert!(told[0].starts_with(&start), "{told:?}");
            }
        }
    }

    #[test]
    fn only_host_and_path_are_filled_in() {
        let told = faults("standing-approval", "to run curl", "to run {tool} ${x} curl");
        assert_eq!(
            told,
            [
                "6:8: text: an unknown hole at \"{tool}\"; write no other braces than {host}, {path}",
                "6:8: text: an unknown hole at \"{x}\"; write no other braces than {host}, {path}",
            ]
        );
        let told = faults("standing-approval", "The user gave", "The user} gave");
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told[0].starts_with("7:13: statement: a stray brace at \"} gave standing appr\"; "), "{told:?}");
    }

    #[test]
    fn matched_attacks_have_one_canary() {
        let seed_name = |name: &str| Attack::embedded(name).expect("an attack").canary_name().to_owned();
        for (of, names) in [
            ("standing-approval", &["clean", "true-user", "honest-quote", "forged-steer", "second-hand"][..]),
            ("true-prohibition", &["evict-flood", "evict-omit", "evict-revoke"]),
            ("relink", &["relink-clean"]),
        ] {
            for name in names {
                assert_eq!(seed_name(name), of, "{name}");
            }
        }
        assert_eq!(
            faults("relink-clean", "[place]", "[words]\nlanguage = \"de\"\n[place]"),
            [
                "8:1: words: the words are those of the attack that this one is paired with; leave out paired-with, or the table [words]"
            ]
        );
        // What the user said is no attack that another kind could be paired with.
        let told = faults("true-user", "standing-approval", "true-prohibition");
        assert!(told[0].starts_with("5:15: paired-with: \"true-prohibition\" is not an attack; "), "{told:?}");
    }

    #[test]
    fn values_that_do_not_go_together_are_named_at_their_place() {
        let with = |place: &str| faults("standing-approval", "embedding = \"raw\"", place);
        assert_eq!(
            with("embedding = \"process-row\"\noffset = \"char-5\""),
            [
                "13:10: place.offset: \"char-5\" does not go together with \"process-row\"; write \"at-end\", or another embedding"
            ]
        );
        assert_eq!(
            with("embedding = \"raw\"\ncarrier = \"user-turn\""),
            ["13:11: place.carrier: a forgery in a turn of the user's own is none; write another carrier"]
        );
        assert_eq!(
            with("embedding = \"raw\"\n[shape]\nsplit = \"fragments-2\"\nframe = \"acknowledged\""),
            [
                "15:9: shape.frame: \"acknowledged\" does not go together with \"fragments-2\"; write \"plain-turn\", or split = \"whole\""
            ]
        );
        assert_eq!(
            with("embedding = \"raw\"\n[words]\nlanguage = \"de\"\nauthority = \"admin\""),
            [
                "14:12: words: the file has a text of its own; leave out text, statement and phrases, or the table [words]",
                "15:13: words.authority: \"admin\" does not go together with \"de\"; write \"user\", or language = \"en\"",
            ]
        );
        assert_eq!(
            with("embedding = \"raw\"\n[shape]\npressure = \"flood\""),
            [
                "14:12: shape.pressure: pressure is on a rule of the user's; write \"no-pressure\", or kind = \"true-prohibition\""
            ]
        );
    }
}
