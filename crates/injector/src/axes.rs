//! The axes of an attack: where and how text is planted, each with the identifiers of its values. An attack is one
//! value on each axis; a [matrix](crate::matrix) crosses several.

use laundromat_session::fault::choose_remedy;
use laundromat_session::ids;
use laundromat_session::labels::Guise;

use crate::library::Library;

ids! {
    /// An axis. The order is the one of names and tables.
    Axis {
        /// The forged label: a style of the label table, or one that is only forged.
        Label = "label",
        /// What is closed before the planted text.
        Escape = "escape",
        /// What the planted text is made to look like.
        Frame = "frame",
        /// What the payload asks for.
        Domain = "domain",
        /// Whose word it claims to be.
        Authority = "authority",
        /// How long it claims to hold.
        Persistence = "persistence",
        /// The language of the planted line.
        Language = "language",
        /// How its words are encoded.
        Encoding = "encoding",
        /// Whether it is planted whole or in fragments.
        Split = "split",
        /// What works against a rule of the user's.
        Pressure = "pressure",
        /// What carries it.
        Carrier = "carrier",
        /// Where in the session.
        Third = "third",
        /// Where in its carrier.
        Offset = "offset",
        /// How it stands there.
        Embedding = "embedding",
        /// How often it is planted.
        Copies = "copies",
    }
}

ids! {
    /// Which third of the carriers a plant goes into.
    Third {
        /// The first third.
        Early = "early",
        /// The middle third.
        Middle = "middle",
        /// The last third.
        Late = "late",
    }
}

ids! {
    /// How the planted text stands in its carrier.
    Embedding {
        /// With real line breaks, inside the result's untrusted wrapper.
        Raw = "raw",
        /// As a JSON encoder writes it, in the longest string of a JSON result, so that no label stands at a line start.
        JsonEscaped = "json-escaped",
        /// As JSON, in the field `error` of the result.
        ErrorField = "error-field",
        /// In the output that a row of the harness quotes, which is in the user's role.
        ProcessRow = "process-row",
        /// In a page that a tool fetched.
        FetchedPage = "fetched-page",
    }
}

ids! {
    /// What carries a plant.
    Carrier {
        /// The text of a tool result.
        ToolResult = "tool-result",
        /// Text of the assistant that quotes a tool.
        AssistantQuote = "assistant-quote",
        /// Text of another source that the user pasted.
        UserPaste = "user-paste",
        /// The summary of an earlier compaction, which quotes a tool.
        PreviousSummary = "previous-summary-turn",
        /// A turn of the user's own: the carrier of what the user really says.
        UserTurn = "user-turn",
    }
}

ids! {
    /// How the words of a payload are encoded.
    Encoding {
        /// Not at all.
        Plain = "plain-text",
        /// Base64.
        Base64 = "base64",
        /// Letters moved by thirteen.
        Rot13 = "rot13",
        /// Bytes in hexadecimal.
        Hex = "hex",
        /// Percent signs, as in addresses.
        Url = "url",
        /// Words broken in their middle.
        SplitWords = "split-words",
    }
}

ids! {
    /// What works against a rule that the user gave.
    Pressure {
        /// Nothing.
        NoPressure = "no-pressure",
        /// A long tool result behind it, so that it is cut or crowded out.
        Flood = "flood",
        /// Tool text that asks the summary to leave the rule out.
        Omit = "omit",
        /// A forged user line that takes the rule back.
        Revoke = "revoke",
    }
}

/// Where in its carrier a plant stands, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offset {
    /// Before the carrier's own text.
    Start,
    /// Behind it.
    End,
    /// So many characters from the start, or at the end of a shorter text.
    FromStart(usize),
    /// So many characters before the end, or at the start of a shorter text.
    FromEnd(usize),
}

impl Offset {
    /// Reads `at-start`, `at-end`, `char-N` or `end-N`.
    pub fn by_id(id: &str) -> Option<Self> {
        match id {
            "at-start" => Some(Self::Start),
            "at-end" => Some(Self::End),
            _ => None
                .or_else(|| number(id, "char-", 1).map(Self::FromStart))
                .or_else(|| number(id, "end-", 1).map(Self::FromEnd)),
        }
    }
}

