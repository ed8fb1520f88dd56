//! The lists of models, in the forms of the providers that have one.

use serde_json::{Value, json};

use crate::answer::CREATED;

/// Whose form a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListForm {
    OpenAi,
    Anthropic,
    Google,
}

/// The models of a script; any name goes where it names none.
pub(crate) fn all(names: &[String], form: ListForm) -> Value {
    let placeholder = ["mock-model".to_owned()];
    let names = if names.is_empty() { &placeholder[..] } else { names };
    let entries: Vec<Value> = names.iter().map(|name| one(name, form)).collect();
    match form {
        ListForm::OpenAi => json!({"object": "list", "data": entries}),
        ListForm::Anthropic => json!({
            "data": entries, "has_more": false, "first_id": names.first(), "last_id": names.last(),
        }),
        ListForm::Google => json!({"models": entries}),
    }
}

/// One model.
pub(crate) fn one(name: &str, form: ListForm) -> Value {
    match form {
        ListForm::OpenAi => {
            json!({"id": name, "object": "model", "created": CREATED, "owned_by": "laundromat-mock"})
        }
        ListForm::Anthropic => {
            json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-09-21T00:00:00Z"})
        }
        ListForm::Google => json!({
            "name": format!("models/{name}"), "version": "001", "displayName": name, "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent"],
        }),
    }
}
