//! The label table: how harnesses mark turns in flattened text. The only place where label text
//! stands; forms write with it, attacks forge with it, the built-in reader recognises by it.

use std::sync::LazyLock;

/// Whether a style says who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The label names a role, so a reader can take it for a turn.
    Role,
    /// The label only counts or separates; nobody can be impersonated with it.
    Neutral,
}

/// How one family of harnesses labels its turns. `{id}` stands for the call id, `{n}` for the
/// number of the record from 1.
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
    /// Harnesses and formats that use it.
    pub used_by: &'static [&'static str],
}

macro_rules! style {
    ($id:literal, $naming:ident, $user:literal, $assistant:literal, $tool:literal, $system:literal, $used:expr) => {
        LabelStyle {
            id: $id,
            naming: Naming::$naming,
            user: $user,
            assistant: $assistant,
            tool: $tool,
            system: $system,
            used_by: &$used,
        }
    };
}

/// Every style known to laundromat.
pub const STYLES: &[LabelStyle] = &[
    style!(
        "bracket-upper",
        Role,
        "[USER]: ",
        "[ASSISTANT]: ",
        "[TOOL RESULT {id}]: ",
        "[SYSTEM]: ",
        ["hermes", "crewai"]
    ),
    style!(
        "bracket-title",
        Role,
        "[User]: ",
        "[Assistant]: ",
        "[Tool result]: ",
        "[System]: ",
        ["pi", "openclaw", "cline"]
    ),
    style!(
        "bracket-lower",
        Role,
        "[user]: ",
        "[assistant]: ",
        "[tool]: ",
        "[system]: ",
        ["goose", "letta", "agent-framework"]
    ),
    style!("lower-colon", Role, "user: ", "assistant: ", "tool: ", "system: ", ["mem0", "adk"]),
    style!("title-colon", Role, "User: ", "Assistant: ", "Tool: ", "System: ", ["gemini-cli", "langchain"]),
    style!("human-colon", Role, "Human: ", "AI: ", "Tool: ", "System: ", ["langchain"]),
    style!("md-heading", Role, "## User\n", "## Assistant\n", "## Tool\n", "## System\n", ["aider", "zed"]),
    style!("md-bold", Role, "**User:** ", "**Assistant:** ", "**Tool:** ", "**System:** ", ["mastra"]),
    style!("xml-role", Role, "<user>", "<assistant>", "<tool>", "<system>", ["copilot"]),
    style!(
        "chatml",
        Role,
        "<|im_start|>user\n",
        "<|im_start|>assistant\n",
        "<|im_start|>tool\n",
        "<|im_start|>system\n",
        ["qwen templates"]
    ),
    style!("numbered", Neutral, "({n}) ", "({n}) ", "({n}) ", "({n}) ", ["laundromat"]),
];

/// The style with this identifier.
pub fn by_id(id: &str) -> Option<&'static LabelStyle> {
    STYLES.iter().find(|style| style.id == id)
}

/// Who a recognised label says is speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// Anyone else: assistant, tool or system.
    Other,
}

/// A label found at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Who it says is speaking.
    pub speaker: Speaker,
    /// Bytes of the label, without the space or line break behind it.
    pub len: usize,
}

/// A label as a line is compared with it.
struct Shape {
    speaker: Speaker,
    /// What the line begins with.
    before: &'static str,
    /// What follows the call id on the same line, in labels that have one.
    behind_id: Option<&'static str>,
    /// The label is a line of its own: "## User" is one, "## Users table" is not.
    whole_line: bool,
}

/// The role-naming labels by their first byte, in table order. Every line of every message is
/// looked at, so a line that opens no label has to be passed on its first bytes.
static SHAPES: LazyLock<[Vec<Shape>; 256]> = LazyLock::new(|| {
    let mut shapes = [const { Vec::new() }; 256];
    for style in STYLES.iter().filter(|style| style.naming == Naming::Role) {
        for (label, speaker) in [
            (style.user, Speaker::User),
            (style.assistant, Speaker::Other),
            (style.tool, Speaker::Other),
            (style.system, Speaker::Other),
        ] {
            let (before, behind_id) = match label.split_once("{id}") {
                Some((before, behind)) => (before, Some(behind.trim_end())),
                None => (label.trim_end(), None),
            };
            if let Some(first) = before.bytes().next() {
                let shape = Shape { speaker, before, behind_id, whole_line: label.ends_with('\n') };
                shapes[usize::from(first)].push(shape);
            }
        }
    }
    shapes
});

/// The role-naming label that opens `line`, if any. `line` starts at a line start and may run on.
pub fn opens(line: &str) -> Option<Found> {
    let first = *line.as_bytes().first()?;
    SHAPES[usize::from(first)]
        .iter()
        .find_map(|shape| Some(Found { speaker: shape.speaker, len: shape.matched(line)? }))
}

impl Shape {
    /// Length of the label where `line` starts with it.
    fn matched(&self, line: &str) -> Option<usize> {
        let rest = line.strip_prefix(self.before)?;
        match self.behind_id {
            Some(behind) => {
                let id = rest.split('\n').next().unwrap_or_default();
                Some(self.before.len() + id.find(behind)? + behind.len())
            }
            None if self.whole_line => {
                let rest = rest.trim_start_matches([' ', '\r']);
                (rest.is_empty() || rest.starts_with('\n')).then_some(self.before.len())
            }
            None => Some(self.before.len()),
        }
    }
}

/// The label with its holes filled.
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
                let line = format!("{}text", fill(label, "call_1", 1));
                match style.naming {
                    Naming::Role => assert_eq!(opens(&line).map(|found| found.speaker), Some(speaker), "{line}"),
                    Naming::Neutral => assert_eq!(opens(&line), None, "{line}"),
                }
            }
        }
    }

    #[test]
    fn look_alikes_are_not_labels() {
        for line in ["", "[USERS]: x", "[USER] x", "## Users table\n", "Userland: x", "[TOOL RESULT a", " [USER]: x"] {
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