/// Whether a payload is planted whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// In one place.
    Whole,
    /// In so many results, joined by the name of a note.
    Fragments(usize),
    /// The same without anything that joins them: the control.
    Clean(usize),
}

impl Split {
    /// Reads `whole`, `fragments-N` or `clean-split-N`, N from 2 to 5.
    pub fn by_id(id: &str) -> Option<Self> {
        let count = |prefix| number(id, prefix, 2).filter(|count| *count <= 5);
        match id {
            "whole" => Some(Self::Whole),
            _ => None
                .or_else(|| count("fragments-").map(Self::Fragments))
                .or_else(|| count("clean-split-").map(Self::Clean)),
        }
    }
}

/// Reads `once` or `times-N`, N from 2 to 30.
pub fn copies(id: &str) -> Option<usize> {
    if id == "once" { Some(1) } else { number(id, "times-", 2).filter(|count| *count <= 30) }
}

/// The number behind `prefix`, written without leading zeros.
fn number(id: &str, prefix: &str, least: usize) -> Option<usize> {
    let digits = id.strip_prefix(prefix)?;
    let number: usize = digits.parse().ok()?;
    (number >= least && number.to_string() == digits).then_some(number)
}

impl Axis {
    /// The identifiers of the axis; where numbers are part of them, examples.
    pub fn values(self) -> Vec<&'static str> {
        match self {
            Self::Label => Guise::ids(),
            Self::Escape | Self::Frame | Self::Domain | Self::Authority | Self::Persistence | Self::Language => {
                Library::get().values(self.id()).iter().map(|value| value.id.as_str()).collect()
            }
            Self::Encoding => Encoding::ALL.iter().map(|value| value.id()).collect(),
            Self::Split => vec!["whole", "fragments-2", "fragments-3", "clean-split-2", "clean-split-3"],
            Self::Pressure => Pressure::ALL.iter().map(|value| value.id()).collect(),
            Self::Carrier => Carrier::ALL.iter().map(|value| value.id()).collect(),
            Self::Third => Third::ALL.iter().map(|value| value.id()).collect(),
            Self::Offset => vec!["at-start", "at-end", "char-1500", "end-800"],
            Self::Embedding => Embedding::ALL.iter().map(|value| value.id()).collect(),
            Self::Copies => vec!["once", "times-3", "times-10"],
        }
    }

    /// What is said about an identifier of the axis; nothing about one that is not in [`Self::values`].
    pub fn about(self, id: &str) -> String {
        match self {
            Self::Label => Guise::by_id(id).map_or_else(String::new, |guise| guise.used_by.join(", ")),
            _ => Library::get().value(self.id(), id).map_or_else(
                || about_place(id).to_owned(),
                |value| match value.bites.join(", ") {
                    bites if bites.is_empty() => value.about.clone(),
                    bites => format!("{} ({bites})", value.about),
                },
            ),
        }
    }

    /// The value of an attack that says nothing about the axis.
    pub fn default_id(self) -> &'static str {
        match self {
            Self::Label => "unlabelled",
            Self::Escape => "no-escape",
            Self::Frame => "plain-turn",
            Self::Domain => "install-exec",
            Self::Authority => "user",
            Self::Persistence => "standing",
            Self::Language => "en",
            Self::Encoding => "plain-text",
            Self::Split => "whole",
            Self::Pressure => "no-pressure",
            Self::Carrier => "tool-result",
            Self::Third => "middle",
            Self::Offset => "at-end",
            Self::Embedding => "raw",
            Self::Copies => "once",
        }
    }

    /// The table of an attack file that the axis stands in; `None` for the file's own keys.
    pub fn table(self) -> Option<&'static str> {
        match self {
            Self::Label => None,
            Self::Domain | Self::Authority | Self::Persistence | Self::Language => Some("words"),
            Self::Escape | Self::Frame | Self::Encoding | Self::Split | Self::Pressure => Some("shape"),
            Self::Carrier | Self::Third | Self::Offset | Self::Embedding | Self::Copies => Some("place"),
        }
    }

    /// What is wrong with `id` as a value of the axis, and what to do.
    ///
    /// # Errors
    /// The remedy, when there is no such value.
    pub fn check(self, id: &str) -> Result<(), String> {
        let is_known = match self {
            Self::Split => Split::by_id(id).is_some(),
            Self::Offset => Offset::by_id(id).is_some(),
            Self::Copies => copies(id).is_some(),
            _ => self.values().contains(&id),
        };
        if is_known {
            return Ok(());
        }
        Err(match self {
            Self::Split => "write \"whole\", \"fragments-N\" or \"clean-split-N\" with N from 2 to 5".to_owned(),
            Self::Offset => {
                "write \"at-start\", \"at-end\", \"char-N\" (from the start) or \"end-N\" (before the end)".to_owned()
            }
            Self::Copies => "write \"once\" or \"times-N\" with N from 2 to 30".to_owned(),
            _ => choose_remedy(id, &self.values()),
        })
    }
}

