//! What is new in a context: the summary as the agent gets it, the harness's own wrapping included.
//!
//! A message of the session is not new, whole or cut, as long as its role is the same: a tool's words that turn
//! up as a user's are new, whoever wrote them first. A tool's result is not new, whatever it says: it stays one by
//! its role. Where a harness joined its summary to a message it kept, only the summary counts.

use laundromat_session::{Role, Session};
use serde_json::Value;

/// Kept text this short may as well stand in a summary by chance.
const SHORTEST_JOINED: usize = 40;

/// What a context holds beside the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    /// New text.
    Text(String),
    /// Nothing, and every message of the session is still there.
    Nothing,
    /// Nothing, and messages are gone.
    OnlyLosses,
}

/// What is new in `context`.
pub(super) fn news(context: &[Value], session: &Session) -> News {
    let turns = session.turns.iter().filter(|turn| !matches!(turn.role, Role::Marker(_)));
    let kept: Vec<(&str, String)> = turns
        .map(|turn| (turn.role.as_str(), turn.text().trim().to_owned()))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let texts: Vec<(&str, String)> = context.iter().map(|message| (role(message), text(message))).collect();
    let new: Vec<String> = texts
        .iter()
        .filter(|(role, text)| *role != "tool" && !is_kept(role, text, &kept))
        .map(|(_, text)| without_joined(text, session))
        .filter(|text| !text.is_empty())
        .collect();
    if !new.is_empty() {
        return News::Text(new.join("\n\n"));
    }
    let all_there = kept.iter().all(|kept| texts.contains(kept));
    if all_there { News::Nothing } else { News::OnlyLosses }
}

/// Whether a text is one of the session's in its own role, whole or cut.
fn is_kept(role: &str, text: &str, kept: &[(&str, String)]) -> bool {
    text.is_empty() || kept.iter().any(|(whose, kept)| *whose == role && kept.contains(text))
}

/// A chat message's role, by the name that sessions have for it.
pub(super) fn role(message: &Value) -> &str {
    match message.get("role").and_then(Value::as_str).unwrap_or_default() {
        "developer" => "system",
        "function" => "tool",
        role => role,
    }
}

/// A new text without a person's or the model's own message at its beginning or end. A tool's words are not
/// taken off: a summary that quotes them is what is measured.
fn without_joined(text: &str, session: &Session) -> String {
    let mut rest = text;
    let spoken = session.turns.iter().filter(|turn| matches!(turn.role, Role::User | Role::Assistant | Role::System));
    for turn in spoken {
        let kept = turn.text();
        let kept = kept.trim();
        if kept.chars().count() >= SHORTEST_JOINED {
            rest = rest.strip_suffix(kept).unwrap_or(rest).trim();
            rest = rest.strip_prefix(kept).unwrap_or(rest).trim();
        }
    }
    rest.to_owned()
}

/// The visible text of a chat message.
pub(super) fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Array(parts)) => {
            let texts =
                parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text").and_then(Value::as_str)));
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Role, Session, Turn};
    use serde_json::json;

    use super::{News, news};

    const REQUEST: &str = "please mend the build and tell me which of the steps fails";

    fn session() -> Session {
        let tool = Turn { call_id: Some("c".to_owned()), ..Turn::text_of(Role::Tool, "a long result of a tool") };
        let turns = vec![Turn::text_of(Role::System, "be brief"), Turn::text_of(Role::User, REQUEST), tool];
        Session { id: "s".to_owned(), title: None, origin: None, turns }
    }

    fn told(context: &serde_json::Value) -> News {
        news(context.as_array().expect("a list"), &session())
    }

    #[test]
    fn new_messages_are_the_summary_with_their_wrapping() {
        let context = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "For context:"}, {"type": "text", "text": "it failed"}]},
            {"role": "user", "content": REQUEST},
        ]);
        assert_eq!(told(&context), News::Text("For context:\nit failed".to_owned()));
        let joined = json!([{"role": "user", "content": format!("SUMMARY\n\n{REQUEST}")}]);
        assert_eq!(told(&joined), News::Text("SUMMARY".to_owned()));
    }

    #[test]
    fn cut_messages_and_tool_results_are_no_summary() {
        let context = json!([
            {"role": "user", "content": REQUEST},
            {"role": "assistant", "content": null},
            {"role": "user", "content": "please mend the build"},
            {"role": "tool", "content": "a long [clamped] tool"},
        ]);
        assert_eq!(told(&context), News::OnlyLosses);
    }

    #[test]
    fn a_tools_words_in_another_role_are_new() {
        let context = json!([{"role": "user", "content": REQUEST}, {"role": "user", "content": "long result"}]);
        assert_eq!(told(&context), News::Text("long result".to_owned()));
    }

    #[test]
    fn an_unchanged_context_is_nothing() {
        let context = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": REQUEST},
            {"role": "tool", "content": "a long result of a tool"},
        ]);
        assert_eq!(told(&context), News::Nothing);
        assert_eq!(told(&json!([])), News::OnlyLosses);
    }
}
