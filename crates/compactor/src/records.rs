//! Records: one redacted, uncapped turn each, with its origin.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use laundromat_session::normal_form::{Speaker, UNKNOWN_TOOL};
use laundromat_session::{Call, Part, Role, Session, Turn};
use regex::Regex;

use crate::python_text;
use crate::scan;
use crate::shield::Shield;
use crate::tiers::Pruning;
use crate::tracked::{Origin, Tracked};

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
    /// The calls: names and ids as recorded, arguments behind the shield.
    pub calls: Vec<Call>,
    /// On a tool record: the recorded id of the call it answers, empty where there is none.
    pub call_id: String,
    /// On a tool record: the recorded name of the tool that answers, empty elsewhere.
    pub tool_name: String,
    /// The recorded thoughts, behind the shield; empty where there are none.
    pub thought: String,
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

/// What is changed in texts beside the shield, and behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scrub {
    /// Nothing.
    None,
    /// `MEDIA:` references in all text, thinking and printed tool calls in assistant text.
    Hermes,
    /// Tool results become the text of a Python dict.
    PythonResults,
    /// Tool results become JSON strings, line breaks escaped.
    JsonResults,
}

/// The shield on the way to the summarizer, and whose turns it covers there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shielded<'a> {
    /// On a person's turns.
    pub user: Option<&'a Shield>,
    /// On all others.
    pub other: Option<&'a Shield>,
}

/// The records of `session` in `window`.
pub fn records(session: &Session, window: Window, shielded: Shielded<'_>, scrub: Scrub) -> Vec<Record> {
    selected(session, window, shielded, scrub, &Selected { pruning: &Pruning::default(), takes: &|_| true })
}

/// Which turns become records, and what was done to them before.
pub(crate) struct Selected<'a> {
    /// What tiers made of them.
    pub(crate) pruning: &'a Pruning,
    /// Whether a turn is one of them.
    pub(crate) takes: &'a dyn Fn(usize) -> bool,
}

/// The records of some turns of `session` in `window`.
pub(crate) fn selected(
    session: &Session,
    window: Window,
    shielded: Shielded<'_>,
    scrub: Scrub,
    selected: &Selected<'_>,
) -> Vec<Record> {
    let skipped = match window {
        Window::All => 0,
        Window::BehindSystemPrompt => session.turns.iter().take_while(|turn| turn.role == Role::System).count(),
    };
    let mut names = ToolNames::default();
    session
        .turns
        .iter()
        .enumerate()
        .skip(skipped)
        .filter(|(_, turn)| !matches!(turn.role, Role::Marker(_)))
        .filter_map(|(index, turn)| {
            // Calls of turns that are left out name the tools of results that are not.
            let name = names.of(turn);
            let shield = if turn.role == Role::User { shielded.user } else { shielded.other };
            (selected.takes)(index).then(|| record(index, turn, name, shield, scrub, selected.pruning))
        })
        .collect()
}

/// For each tool turn the turn that asked, and the number of its call: the oldest open call with its id.
pub(crate) fn askers(session: &Session) -> HashMap<usize, (usize, usize)> {
    let mut open: HashMap<&str, VecDeque<(usize, usize)>> = HashMap::new();
    let mut askers = HashMap::new();
    for (index, turn) in session.turns.iter().enumerate() {
        for (place, call) in turn.calls.iter().enumerate() {
            open.entry(&call.id).or_default().push_back((index, place));
        }
        if turn.role == Role::Tool {
            let id = turn.call_id.as_deref().unwrap_or_default();
            askers.extend(open.get_mut(id).and_then(VecDeque::pop_front).map(|asker| (index, asker)));
        }
    }
    askers
}

/// The names of calls that can still be answered, by recorded id, oldest first.
#[derive(Default)]
struct ToolNames<'s> {
    open: HashMap<&'s str, VecDeque<&'s str>>,
}

