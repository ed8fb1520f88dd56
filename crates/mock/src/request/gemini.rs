//! Who says what in a generateContent request.

use serde_json::Value;

use super::{Reader, Speaker, list, text};

pub(super) fn read<'a>(body: &'a Value, reader: &mut Reader<'a>) {
    if let Some(system) = body.get("systemInstruction").or_else(|| body.get("system_instruction")) {
        for part in list(system, "parts") {
            if let Some(said) = text(part, "text") {
                reader.turn_of(Speaker::System, said);
            }
        }
    }
    for content in list(body, "contents") {
        let speaker = match text(content, "role") {
            Some("model") => Speaker::Assistant,
            _ => Speaker::User,
        };
        for part in list(content, "parts") {
            if let Some(said) = text(part, "text") {
                reader.turn_of(speaker, said);
            }
            if let Some(call) = part.get("functionCall") {
                function(call, "args", Speaker::Assistant, reader);
            }
            if let Some(response) = part.get("functionResponse") {
                function(response, "response", Speaker::Tool, reader);
            }
        }
    }
}

fn function<'a>(function: &'a Value, object: &str, speaker: Speaker, reader: &mut Reader<'a>) {
    reader.turn(speaker);
    reader.say_any(speaker, text(function, "name"));
    if let Some(object) = function.get(object) {
        reader.say_all(speaker, object);
    }
}
