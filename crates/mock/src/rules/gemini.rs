//! What a generateContent request is refused for.

use serde_json::{Map, Value};

use super::{is_blank, list, refuse, text, unknown_field};
use crate::profile::Profile;
use crate::violation::Violation;

const FIELDS: &[&str] = &[
    "cachedContent",
    "cached_content",
    "contents",
    "generationConfig",
    "generation_config",
    "safetySettings",
    "safety_settings",
    "serviceTier",
    "store",
    "systemInstruction",
    "system_instruction",
    "toolConfig",
    "tool_config",
    "tools",
];

const CONFIG_FIELDS: &[&str] = &[
    "candidateCount",
    "enableEnhancedCivicAnswers",
    "frequencyPenalty",
    "imageConfig",
    "logprobs",
    "maxOutputTokens",
    "mediaResolution",
    "presencePenalty",
    "responseJsonSchema",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "speechConfig",
    "stopSequences",
    "temperature",
    "thinkingConfig",
    "topK",
    "topP",
];

/// What a part may hold; exactly one of them.
const DATA: &[&str] = &["text", "functionCall", "functionResponse", "inlineData", "fileData"];
/// What may stand beside it.
const BESIDE_DATA: &[&str] = &["thought", "thoughtSignature", "partMetadata"];
const LONGEST_NAME: usize = 64;
const MOST_OUTPUT: u64 = 65_536;

pub(super) fn check(fields: &Map<String, Value>, profile: Profile) -> Result<(), Violation> {
    if let Some(key) = unknown_field(fields, FIELDS) {
        let message = format!("Invalid JSON payload received. Unknown name \"{key}\": Cannot find field.");
        return refuse(400, "unknown_field", message);
    }
    config(fields)?;
    let contents = match fields.get("contents").and_then(Value::as_array) {
        Some(contents) if !contents.is_empty() => contents,
        _ => {
            let message = "GenerateContentRequest.contents: contents is not specified";
            return refuse(400, "contents_empty", message);
        }
    };
    system(fields)?;
    Walk { contents, profile, last_user_text: last_user_text(contents), previous: None }.whole()
}

fn config(fields: &Map<String, Value>) -> Result<(), Violation> {
    let config = match fields.get("generationConfig") {
        Some(Value::Object(config)) => config,
        None | Some(Value::Null) => return Ok(()),
        Some(_) => return refuse(400, "unknown_field", "Invalid value at 'generation_config': expected an object"),
    };
    if let Some(key) = unknown_field(config, CONFIG_FIELDS) {
        let message =
            format!("Invalid JSON payload received. Unknown name \"{key}\" at 'generation_config': Cannot find field.");
        return refuse(400, "unknown_field", message);
    }
    match config.get("maxOutputTokens") {
        Some(cap) if !cap.as_u64().is_some_and(|cap| (1..=MOST_OUTPUT).contains(&cap)) => refuse(
            400,
            "max_output_tokens",
            "maxOutputTokens is out of range: supported range is from 1 (inclusive) to 65537 (exclusive)",
        ),
        _ => Ok(()),
    }
}

fn system(fields: &Map<String, Value>) -> Result<(), Violation> {
    let Some(system) = fields.get("systemInstruction").filter(|system| !system.is_null()) else {
        return Ok(());
    };
    let parts = list(system, "parts");
    match parts.is_empty() || parts.iter().any(|part| is_blank(part, "text")) {
        true => refuse(
            400,
            "system_empty",
            "systemInstruction.parts: required oneof field 'data' must have one initialized field",
        ),
        false => Ok(()),
    }
}

/// Who speaks; a content without a role is the user's.
fn role(content: &Value) -> &str {
    content.get("role").map_or("user", |role| role.as_str().unwrap_or_default())
}

fn holds(content: &Value, data: &str) -> bool {
    list(content, "parts").iter().any(|part| part.get(data).is_some())
}

