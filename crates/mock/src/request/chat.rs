//! Who says what in a chat-completions request.

use serde_json::Value;

use super::{Reader, Speaker, list, text};

pub(super) fn read<'a>(body: &'a Value, reader: &mut Reader<'a>) {
    let messages = list(body, "messages");
    reader.texts.reserve(messages.len());
    for message in messages {
        let speaker = match text(message, "role") {
            Some("system" | "developer") => Speaker::System,
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            _ => Speaker::Tool,
        };
        reader.turn(speaker);
        reader.say_any(speaker, text(message, "content"));
        for part in list(message, "content") {
            reader.say_any(speaker, text(part, "text"));
        }
        reader.say_any(speaker, text(message, "reasoning_content"));
        for function in list(message, "tool_calls").iter().filter_map(|call| call.get("function")) {
            reader.say_any(speaker, text(function, "name"));
            reader.say_any(speaker, text(function, "arguments"));
        }
    }
}
