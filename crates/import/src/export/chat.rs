//! OpenAI Chat Completions: a request body with the messages, and id and title beside them.

use laundromat_session::{Role, Session, Turn};
use serde_json::{Map, Value, json};

use super::LeftOut;
use super::shared::{Images, content, count_annotations, put, spoken};

/// The body.
pub(super) fn request(session: &Session, left_out: &mut LeftOut) -> Value {
    let messages: Vec<Value> =
        spoken(session, left_out).into_iter().map(|turn| Value::Object(message(turn, left_out))).collect();
    let mut body = Map::new();
    put(&mut body, "id", Some(session.id.as_str()));
    put(&mut body, "title", session.title.as_deref());
    put(&mut body, "messages", Some(messages));
    Value::Object(body)
}

fn message(turn: &Turn, left_out: &mut LeftOut) -> Map<String, Value> {
    count_annotations(turn, left_out);
    left_out.add_some("times", turn.ts.as_deref());
    let images = if turn.role == Role::User { Images::Held } else { Images::Dropped };
    let said = content(turn, images, left_out, |url| json!({"type": "image_url", "image_url": {"url": url}}));
    let mut message = Map::new();
    put(&mut message, "role", Some(turn.role.as_str()));
    // A reply that only calls has no content.
    let silent = turn.parts.is_empty() && !turn.calls.is_empty();
    put(&mut message, "content", Some(if silent { Value::Null } else { said }));
    match turn.role {
        Role::Assistant => {
            put(&mut message, "reasoning_content", turn.reasoning.as_deref());
            let calls: Vec<Value> = turn
                .calls
                .iter()
                .map(|call| {
                    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
                })
                .collect();
            put(&mut message, "tool_calls", Some(calls).filter(|calls| !calls.is_empty()));
        }
        Role::Tool => {
            if turn.is_error {
                left_out.add("marks of failed results");
            }
            // Chat wants one.
            put(&mut message, "tool_call_id", Some(turn.call_id.as_deref().unwrap_or_default()));
            left_out.add_some("reasoning", turn.reasoning.as_deref());
        }
        _ => left_out.add_some("reasoning", turn.reasoning.as_deref()),
    }
    message
}
