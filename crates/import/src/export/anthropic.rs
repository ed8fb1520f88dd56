//! An Anthropic Messages request: results are blocks in the user role, one message each run of them.

use laundromat_session::{Role, Session, Turn};
use serde_json::{Map, Value, json};

use super::LeftOut;
use super::shared::{Images, arguments, content, count_annotations, put, spoken};

/// The body.
pub(super) fn request(session: &Session, left_out: &mut LeftOut) -> Value {
    left_out.add_some("titles", session.title.as_deref());
    let turns = spoken(session, left_out);
    let opening = turns.iter().take_while(|turn| turn.role == Role::System).count();
    let mut body = Map::new();
    put(&mut body, "id", Some(session.id.as_str()));
    let system: Vec<Value> = turns[..opening]
        .iter()
        .map(|turn| {
            count(turn, left_out);
            json!({"type": "text", "text": turn.text()})
        })
        .collect();
    if opening > 1 {
        left_out.add("opening system turns that are one now");
    }
    put(&mut body, "system", Some(system).filter(|system| !system.is_empty()));
    let mut messages: Vec<Value> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for turn in &turns[opening..] {
        count(turn, left_out);
        if turn.role == Role::Tool {
            results.push(result(turn, left_out));
            continue;
        }
        flush(&mut results, &mut messages);
        messages.push(match turn.role {
            Role::Assistant => json!({"role": "assistant", "content": reply(turn, left_out)}),
            // A system turn in the middle is one of a newer form of request.
            _ => json!({"role": turn.role.as_str(), "content": said(turn, left_out)}),
        });
    }
    flush(&mut results, &mut messages);
    put(&mut body, "messages", Some(messages));
    Value::Object(body)
}

fn flush(results: &mut Vec<Value>, messages: &mut Vec<Value>) {
    if !results.is_empty() {
        messages.push(json!({"role": "user", "content": std::mem::take(results)}));
    }
}

fn count(turn: &Turn, left_out: &mut LeftOut) {
    count_annotations(turn, left_out);
    left_out.add_some("times", turn.ts.as_deref());
    if turn.role != Role::Assistant {
        left_out.add_some("reasoning", turn.reasoning.as_deref());
    }
}

fn said(turn: &Turn, left_out: &mut LeftOut) -> Value {
    let images = if turn.role == Role::System { Images::Dropped } else { Images::Held };
    content(turn, images, left_out, image)
}

fn result(turn: &Turn, left_out: &mut LeftOut) -> Value {
    let id = turn.call_id.as_deref().unwrap_or_default();
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": said(turn, left_out)});
    if turn.is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

/// The blocks of a reply: thoughts, words, calls.
fn reply(turn: &Turn, left_out: &mut LeftOut) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(reasoning) = turn.reasoning.as_deref().filter(|text| !text.is_empty()) {
        blocks.push(json!({"type": "thinking", "thinking": reasoning, "signature": ""}));
    }
    match content(turn, Images::Dropped, left_out, image) {
        // A reply without a block is no reply.
        Value::String(text) if text.is_empty() && (!turn.calls.is_empty() || !blocks.is_empty()) => {}
        text => blocks.push(json!({"type": "text", "text": text})),
    }
    for call in &turn.calls {
        let input = arguments(&call.arguments, left_out);
        blocks.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    }
    blocks
}

/// An image by its address; embedded ones as what they embed.
fn image(address: &str) -> Value {
    let embedded = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match embedded {
        Some((kind, data)) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
        }
        None => json!({"type": "image", "source": {"type": "url", "url": address}}),
    }
}
