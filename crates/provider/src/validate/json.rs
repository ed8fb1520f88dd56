//! Looking into a body without trusting its types.

use laundromat_session::normal_form::is_blank;
use serde_json::{Map, Value};

use super::Broken;

/// The fields of an object.
pub(super) type Fields = Map<String, Value>;

/// `value` as an object, or the failure of `rule`.
pub(super) fn object<'v>(
    value: &'v Value,
    rule: &'static str,
    place: impl Fn() -> String,
) -> Result<&'v Fields, Broken> {
    value.as_object().map_or_else(|| Broken::err(rule, format!("{} is not an object", place())), Ok)
}

/// The list at `key`, where there is one.
pub(super) fn list<'v>(fields: &'v Fields, key: &str) -> Option<&'v [Value]> {
    fields.get(key).and_then(Value::as_array).map(Vec::as_slice)
}

/// The text at `key`, where there is one.
pub(super) fn text<'v>(fields: &'v Fields, key: &str) -> Option<&'v str> {
    fields.get(key).and_then(Value::as_str)
}

/// Whether there is text at `key` that is more than white space.
pub(super) fn says_something(fields: &Fields, key: &str) -> bool {
    text(fields, key).is_some_and(|text| !is_blank(text))
}

/// Refuses fields that are not `known`.
pub(super) fn only(
    fields: &Fields,
    known: &[&str],
    rule: &'static str,
    place: impl Fn() -> String,
) -> Result<(), Broken> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Broken::err(rule, format!("{} has the unknown field \"{}\"", place(), key.escape_debug())),
        None => Ok(()),
    }
}
