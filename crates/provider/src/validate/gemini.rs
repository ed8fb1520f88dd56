//! What `generateContent` refuses.

use serde_json::Value;

use super::json::{self, Fields};
use super::{Broken, Rules, SignatureRule, names};

const KNOWN: &[&str] = &[
    "contents",
    "systemInstruction",
    "system_instruction",
    "generationConfig",
    "generation_config",
    "safetySettings",
    "safety_settings",
    "tools",
    "toolConfig",
    "tool_config",
    "cachedContent",
    "cached_content",
    "serviceTier",
    "store",
];
const CONFIG: &[&str] = &[
    "candidateCount",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "presencePenalty",
    "frequencyPenalty",
    "thinkingConfig",
    "responseModalities",
    "responseLogprobs",
    "logprobs",
    "mediaResolution",
    "speechConfig",
    "enableEnhancedCivicAnswers",
    "imageConfig",
];
const DATA: [&str; 5] = ["text", "functionCall", "functionResponse", "inlineData", "fileData"];
const BESIDE_DATA: [&str; 3] = ["thought", "thoughtSignature", "partMetadata"];
const MOST_OUTPUT_TOKENS: u64 = 65_536;

/// What a content is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words,
    Calls(usize),
    Results(usize),
}

pub(super) fn check(rules: &Rules, body: &Fields) -> Result<(), Broken> {
    parameters(body)?;
    let Some(contents @ [_, ..]) = json::list(body, "contents") else {
        return Broken::err("contents_empty", "there are no contents");
    };
    let contents: Vec<&Fields> = contents
        .iter()
        .enumerate()
        .map(|(index, content)| json::object(content, "parts_empty", || format!("contents[{index}]")))
        .collect::<Result<_, _>>()?;
    let last_words = contents.iter().rposition(|content| is_user(content) && has(content, "text"));
    let mut before: Option<(Kind, bool)> = None;
    for (index, content) in contents.iter().enumerate() {
        let kind = parts(index, content)?;
        place(index, content, kind, before)?;
        if let Kind::Calls(_) = kind
            && rules.signature == SignatureRule::Checked
            && last_words.is_none_or(|last| index > last)
            && !is_signed(content)
        {
            return Broken::err("thought_signature", format!("contents[{index}] has a call without a signature"));
        }
        before = Some((kind, is_user(content)));
    }
    match contents.last() {
        Some(last) if !is_user(last) => Broken::err("ends_with_model", "the last content is the model's"),
        _ => Ok(()),
    }
}

fn parameters(body: &Fields) -> Result<(), Broken> {
    json::only(body, KNOWN, "unknown_field", || "the body".to_owned())?;
    if let Some(config) = body.get("generationConfig").filter(|config| !config.is_null()) {
        let config = json::object(config, "unknown_field", || "generationConfig".to_owned())?;
        json::only(config, CONFIG, "unknown_field", || "generationConfig".to_owned())?;
        let fits = |cap: &Value| cap.as_u64().is_some_and(|cap| (1..=MOST_OUTPUT_TOKENS).contains(&cap));
        if config.get("maxOutputTokens").is_some_and(|cap| !fits(cap)) {
            return Broken::err("max_output_tokens", format!("maxOutputTokens is outside 1 to {MOST_OUTPUT_TOKENS}"));
        }
    }
    let Some(system) = body.get("systemInstruction").filter(|system| !system.is_null()) else { return Ok(()) };
    let says = |part: &Value| part.as_object().is_some_and(|part| json::says_something(part, "text"));
    match system["parts"].as_array() {
        Some(parts) if !parts.is_empty() && parts.iter().all(says) => Ok(()),
        _ => Broken::err("system_empty", "systemInstruction says nothing"),
    }
}

fn role(content: &Fields) -> &str {
    content.get("role").map_or("user", |role| role.as_str().unwrap_or_default())
}

fn is_user(content: &Fields) -> bool {
    role(content) == "user"
}

fn has(content: &Fields, key: &str) -> bool {
    json::list(content, "parts").unwrap_or_default().iter().any(|part| part.get(key).is_some())
}

