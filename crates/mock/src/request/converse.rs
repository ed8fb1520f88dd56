//! Who says what in a Converse request.

use serde_json::Value;

use super::{Reader, Speaker, list, text};

pub(super) fn read<'a>(body: &'a Value, reader: &mut Reader<'a>) {
    for block in list(body, "system") {
        if let Some(said) = text(block, "text") {
            reader.turn_of(Speaker::System, said);
        }
    }
    for message in list(body, "messages") {
        let speaker = match text(message, "role") {
            Some("user") => Speaker::User,
            _ => Speaker::Assistant,
        };
        for block in list(message, "content") {
            if let Some(said) = text(block, "text") {
                reader.turn_of(speaker, said);
            }
            if let Some(call) = block.get("toolUse") {
                reader.turn(Speaker::Assistant);
                reader.say_any(Speaker::Assistant, text(call, "name"));
                if let Some(input) = call.get("input") {
                    reader.say_all(Speaker::Assistant, input);
                }
            }
            if let Some(result) = block.get("toolResult") {
                reader.turn(Speaker::Tool);
                for part in list(result, "content") {
                    reader.say_any(Speaker::Tool, text(part, "text"));
                    if let Some(value) = part.get("json") {
                        reader.say_all(Speaker::Tool, value);
                    }
                }
            }
        }
    }
}
