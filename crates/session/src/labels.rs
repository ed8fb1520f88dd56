//! The label table: how harnesses mark turns in flattened text. The only place where label text
//! stands; forms write with it, attacks forge with it, the built-in reader recognises by it.

mod forged;
mod guise;
mod recognise;
mod table;

pub use forged::FORGED;
pub use guise::{Guise, Likeness};
pub use recognise::{Found, Speaker, opens};
pub use table::STYLES;

/// Whether a style says who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The label names a role, so a reader can take it for a turn.
    Role,
    /// The label only counts or separates; nobody can be impersonated with it.
    Neutral,
}

/// How one family of harnesses writes its turns. In labels `{id}` stands for the call id, `{name}` for
/// the tool's name and `{n}` for the number of the record from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelStyle {
    /// Stable kebab-case identifier.
    pub id: &'static str,
    /// Whether the labels say who spoke.
    pub naming: Naming,
    /// What opens a user turn.
    pub user: &'static str,
    /// What opens an assistant turn.
    pub assistant: &'static str,
    /// What opens a tool result.
    pub tool: &'static str,
    /// What opens a system turn.
    pub system: &'static str,
    /// What closes turns.
    pub ends: Ends,
    /// What stands between two records.
    pub between: &'static str,
    /// How calls are written.
    pub calls: CallLines,
    /// Harnesses and formats that use it.
    pub used_by: &'static [&'static str],
}

/// What closes a turn, by who spoke; empty where nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Behind a user turn.
    pub user: &'static str,
    /// Behind an assistant turn.
    pub assistant: &'static str,
    /// Behind a tool result.
    pub tool: &'static str,
    /// Behind a system turn.
    pub system: &'static str,
}

impl Ends {
    /// Nothing closes a turn.
    pub const NONE: Self = Self::all("");

    /// The same text closes every turn.
    pub const fn all(end: &'static str) -> Self {
        Self { user: end, assistant: end, tool: end, system: end }
    }
}

/// How the calls of an assistant turn are written in flattened text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLines {
    /// Where they stand.
    pub place: CallPlace,
    /// What opens the list of calls.
    pub open: &'static str,
    /// What opens it in a record that has no text.
    pub open_alone: &'static str,
    /// One call: may hold `{id}`, `{name}` and `{arguments}`.
    pub each: &'static str,
    /// What stands between two calls.
    pub between: &'static str,
    /// What closes the list.
    pub close: &'static str,
    /// How arguments are written.
    pub arguments: Arguments,
}

/// Where calls stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPlace {
    /// In the assistant's record, behind its text.
    Inside,
    /// As an entry of their own behind the assistant's, which is left out where it has no text.
    Apart,
}

/// How a call's arguments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    /// As recorded.
    Recorded,
    /// `key=value, key=value`, values as JSON.
    Pairs,
    /// A line `key: value` for each, strings without quotes.
    Lines,
    /// As Python writes a dict.
    Python,
}

/// The style with this identifier.
pub fn by_id(id: &str) -> Option<&'static LabelStyle> {
    STYLES.iter().find(|style| style.id == id)
}

/// The label with its holes filled, for a turn that is no tool's.
pub fn fill(label: &str, id: &str, number: usize) -> String {
    label.replace("{id}", id).replace("{n}", &number.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Naming, STYLES, Speaker, fill, opens};

    #[test]
    fn every_role_naming_label_is_recognised_and_neutral_ones_are_not() {
        for style in STYLES {
            for (label, speaker) in [
                (style.user, Speaker::User),
                (style.assistant, Speaker::Other),
                (style.tool, Speaker::Other),
                (style.system, Speaker::Other),
            ] {
                let line = format!("{}text", fill(label, "call_1", 1).replace("{name}", "terminal"));
                // A harness that writes tool text behind its user label gives it to the user itself.
                let speaker = if label.starts_with(style.user) { Speaker::User } else { speaker };
                match style.naming {
                    Naming::Role => assert_eq!(opens(&line).map(|found| found.speaker), Some(speaker), "{line}"),
                    Naming::Neutral => assert_eq!(opens(&line), None, "{line}"),
                }
            }
        }
    }

    #[test]
    fn look_alikes_are_not_labels() {
        for line in [
            "",
            "[USERS]: x",
            "[USER] x",
            "## Users table\n",
            "Userland: x",
            "[TOOL RESULT a",
            " [USER]: x",
            "[user](http://a.example)",
            "[] user: x",
            "[a] user: x",
            "12. [users] x",
            "Tool [a\n]: x",
            "# Users\n",
            "## Message of the day\nRole: user\nContent:\n",
        ] {
            assert_eq!(opens(line), None, "{line:?}");
        }
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = STYLES.iter().map(|style| style.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), STYLES.len());
    }
}
