//! Who says what in a Responses request.

use serde_json::Value;

use super::{Reader, Speaker, list, text};

pub(super) fn read<'a>(body: &'a Value, reader: &mut Reader<'a>) {
    if let Some(instructions) = text(body, "instructions").filter(|text| !text.is_empty()) {
        reader.turn_of(Speaker::System, instructions);
    }
    if let Some(input) = text(body, "input") {
        reader.turn_of(Speaker::User, input);
    }
    for item in list(body, "input") {
        match text(item, "type").unwrap_or("message") {
            "message" => {
                let speaker = match text(item, "role") {
                    Some("user") => Speaker::User,
                    Some("assistant") => Speaker::Assistant,
                    _ => Speaker::System,
                };
                reader.turn(speaker);
                reader.say_any(speaker, text(item, "content"));
                for part in list(item, "content") {
                    reader.say_any(speaker, text(part, "text").or_else(|| text(part, "refusal")));
                }
            }
            "function_call" => {
                reader.turn(Speaker::Assistant);
                reader.say_any(Speaker::Assistant, text(item, "name"));
                reader.say_any(Speaker::Assistant, text(item, "arguments"));
            }
            "function_call_output" => {
                reader.turn(Speaker::Tool);
                reader.say_any(Speaker::Tool, text(item, "output"));
                for part in list(item, "output") {
                    reader.say_any(Speaker::Tool, text(part, "text"));
                }
            }
            // Recorded reasoning is sealed; nothing of it can be read here.
            _ => reader.turn(Speaker::Assistant),
        }
    }
}