/// The turn that is under way begins at the last text of the user's.
fn last_user_text(contents: &[Value]) -> Option<usize> {
    contents.iter().rposition(|content| role(content) == "user" && holds(content, "text"))
}

/// What a content is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    Response,
    Text,
}

struct Walk<'a> {
    contents: &'a [Value],
    profile: Profile,
    last_user_text: Option<usize>,
    previous: Option<Kind>,
}

impl Walk<'_> {
    fn whole(mut self) -> Result<(), Violation> {
        for (at, content) in self.contents.iter().enumerate() {
            self.content(at, content)?;
        }
        match self.contents.last().map(role) {
            Some("model") => refuse(400, "ends_with_model", "Requests ending with a model turn are not supported."),
            _ => Ok(()),
        }
    }

    fn content(&mut self, at: usize, content: &Value) -> Result<(), Violation> {
        if !matches!(role(content), "user" | "model") {
            return refuse(400, "role", "Please use a valid role: user, model.");
        }
        if list(content, "parts").is_empty() {
            let message = format!("GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.");
            return refuse(400, "parts_empty", message);
        }
        for value in list(content, "parts") {
            part(at, value)?;
        }
        let kind = match content {
            _ if holds(content, "functionCall") => Kind::Call,
            _ if holds(content, "functionResponse") => Kind::Response,
            _ => Kind::Text,
        };
        match kind {
            Kind::Call => self.call(at, content)?,
            Kind::Response => self.response(at, content)?,
            Kind::Text => {}
        }
        if kind != Kind::Response && self.previous == Some(Kind::Call) {
            return refuse(400, "fr_missing", RESPONSES);
        }
        self.previous = Some(kind);
        Ok(())
    }

    fn call(&self, at: usize, content: &Value) -> Result<(), Violation> {
        if content.get("role").is_none_or(|role| role != "model") {
            return refuse(400, "fc_role", "function call must come from the model role");
        }
        if at == 0 || role(&self.contents[at - 1]) != "user" {
            return refuse(
                400,
                "fc_position",
                "Please ensure that function call turn comes immediately after a user turn or after a function \
                 response turn.",
            );
        }
        let signed = list(content, "parts")
            .iter()
            .find(|part| part.get("functionCall").is_some())
            .is_some_and(|part| text(part, "thoughtSignature").is_some_and(|signature| !signature.is_empty()));
        let under_way = self.last_user_text.is_none_or(|last| at > last);
        match self.profile == Profile::Gemini3 && under_way && !signed {
            true => {
                refuse(400, "thought_signature", "Function call is missing a thought_signature in functionCall parts.")
            }
            false => Ok(()),
        }
    }

    fn response(&self, at: usize, content: &Value) -> Result<(), Violation> {
        if holds(content, "text") {
            return refuse(400, "mixed_fr_text", "function response turn must hold only function responses");
        }
        if self.previous != Some(Kind::Call) {
            return refuse(
                400,
                "fr_position",
                "Please ensure that function response turn comes immediately after a function call turn.",
            );
        }
        let count = |content, data| list(content, "parts").iter().filter(|part| part.get(data).is_some()).count();
        match count(&self.contents[at - 1], "functionCall") == count(content, "functionResponse") {
            true => Ok(()),
            false => refuse(400, "fr_count", RESPONSES),
        }
    }
}

const RESPONSES: &str = "Please ensure that the number of function response parts is equal to the number of function \
                         call parts of the function call turn.";