fn is_signed(content: &Fields) -> bool {
    let parts = json::list(content, "parts").unwrap_or_default();
    let first = parts.iter().find(|part| part.get("functionCall").is_some());
    first.is_some_and(|part| part["thoughtSignature"].as_str().is_some_and(|signature| !signature.is_empty()))
}

/// The parts of a content, and what it is about.
fn parts(index: usize, content: &Fields) -> Result<Kind, Broken> {
    if !["user", "model"].contains(&role(content)) {
        return Broken::err(
            "role",
            format!("contents[{index}] has the unknown role \"{}\"", role(content).escape_debug()),
        );
    }
    let Some(parts @ [_, ..]) = json::list(content, "parts") else {
        return Broken::err("parts_empty", format!("contents[{index}] has no parts"));
    };
    let (mut calls, mut results) = (0, 0);
    for part in parts {
        let part = json::object(part, "part_data", || format!("a part of contents[{index}]"))?;
        self::part(index, part)?;
        calls += usize::from(part.contains_key("functionCall"));
        results += usize::from(part.contains_key("functionResponse"));
    }
    Ok(match (calls, results) {
        (0, 0) => Kind::Words,
        (0, results) => Kind::Results(results),
        (calls, _) => Kind::Calls(calls),
    })
}

fn part(index: usize, part: &Fields) -> Result<(), Broken> {
    let place = || format!("a part of contents[{index}]");
    let data: Vec<&str> = DATA.into_iter().filter(|key| part.contains_key(*key)).collect();
    let [data] = data[..] else {
        return Broken::err("part_data", format!("{} holds not exactly one thing", place()));
    };
    if data == "text" && json::text(part, "text").is_none_or(str::is_empty) {
        return Broken::err("part_data", format!("{} has empty text", place()));
    }
    let known: Vec<&str> = DATA.into_iter().chain(BESIDE_DATA).collect();
    json::only(part, &known, "unknown_field", place)?;
    let object = match data {
        "functionCall" => "args",
        "functionResponse" => "response",
        _ => return Ok(()),
    };
    let function = json::object(&part[data], "fn_name_empty", place)?;
    let name = json::text(function, "name").unwrap_or_default();
    if name.is_empty() {
        return Broken::err("fn_name_empty", format!("{} has a function without a name", place()));
    }
    if !names::is_gemini(name) {
        return Broken::err("fn_name", format!("{} has the function name \"{}\"", place(), name.escape_debug()));
    }
    if function.get(object).is_some_and(|value| !value.is_object()) {
        return Broken::err("fn_object", format!("{} has {object} that are no object", place()));
    }
    json::only(function, &["id", "name", object, "willContinue", "scheduling", "parts"], "unknown_field", place)
}

/// Whether a content may stand behind the one before it.
fn place(index: usize, content: &Fields, kind: Kind, before: Option<(Kind, bool)>) -> Result<(), Broken> {
    let asked = match before {
        Some((Kind::Calls(calls), _)) => Some(calls),
        _ => None,
    };
    match kind {
        Kind::Results(_) if has(content, "text") => {
            Broken::err("mixed_fr_text", format!("contents[{index}] has text beside results"))
        }
        Kind::Results(results) => match asked {
            None => Broken::err("fr_position", format!("contents[{index}] has results and follows no calls")),
            Some(calls) if calls != results => {
                Broken::err("fr_count", format!("contents[{index}] has {results} results for {calls} calls"))
            }
            Some(_) => Ok(()),
        },
        Kind::Calls(_) if is_user(content) => {
            Broken::err("fc_role", format!("contents[{index}] has a call of the user's"))
        }
        Kind::Calls(_) if !before.is_some_and(|(_, is_user)| is_user) => {
            Broken::err("fc_position", format!("contents[{index}] has calls and follows no user content"))
        }
        _ if asked.is_some() => {
            Broken::err("fr_missing", format!("contents[{index}] follows calls and has no results"))
        }
        Kind::Calls(_) | Kind::Words => Ok(()),
    }
}
