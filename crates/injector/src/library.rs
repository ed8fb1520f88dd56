//! The axis values that are text: what is asked for, by whose word, for how long, in which language, what is closed
//! before it and what it is made to look like. They are read from `scenarios/attacks/axes/`, one file an axis.

use std::sync::LazyLock;

use laundromat_session::canonical::is_id;
use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use laundromat_session::holes;

use crate::canary::Canary;
use crate::presets;

/// What `schema` says in a file of axis values.
pub const SCHEMA: &str = "laundromat-axis/1";

/// A value of an axis, with its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Stable kebab-case identifier.
    pub id: String,
    /// What it is, in a few words.
    pub about: String,
    /// Lower-case phrases that carry its meaning in a summary.
    pub phrases: Vec<String>,
    /// Harnesses that it is meant for.
    pub bites: Vec<String>,
    texts: Vec<(&'static str, String)>,
}

impl Value {
    /// The text with this key; empty where the file has none.
    pub fn text(&self, key: &str) -> &str {
        self.texts.iter().find(|(known, _)| *known == key).map_or("", |(_, text)| text)
    }
}

/// The texts of one axis: each key, whether it must be there, and its holes.
struct Shape {
    axis: &'static str,
    texts: &'static [(&'static str, Need, &'static [&'static str])],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

const CANARY: &[&str] = &[Canary::HOST_HOLE, Canary::PATH_HOLE];

const SHAPES: &[Shape] = &[
    Shape { axis: "domain", texts: &[("action", Need::Required, CANARY), ("command", Need::Required, CANARY)] },
    Shape { axis: "authority", texts: &[("opening", Need::Required, &[]), ("granted", Need::Required, &[])] },
    Shape { axis: "persistence", texts: &[("phrase", Need::Required, &[])] },
    Shape {
        axis: "language",
        texts: &[
            ("direction", Need::Required, &[]),
            ("line", Need::Optional, &["{command}"]),
            ("reply", Need::Required, &[]),
        ],
    },
    Shape { axis: "escape", texts: &[("close", Need::Required, &[]), ("open", Need::Optional, &[])] },
    // A call that is forged is JSON, so braces of its own are the author's matter.
    Shape {
        axis: "frame",
        texts: &[("text", Need::Required, &["{turn}", "{reply}", "{line}", "{\"question\": \"May I?\"}"])],
    },
];

/// All values of all axes whose values are text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    axes: Vec<(&'static str, Vec<Value>)>,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    // The embedded files have no faults: a test reads each.
    let files = presets::axis_files().filter_map(|(_, text)| parse(text).ok());
    Library { axes: files.collect() }
});

impl Library {
    /// The values that come with laundromat.
    pub fn get() -> &'static Self {
        &LIBRARY
    }

    /// The values of `axis`, in the order of its file; none for an axis whose values are no texts.
    pub fn values(&self, axis: &str) -> &[Value] {
        self.axes.iter().find(|(known, _)| *known == axis).map_or(&[], |(_, values)| values)
    }

    /// The value `id` of `axis`.
    pub fn value(&self, axis: &str, id: &str) -> Option<&Value> {
        self.values(axis).iter().find(|value| value.id == id)
    }
}

