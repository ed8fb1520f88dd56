//! What a request is refused for. Pure: a body and a [`Dialect`] in, the first violation out.
//!
//! The ids are those of the wire notes; each route has a file of its own here. The order of the checks is part of
//! the behaviour: a body with two faults is refused for the one that real servers look at first.

mod anthropic;
mod chat;
mod conversation;
mod converse;
mod gemini;
pub(crate) mod key;
mod responses;

use serde_json::{Map, Value};

use crate::profile::Dialect;
use crate::route::Route;
use crate::violation::Violation;

/// Checks a request's body.
///
/// # Errors
/// The first rule that the body breaks in `dialect`.
pub fn check(body: &Value, dialect: Dialect) -> Result<(), Violation> {
    let Some(fields) = body.as_object() else {
        return refuse(400, "body_type", "the request body must be a JSON object");
    };
    match dialect.route {
        Route::Chat | Route::Azure => chat::check(fields, dialect),
        Route::Responses | Route::Codex => responses::check(fields, dialect),
        Route::Anthropic => anthropic::check(fields, dialect),
        Route::Gemini => gemini::check(fields, dialect.profile),
        Route::Converse => converse::check(fields),
    }
}

fn refuse<T>(status: u16, rule: &'static str, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(status, rule, message))
}

/// A field that is none of `known`.
fn unknown_field<'a>(fields: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    fields.keys().map(String::as_str).find(|key| !known.contains(key))
}

/// A member that is text.
fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// A member that is a list; an empty one where there is none.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether there is nothing to read in a member.
fn is_blank(value: &Value, field: &str) -> bool {
    text(value, field).is_none_or(|text| text.trim().is_empty())
}

/// Whether `text` has 1 to `longest` characters, all ASCII letters, digits or of `more`.
fn is_plain(text: &str, more: &[u8], longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
}
