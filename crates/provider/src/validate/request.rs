//! The validator's front: a request's headers, its body, or both.

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{AuthRule, Broken, ParameterRule, anthropic, bedrock_converse, chat_completions, gemini, json, responses};
use crate::profile::Profile;
use crate::route::Route;

/// Checks headers and body.
///
/// # Errors
/// The first rule that is broken.
pub fn request(profile: &Profile, sent: &HeaderMap, body: &Value) -> Result<(), Broken> {
    headers(profile, sent)?;
    self::body(profile, body)
}

/// Checks the headers: credentials, and those that the destination wants beside them.
///
/// # Errors
/// The first rule that is broken.
pub fn headers(profile: &Profile, sent: &HeaderMap) -> Result<(), Broken> {
    let text = |name: &str| sent.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let bearer = text("authorization").strip_prefix("Bearer ").is_some_and(|key| !key.is_empty());
    let has_key = match profile.route {
        Route::ChatCompletions => bearer || !text("api-key").is_empty(),
        Route::Responses => bearer,
        Route::Anthropic => bearer || !text("x-api-key").is_empty(),
        Route::Gemini => !text("x-goog-api-key").is_empty() || !text("authorization").is_empty(),
        Route::BedrockConverse => !text("authorization").is_empty(),
    };
    if !has_key && profile.rules.auth == AuthRule::Required {
        return Broken::err("auth", "there is no header with a key");
    }
    match profile.route {
        Route::Anthropic if !["2023-06-01", "2026-10-21"].contains(&text("anthropic-version")) => {
            Broken::err("version", "the header anthropic-version names no known version")
        }
        Route::Responses
            if profile.rules.parameters == ParameterRule::Codex && text("chatgpt-account-id").is_empty() =>
        {
            Broken::err("account_header", "the header chatgpt-account-id is missing")
        }
        _ => Ok(()),
    }
}

/// Checks a body.
///
/// # Errors
/// The first rule that is broken.
pub fn body(profile: &Profile, body: &Value) -> Result<(), Broken> {
    let body = json::object(body, "body_type", || "the body".to_owned())?;
    match profile.route {
        Route::ChatCompletions => chat_completions::check(&profile.rules, body),
        Route::Responses => responses::check(&profile.rules, body),
        Route::Anthropic => anthropic::check(&profile.rules, body),
        Route::Gemini => gemini::check(&profile.rules, body),
        Route::BedrockConverse => bedrock_converse::check(body),
    }
}
