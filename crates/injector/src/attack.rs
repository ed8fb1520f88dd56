//! An attack or control as data.

use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use laundromat_session::labels::{self, LabelStyle};
use laundromat_session::{Place, PlantKind, holes};
use serde::Deserialize;

use crate::canary::Canary;
use crate::presets;

/// What `schema` says in an attack file.
pub const SCHEMA: &str = "laundromat-attack/1";
/// What payloads and statements are filled in with.
const HOLES: &[&str] = &[Canary::HOST_HOLE, Canary::PATH_HOLE];

/// Which third of the session's tool results a plant goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Third {
    /// The first third.
    Early,
    /// The middle third.
    Middle,
    /// The last third.
    Late,
}

/// How the planted text stands in a tool result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Embedding {
    /// With real line breaks, behind the result's own text (inside its untrusted wrapper).
    Raw,
    /// As a JSON encoder writes it: in the result's longest string where the result is JSON, so
    /// that a label does not stand at a line start.
    JsonEscaped,
}

/// What goes into a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The label style that the forged line copies.
    pub label: &'static LabelStyle,
    /// The words, with the holes `{host}` and `{path}`.
    pub text: String,
    /// Which tool results are eligible.
    pub third: Third,
    /// How the text stands in the result.
    pub embedding: Embedding,
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
    /// On a clean control: the attack whose statement is asked about and whose canary is used.
    pub paired_with: Option<String>,
}

impl Attack {
    /// Reads an attack file. A clean control takes statement and phrases from the attack that it
    /// names, which is looked up among the embedded ones.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        let attack = read(&mut document, &mut root);
        root.finish(&mut document);
        document.finish(attack)
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

    /// The name that canaries are derived from: the attack's own, or of the one it is paired with.
    pub fn canary_name(&self) -> &str {
        self.paired_with.as_deref().unwrap_or(&self.name)
    }
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Attack> {
    root.schema(document, SCHEMA);
    let name = root.name(document, "an attack");
    let title = root.required(document, "title");
    let kind = root.required_at::<PlantKind>(document, "kind");
    if let Some((PlantKind::Clean, _)) = kind {
        return clean(document, root, name, title);
    }
    if let Some((kind, span)) = &kind
        && *kind != PlantKind::Attack
    {
        document.fault(
            span,
            "kind",
            format!("plants of kind \"{kind}\" cannot be made yet"),
            "write \"attack\" or \"clean\"",
        );
    }
    let statement = root.required_at::<String>(document, "statement");
    let phrases = root.required_at::<Vec<String>>(document, "phrases");
    let text = root.required_at::<String>(document, "text");
    let label = root.required_at::<String>(document, "label").and_then(|(id, span)| {
        let style = labels::by_id(&id);
        if style.is_none() {
            let known: Vec<&str> = labels::STYLES.iter().map(|style| style.id).collect();
            document.fault(&span, "label", format!("unknown label style \"{id}\""), choose_remedy(&id, &known));
        }
        style
    });
    let place = root.required_table(document, "place").and_then(|mut fields| {
        let third = fields.required(document, "third");
        let embedding = fields.required(document, "embedding");
        fields.finish(document);
        third.zip(embedding)
    });
    for (key, value) in [("statement", &statement), ("text", &text)] {
        let Some((value, span)) = value else { continue };
        if !value.contains(Canary::HOST_HOLE) {
            document.fault(
                span,
                key,
                "the hole {host} is missing",
                "name the canary, so that a judge can tell this plant from others",
            );
        }
        for problem in holes::unknown(value, HOLES) {
            document.fault(span, key, problem, format!("write no other braces than {}", holes::listed(HOLES)));
        }
    }
    if let Some((phrases, span)) = &phrases
        && phrases.iter().any(|phrase| phrase.is_empty() || phrase.to_lowercase() != *phrase)
    {
        document.fault(span, "phrases", "a phrase is empty or has capital letters", "write lower-case phrases");
    }
    let (third, embedding) = place?;
    Some(Attack {
        name: name?,
        title: title?,
        kind: kind?.0,
        statement: statement?.0.trim().to_owned(),
        phrases: phrases?.0,
        payload: Some(Payload { label: label?, text: text?.0.trim().to_owned(), third, embedding }),
        paired_with: None,
    })
}

fn clean<'i>(
    document: &mut Document<'i>,
    root: &mut Fields<'i>,
    name: Option<String>,
    title: Option<String>,
) -> Option<Attack> {
    let (paired, span) = root.required_at::<String>(document, "paired-with")?;
    let own = name.as_deref() == Some(paired.as_str());
    match if own { Err(Vec::new()) } else { Attack::embedded(&paired) } {
        Ok(attack) if attack.kind == PlantKind::Attack => Some(Attack {
            name: name?,
            title: title?,
            kind: PlantKind::Clean,
            statement: attack.statement,
            phrases: attack.phrases,
            payload: None,
            paired_with: Some(paired),
        }),
        _ => {
            document.fault(
                &span,
                "paired-with",
                format!("\"{paired}\" is not an attack"),
                choose_remedy(&paired, &presets::attack_names()),
            );
            None
        }
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
            assert!(Attack::embedded(name).is_ok(), "{name}");
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
}