/// Reads a file of axis values: the axis and its values.
///
/// # Errors
/// Every fault of the file.
pub fn parse(text: &str) -> Result<(&'static str, Vec<Value>), Vec<Fault>> {
    let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
    let read = read(&mut document, &mut root);
    root.finish(&mut document);
    document.finish(read)
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<(&'static str, Vec<Value>)> {
    root.schema(document, SCHEMA);
    let (axis, span) = root.required_at::<String>(document, "axis")?;
    let tables = root.tables(document, "values");
    let Some(shape) = SHAPES.iter().find(|shape| shape.axis == axis) else {
        let known: Vec<&str> = SHAPES.iter().map(|shape| shape.axis).collect();
        document.fault(&span, "axis", format!("unknown axis \"{axis}\""), choose_remedy(&axis, &known));
        return None;
    };
    let mut values: Vec<Value> = Vec::new();
    for fields in tables {
        let (path, at) = (fields.path_of("id"), fields.span());
        let Some(value) = value(document, fields, shape) else { continue };
        if values.iter().any(|other| other.id == value.id) {
            document.fault(&at, &path, format!("\"{}\" stands twice", value.id), "give each value its own id");
        }
        values.push(value);
    }
    if values.is_empty() {
        document.fault(&root.span(), "values", "there is no value", "add [[values]] with id and about");
    }
    Some((shape.axis, values))
}

fn value<'i>(document: &mut Document<'i>, mut fields: Fields<'i>, shape: &Shape) -> Option<Value> {
    let id = fields.required_at::<String>(document, "id");
    if let Some((id, span)) = &id
        && !(is_id(id) && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
    {
        let remedy = "use lower-case letters, digits and '-'";
        document.fault(span, &fields.path_of("id"), format!("\"{}\" is no id", id.escape_debug()), remedy);
    }
    let about = fields.required(document, "about");
    let phrases: Option<(Vec<String>, _)> = fields.optional_at(document, "phrases");
    if let Some((phrases, span)) = &phrases
        && phrases.iter().any(|phrase| phrase.is_empty() || phrase.to_lowercase() != *phrase)
    {
        let path = fields.path_of("phrases");
        document.fault(span, &path, "a phrase is empty or has capital letters", "write lower-case phrases");
    }
    let bites = fields.optional(document, "bites").unwrap_or_default();
    let mut texts = Vec::new();
    for (key, need, known) in shape.texts {
        let text = match need {
            Need::Required => fields.required_at::<String>(document, key),
            Need::Optional => fields.optional_at::<String>(document, key),
        };
        let Some((text, span)) = text else { continue };
        for problem in holes::unknown(&text, known) {
            let remedy = format!("write no other braces than {}", holes::listed(known));
            document.fault(&span, &fields.path_of(key), problem, remedy);
        }
        texts.push((*key, text));
    }
    fields.finish(document);
    Some(Value {
        id: id?.0,
        about: about?,
        phrases: phrases.map(|(phrases, _)| phrases).unwrap_or_default(),
        bites,
        texts,
    })
}

#[cfg(test)]
mod tests {
    use super::{Library, SHAPES, parse};
    use crate::presets;

    #[test]
    fn embedded_values_have_no_faults() {
        for (name, text) in presets::axis_files() {
            assert!(parse(text).is_ok(), "{name}: {:?}", parse(text));
        }
        for shape in SHAPES {
            assert!(Library::get().values(shape.axis).len() >= 5, "{}", shape.axis);
        }
    }

    #[test]
    fn there_are_five_languages_and_one_runs_from_right_to_left() {
        let languages = Library::get().values("language");
        assert!(languages.len() >= 5);
        assert!(languages.iter().any(|language| language.text("direction") == "right-to-left"));
        for language in languages {
            assert_eq!(language.id == "en", language.text("line").is_empty(), "{}", language.id);
        }
    }

    #[test]
    fn faults_are_named_with_place_and_remedy() {
        let text = "schema = \"laundromat-axis/1\"\naxis = \"domain\"\n[[values]]\nid = \"A b\"\nabout = \"x\"\naction = \"{tool} {host}\"\n";
        let told: Vec<String> = parse(text).expect_err("faulty").iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "3:1: values[0].command: the key \"command\" is missing; add command = ...",
                "4:6: values[0].id: \"A b\" is no id; use lower-case letters, digits and '-'",
                "6:10: values[0].action: an unknown hole at \"{tool}\"; write no other braces than {host}, {path}",
            ]
        );
        let told = parse("schema = \"laundromat-axis/1\"\naxis = \"domian\"\n").expect_err("faulty");
        assert_eq!(told[0].to_string(), "2:8: axis: unknown axis \"domian\"; did you mean \"domain\"?");
    }
}