fn part(at: usize, part: &Value) -> Result<(), Violation> {
    let Some(fields) = part.as_object() else {
        return refuse(400, "part_data", format!("contents[{at}].parts: must be objects"));
    };
    let mut data = DATA.iter().filter(|data| fields.contains_key(**data));
    if data.next().is_none() || data.next().is_some() || fields.get("text").is_some_and(|text| text == "") {
        let message = format!("contents[{at}].parts: required oneof field 'data' must have one initialized field");
        return refuse(400, "part_data", message);
    }
    let known = |key: &&String| DATA.contains(&key.as_str()) || BESIDE_DATA.contains(&key.as_str());
    if let Some(key) = fields.keys().find(|key| !known(key)) {
        let message = format!("Unknown name \"{key}\" at 'contents[{at}].parts': Cannot find field.");
        return refuse(400, "unknown_field", message);
    }
    function(fields, "functionCall", "args")?;
    function(fields, "functionResponse", "response")
}

/// A call or a response: its name, and the object that comes with it.
fn function(fields: &Map<String, Value>, data: &str, object: &str) -> Result<(), Violation> {
    let Some(function) = fields.get(data) else {
        return Ok(());
    };
    let name = text(function, "name").unwrap_or_default();
    if name.is_empty() {
        return refuse(400, "fn_name_empty", format!("{data}.name: Name cannot be empty."));
    }
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if !begins || !super::is_plain(name, b"_.:-", LONGEST_NAME) {
        let message = "Invalid function name. Must start with a letter or an underscore.";
        return refuse(400, "fn_name", message);
    }
    if function.get(object).is_some_and(|value| !value.is_object()) {
        let message = format!("Invalid value at '{data}.{object}' (type.googleapis.com/google.protobuf.Struct)");
        return refuse(400, "fn_object", message);
    }
    let known = ["id", "name", object, "willContinue", "scheduling", "parts"];
    match function.as_object().and_then(|function| unknown_field(function, &known)) {
        Some(_) => refuse(400, "unknown_field", "Cannot find field."),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::{Dialect, Profile};
    use crate::route::Route;
    use crate::rules::check;

    fn rule(body: &Value, profile: Profile) -> &'static str {
        check(body, Dialect::new(Route::Gemini, profile)).err().map_or("accepted", |violation| violation.rule)
    }

    fn user(part: &Value) -> Value {
        json!({"role": "user", "parts": [part]})
    }

    #[test]
    fn shapes_that_no_vector_covers() {
        let text = user(&json!({"text": "x"}));
        let call = json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]});
        for (body, expected) in [
            (json!({"contents": [text], "model": "m"}), "unknown_field"),
            (json!({"contents": [{"parts": [{"text": "x"}]}]}), "accepted"),
            (json!({"contents": [text], "generationConfig": {"maxOutputTokens": 0}}), "max_output_tokens"),
            (json!({"contents": [text], "generationConfig": "warm"}), "unknown_field"),
            (json!({"contents": [user(&json!({"text": "x", "thoughtsign": "y"}))]}), "unknown_field"),
            (json!({"contents": [user(&json!({"text": "x", "functionCall": {"name": "f"}}))]}), "part_data"),
            (json!({"contents": [text, user(&json!({"functionCall": {"name": "f"}}))]}), "fc_role"),
            (
                json!({"contents": [text, {"role": "model", "parts": [{"functionCall": {"name": "f", "arg": 1}}]}]}),
                "unknown_field",
            ),
            (json!({"contents": [text, call, text]}), "fr_missing"),
            (json!({"contents": [text, text]}), "accepted"),
        ] {
            assert_eq!(rule(&body, Profile::Gemini2), expected, "{body}");
        }
    }

    #[test]
    fn a_signature_is_asked_for_only_after_the_last_text_of_the_user() {
        let call = json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]});
        let response = user(&json!({"functionResponse": {"name": "f", "response": {}}}));
        let text = user(&json!({"text": "x"}));
        let under_way = json!({"contents": [text, call, response]});
        assert_eq!(rule(&under_way, Profile::Gemini3), "thought_signature");
        assert_eq!(rule(&under_way, Profile::Gemini2), "accepted");
        assert_eq!(rule(&json!({"contents": [text, call, response, text]}), Profile::Gemini3), "accepted");
    }
}