impl<'s> ToolNames<'s> {
    /// Notes the calls of `turn`; on a tool turn, the name of the tool that answers.
    fn of(&mut self, turn: &'s Turn) -> &'s str {
        for call in &turn.calls {
            self.open.entry(&call.id).or_default().push_back(&call.name);
        }
        if turn.role != Role::Tool {
            return "";
        }
        let id = turn.call_id.as_deref().unwrap_or_default();
        let Some(open) = self.open.get_mut(id) else { return UNKNOWN_TOOL };
        let name = open.pop_front();
        if open.is_empty() {
            // Of the calls of a long session few are open at a time.
            self.open.remove(id);
        }
        name.unwrap_or(UNKNOWN_TOOL)
    }
}

fn record(
    index: usize,
    turn: &Turn,
    tool_name: &str,
    shield: Option<&Shield>,
    scrub: Scrub,
    pruning: &Pruning,
) -> Record {
    let mut text = flatten(index, turn);
    pruning.edit(index, &mut text);
    if let Some(shield) = shield {
        shield.apply(&mut text);
    }
    match scrub {
        Scrub::Hermes => {
            scrub_media(&mut text);
            if turn.role == Role::Assistant {
                strip_thinking(&mut text);
            }
        }
        Scrub::PythonResults if turn.role == Role::Tool => python_text::result(&mut text),
        Scrub::JsonResults if turn.role == Role::Tool => json_string(&mut text),
        Scrub::None | Scrub::PythonResults | Scrub::JsonResults => {}
    }
    Record {
        turn: index,
        role: turn.role.clone(),
        speaker: speaker(turn),
        text,
        calls: turn
            .calls
            .iter()
            .enumerate()
            .map(|(place, call)| Call {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: shielded(pruning.arguments(index, place, &call.arguments), shield),
            })
            .collect(),
        call_id: turn.call_id.clone().unwrap_or_default(),
        tool_name: tool_name.to_owned(),
        thought: turn.reasoning.as_deref().map(|thought| shielded(thought, shield)).unwrap_or_default(),
        has_reasoning: turn.reasoning.is_some(),
    }
}

fn shielded(arguments: &str, shield: Option<&Shield>) -> String {
    let Some(shield) = shield else { return arguments.to_owned() };
    let mut text = Tracked::own(arguments);
    shield.apply(&mut text);
    text.into_parts().0
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
pub(crate) fn flatten(index: usize, turn: &Turn) -> Tracked {
    let mut text = Tracked::default();
    let bytes = |part: &Part| if let Part::Text(said) = part { said.len() + 1 } else { 0 };
    text.reserve(turn.parts.iter().map(bytes).sum(), turn.parts.len());
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

/// Writes `text` as a JSON string, knowing what of it stayed as it was.
pub(crate) fn json_string(text: &mut Tracked) {
    text.rewrite(|text, written| {
        written.replace(0..0, "\"");
        // What JSON escapes is one byte each.
        for at in scan::places(text, |byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            let escape: Cow<'static, str> = match text.as_bytes()[at] {
                b'"' => "\\\"".into(),
                b'\\' => "\\\\".into(),
                b'\n' => "\\n".into(),
                b'\r' => "\\r".into(),
                b'\t' => "\\t".into(),
                8 => "\\b".into(),
                12 => "\\f".into(),
                byte => format!("\\u{byte:04x}").into(),
            };
            written.replace(at..at + 1, &escape);
        }
        written.replace(text.len()..text.len(), "\"");
    });
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
    text.rewrite(|text, covered| {
        for found in pattern.find_iter(text) {
            covered.replace(found.range(), with);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{Origin, Tracked, json_string, scrub_media, strip_thinking};

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

    #[test]
    fn json_strings_have_no_line_breaks() {
        let mut tracked = Tracked::default();
        tracked.push_copied("a\n[USER]: \"ä\"\\", Origin { turn: 0, part: 0 });
        json_string(&mut tracked);
        assert_eq!(tracked.text(), r#""a\n[USER]: \"ä\"\\""#);
    }
}
