//! Records: one redacted, uncapped turn each, with its origin.

use std::sync::LazyLock;

use laundromat_session::labels::LabelStyle;
use laundromat_session::normal_form::Speaker;
use laundromat_session::{Part, Role, Session, Turn};
use regex::Regex;

use crate::shield::Shield;
use crate::tracked::{Origin, Tracked};

/// A call of a record: name and arguments as recorded, arguments behind the shield.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordCall {
    /// The recorded id.
    pub id: String,
    /// The recorded name.
    pub name: String,
    /// The arguments.
    pub arguments: String,
}

/// One turn, redacted and not yet capped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Index of the turn in the session.
    pub turn: usize,
    /// The recorded role.
    pub role: Role,
    /// Who really speaks.
    pub speaker: Speaker,
    /// The text.
    pub text: Tracked,
    /// The calls.
    pub calls: Vec<RecordCall>,
    /// On a tool record: the recorded id of the call it answers, empty where there is none.
    pub call_id: String,
    /// The turn has recorded reasoning.
    pub has_reasoning: bool,
}

/// Which turns of a session an arm is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// Every turn.
    All,
    /// Every turn behind the leading system turns: harnesses keep the system prompt apart.
    BehindSystemPrompt,
}

/// What is scrubbed beside the shield.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scrub {
    /// Nothing.
    None,
    /// `MEDIA:` references in all text, thinking and printed tool calls in assistant text.
    Hermes,
}

/// The records of `session` in `window`.
pub fn records(session: &Session, window: Window, shield: Option<&Shield>, scrub: Scrub) -> Vec<Record> {
    let skipped = match window {
        Window::All => 0,
        Window::BehindSystemPrompt => session.turns.iter().take_while(|turn| turn.role == Role::System).count(),
    };
    session
        .turns
        .iter()
        .enumerate()
        .skip(skipped)
        .filter(|(_, turn)| !matches!(turn.role, Role::Marker(_)))
        .map(|(index, turn)| record(index, turn, shield, scrub))
        .collect()
}

fn record(index: usize, turn: &Turn, shield: Option<&Shield>, scrub: Scrub) -> Record {
    let mut text = flatten(index, turn);
    if let Some(shield) = shield {
        shield.apply(&mut text);
    }
    if scrub == Scrub::Hermes {
        scrub_media(&mut text);
        if turn.role == Role::Assistant {
            strip_thinking(&mut text);
        }
    }
    Record {
        turn: index,
        role: turn.role.clone(),
        speaker: speaker(turn),
        text,
        calls: turn
            .calls
            .iter()
            .map(|call| RecordCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: shielded(&call.arguments, shield),
            })
            .collect(),
        call_id: turn.call_id.clone().unwrap_or_default(),
        has_reasoning: turn.reasoning.is_some(),
    }
}

fn shielded(arguments: &str, shield: Option<&Shield>) -> String {
    let Some(shield) = shield else { return arguments.to_owned() };
    let mut text = Tracked::default();
    text.push_own(arguments);
    shield.apply(&mut text);
    text.text().to_owned()
}

fn speaker(turn: &Turn) -> Speaker {
    match turn.role {
        Role::User if turn.synthetic.is_none() => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => Speaker::Tool,
        Role::User | Role::System | Role::Marker(_) | Role::Other(_) => Speaker::Harness,
    }
}

/// Parts joined by line breaks; what is not text leaves a placeholder.
fn flatten(index: usize, turn: &Turn) -> Tracked {
    let mut text = Tracked::default();
    for (place, part) in turn.parts.iter().enumerate() {
        if place > 0 {
            text.push_own("\n");
        }
        match part {
            Part::Text(said) => text.push_copied(said, Origin { turn: index, part: place }),
            Part::Image(Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                text.push_own(&format!("[image: {url}]"))
            }
            Part::Image(_) => text.push_own("[image]"),
            Part::Other(kind) if kind.is_empty() => text.push_own("[attachment]"),
            Part::Other(kind) => text.push_own(&format!("[{kind}]")),
        }
    }
    text
}

