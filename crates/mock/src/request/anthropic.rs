//! Who says what in a Messages request.

use serde_json::Value;

use super::{Reader, Speaker, list, text};

pub(super) fn read<'a>(body: &'a Value, reader: &mut Reader<'a>) {
    if let Some(system) = text(body, "system").filter(|text| !text.is_empty()) {
        reader.turn_of(Speaker::System, system);
    }
    for block in list(body, "system") {
        if let Some(system) = text(block, "text") {
            reader.turn_of(Speaker::System, system);
        }
    }
    for message in list(body, "messages") {
        let speaker = match text(message, "role") {
            Some("user") => Speaker::User,
            _ => Speaker::Assistant,
        };
        if let Some(said) = text(message, "content") {
            reader.turn_of(speaker, said);
        }
        for block in list(message, "content") {
            self::block(block, speaker, reader);
        }
    }
}

fn block<'a>(block: &'a Value, speaker: Speaker, reader: &mut Reader<'a>) {
    match text(block, "type").unwrap_or_default() {
        "text" => {
            if let Some(said) = text(block, "text") {
                reader.turn_of(speaker, said);
            }
        }
        "tool_use" => {
            reader.turn(Speaker::Assistant);
            reader.say_any(Speaker::Assistant, text(block, "name"));
            if let Some(input) = block.get("input") {
                reader.say_all(Speaker::Assistant, input);
            }
        }
        "tool_result" => {
            reader.turn(Speaker::Tool);
            reader.say_any(Speaker::Tool, text(block, "content"));
            for part in list(block, "content") {
                reader.say_any(Speaker::Tool, text(part, "text"));
            }
        }
        "thinking" => {
            reader.turn(Speaker::Assistant);
            reader.say_any(Speaker::Assistant, text(block, "thinking"));
        }
        _ => {}
    }
}
