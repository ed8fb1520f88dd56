//! Calls and tools as the routes share them.

use laundromat_session::Message;
use serde::Serialize;
use serde_json::value::RawValue;

/// What a declared tool says of itself.
pub(super) const STUB: &str = "Recorded tool; not available now.";

/// The names of all calls, each once, in order of first use.
pub(super) fn used(messages: &[Message]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for call in messages.iter().flat_map(|message| &message.calls) {
        if !names.contains(&call.name.as_str()) {
            names.push(&call.name);
        }
    }
    names
}

/// Arguments on routes that take an object: the recorded text of one, byte for byte. Text that is no
/// JSON goes out as text, which the validator refuses by its rule.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Arguments<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

impl<'a> From<&'a str> for Arguments<'a> {
    fn from(arguments: &'a str) -> Self {
        serde_json::from_str(arguments).map_or(Self::Text(arguments), Self::Json)
    }
}

/// An empty JSON object.
#[derive(Serialize)]
pub(super) struct Empty {}

/// The schema of a tool that takes anything.
#[derive(Serialize)]
pub(super) struct AnyObject {
    pub(super) r#type: &'static str,
}

impl AnyObject {
    pub(super) const SCHEMA: Self = Self { r#type: "object" };
}