/// What opens a record of this role in flattened text.
pub(crate) fn label(style: &LabelStyle, record: &Record, number: usize) -> String {
    use laundromat_session::labels::fill;
    match &record.role {
        Role::User => fill(style.user, "", number),
        Role::Assistant => fill(style.assistant, "", number),
        Role::Tool => fill(style.tool, &record.call_id, number),
        Role::System | Role::Marker(_) => fill(style.system, "", number),
        // A role no style has a word for stands in the system label's shape, in its own name.
        Role::Other(name) => {
            let name = if name.is_empty() { "unknown" } else { name };
            fill(style.system, "", number)
                .replace("SYSTEM", &name.to_uppercase())
                .replace("System", name)
                .replace("system", name)
        }
    }
}

/// The call lines of a record in flattened text; empty where it has none.
pub(crate) fn call_lines(calls: &[RecordCall]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n[Tool calls:");
    for call in calls {
        out.push_str("\n  ");
        out.push_str(&call.name);
        out.push('(');
        out.push_str(&call.arguments);
        out.push(')');
    }
    out.push_str("\n]");
    out
}

fn compiled(pattern: &str) -> Regex {
    #[allow(clippy::expect_used, reason = "the patterns are constants of this file, compiled in its tests")]
    Regex::new(pattern).expect("a constant pattern")
}

fn scrub_media(text: &mut Tracked) {
    static MEDIA: LazyLock<Regex> = LazyLock::new(|| compiled(r"MEDIA:\S+"));
    cover(text, &MEDIA, "[media attachment]");
}

fn strip_thinking(text: &mut Tracked) {
    const THINKING: [&str; 5] = ["think", "thinking", "reasoning", "REASONING_SCRATCHPAD", "thought"];
    const PRINTED_CALLS: [&str; 5] = ["tool_calls", "tool_call", "function_calls", "function_call", "tool_result"];
    static RULES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let pairs = THINKING.iter().chain(&PRINTED_CALLS).map(|tag| format!(r"(?is)<{tag}>.*?</{tag}>"));
        let gemma = std::iter::once(r"(?is)<function name=[^>]*>.*?</function>".to_owned());
        let names = THINKING.join("|");
        // What opens at a line start and never closes runs to the end; then single tags.
        let rest = [format!(r"(?ism)^[ \t]*<(?:{names})>.*\z"), format!(r"(?i)</?(?:{names})>")];
        pairs.chain(gemma).chain(rest).map(|pattern| compiled(&pattern)).collect()
    });
    if !text.text().contains('<') {
        return;
    }
    for rule in RULES.iter() {
        cover(text, rule, "");
    }
}

fn cover(text: &mut Tracked, pattern: &Regex, with: &str) {
    let edits: Vec<_> = pattern.find_iter(text.text()).map(|found| (found.range(), with.to_owned())).collect();
    text.replace(&edits);
}

#[cfg(test)]
mod tests {
    use super::{Origin, Tracked, scrub_media, strip_thinking};

    fn stripped(text: &str) -> String {
        let mut tracked = Tracked::default();
        tracked.push_copied(text, Origin { turn: 0, part: 0 });
        strip_thinking(&mut tracked);
        scrub_media(&mut tracked);
        tracked.text().to_owned()
    }

    #[test]
    fn thinking_and_printed_calls_go() {
        assert_eq!(stripped("<think>a</think>Visible."), "Visible.");
        assert_eq!(stripped("x <THINKING>a\nb</thinking> y"), "x  y");
        assert_eq!(stripped("kept\n<think>never closed\nmore"), "kept\n");
        assert_eq!(stripped("a </think> b"), "a  b");
        assert_eq!(stripped("<tool_call>{}</tool_call>done MEDIA:a.png"), "done [media attachment]");
        assert_eq!(stripped("1 < 2"), "1 < 2");
    }
}
