//! `flat-delta`: the summarizer is shown a state object beside the flattened turns and answers with a
//! change of it. `new_NAME` appends to the list NAME, `NAME` replaces it.

use laundromat_session::MessageRole;
use serde_json::{Map, Value};

use super::flat::Written;
use super::form::{Built, Material};
use crate::compactor::Refusal;

/// What opens a key that appends.
const APPENDS: &str = "new_";

pub(super) fn build(from: Material<'_>) -> Built {
    Written::of(from, &from.view.items).request(MessageRole::User)
}

/// The state before any turn: the arm's lists, empty.
pub(crate) fn empty_state(lists: &[String]) -> String {
    let state: Map<String, Value> = lists.iter().map(|list| (list.clone(), Value::Array(Vec::new()))).collect();
    Value::Object(state).to_string()
}

/// The state after `reply`.
pub(super) fn summary(from: Material<'_>, reply: &str) -> Result<String, Refusal> {
    let mut state = from.prose.state.as_deref().and_then(object).unwrap_or_default();
    let change = object(unfenced(reply)).ok_or(Refusal::NoChange)?;
    for (key, value) in change {
        if let Some(Value::Array(list)) = key.strip_prefix(APPENDS).and_then(|name| state.get_mut(name)) {
            match value {
                Value::Array(more) => list.extend(more),
                one => list.push(one),
            }
        } else if let Some(kept) = state.get_mut(&key) {
            // What the state has no place for is not kept, as with a schema.
            *kept = value;
        }
    }
    Ok(Value::Object(state).to_string())
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// The text inside a Markdown fence, where there is one.
fn unfenced(reply: &str) -> &str {
    let reply = reply.trim();
    let inside = reply.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.map_or(reply, |inside| inside.strip_prefix("json").unwrap_or(inside).trim())
}