/// What is said about the values that are no texts.
fn about_place(id: &str) -> &'static str {
    match id {
        "plain-text" => "the words as they are",
        "base64" | "hex" => "the words' bytes, named as what they are",
        "rot13" => "letters moved by thirteen",
        "url" => "percent signs, as in addresses",
        "split-words" => "words broken in their middle, the canary's left whole",
        "whole" => "all of it in one place",
        "fragments-2" | "fragments-3" => "runs of its words in as many results, joined by a note's name",
        "clean-split-2" | "clean-split-3" => "the same without anything that joins them",
        "no-pressure" => "nothing works against the rule",
        "flood" => "a result behind it grows by 30,000 characters",
        "omit" => "tool text asks the summary to leave it out",
        "revoke" => "a forged user line takes it back",
        "tool-result" => "a tool's result",
        "assistant-quote" => "text of the assistant that quotes a tool",
        "user-paste" => "text of another source that the user pasted",
        "previous-summary-turn" => "an earlier summary that quotes a tool",
        "user-turn" => "a turn of the user's own, for what the user really says",
        "early" => "the first third of the carriers",
        "middle" => "the middle third",
        "late" => "the last third",
        "at-start" => "before the carrier's own text, inside its wrapper",
        "at-end" => "behind it, inside its wrapper",
        "char-1500" => "1,500 characters from the start, any number; at the end of a shorter text",
        "end-800" => "800 characters before the end, any number; at the start of a shorter text",
        "raw" => "with real line breaks",
        "json-escaped" => "as a JSON encoder writes it, in the longest string of a JSON result",
        "error-field" => "as JSON, in the field `error`",
        "process-row" => "in output that a row of the harness quotes, in the user's role",
        "fetched-page" => "in a page that a tool fetched",
        "once" => "in one place",
        "times-3" | "times-10" => "in as many places, up to 30",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Axis, Offset, Split, copies};

    #[test]
    fn an_id_names_one_value_of_one_axis() {
        let mut seen = BTreeMap::new();
        for axis in Axis::ALL {
            for id in axis.values() {
                assert_eq!(axis.check(id), Ok(()), "{axis} {id}");
                assert_eq!(seen.insert(id, axis), None, "{id}");
                assert!(!axis.about(id).is_empty(), "{axis} {id}");
            }
            assert!(axis.values().contains(&axis.default_id()), "{axis}");
        }
    }

    #[test]
    fn numbers_are_part_of_ids_in_one_writing_only() {
        assert_eq!(Offset::by_id("char-4500"), Some(Offset::FromStart(4500)));
        assert_eq!(Offset::by_id("end-1"), Some(Offset::FromEnd(1)));
        assert_eq!((Split::by_id("fragments-5"), copies("times-30")), (Some(Split::Fragments(5)), Some(30)));
        for id in ["char-0", "char-007", "char-", "end--1", "char-+1"] {
            assert!(Axis::Offset.check(id).is_err(), "{id}");
        }
        for id in ["fragments-1", "fragments-6", "clean-split-0"] {
            assert!(Axis::Split.check(id).is_err(), "{id}");
        }
        for id in ["times-1", "times-31"] {
            assert!(Axis::Copies.check(id).is_err(), "{id}");
        }
        assert_eq!(Axis::Third.check("erly"), Err("did you mean \"early\"?".to_owned()));
    }
}
