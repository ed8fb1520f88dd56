//! An Inspect log (`.eval`) with the session as its one sample.

use std::io::{Cursor, Write};

use laundromat_session::{Part, Role, Session, Turn};
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::LeftOut;
use super::shared::{Images, arguments, content, count_annotations, put, spoken};

/// What is not known of the session's time: logs have to have one, and the same session gives the same bytes.
const CREATED: &str = "2026-01-01T00:00:00+00:00";

/// The archive.
///
/// # Errors
/// Why it cannot be made.
pub(super) fn log(session: &Session, left_out: &mut LeftOut) -> Result<Vec<u8>, String> {
    left_out.add_some("titles", session.title.as_deref());
    let messages: Vec<Value> = spoken(session, left_out)
        .into_iter()
        .enumerate()
        .map(|(index, turn)| Value::Object(message(index, turn, left_out)))
        .collect();
    let model = session.origin.as_deref().unwrap_or("unknown");
    let eval = json!({
        "eval_id": session.id, "run_id": session.id, "created": CREATED, "task": session.id, "task_id": session.id,
        "task_version": 0, "task_attribs": {}, "task_args": {},
        "dataset": {"name": session.id, "samples": 1, "sample_ids": [session.id], "shuffled": false},
        "model": model, "model_args": {}, "config": {"epochs": 1}, "packages": {},
    });
    let plan = json!({"name": "plan", "steps": [], "config": {}});
    let header = json!({
        "version": 2, "status": "success", "eval": eval, "plan": plan,
        "results": {"total_samples": 1, "completed_samples": 1, "scores": []},
        "stats": {"started_at": CREATED, "completed_at": CREATED, "model_usage": {}},
    });
    let summary = json!([{"id": session.id, "epoch": 1, "input": "", "target": "", "completed": true}]);
    let sample = json!({
        "id": session.id, "epoch": 1, "input": "", "target": "", "messages": messages,
        "output": {"model": model, "choices": []}, "scores": {}, "metadata": {}, "store": {}, "events": [],
        "model_usage": {}, "attachments": {},
    });
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let name = format!("samples/{}_epoch_1.json", session.id);
    for (name, value) in [
        ("_journal/start.json", &json!({"version": 2, "eval": eval, "plan": plan})),
        (&name, &sample),
        ("summaries.json", &summary),
        ("header.json", &header),
    ] {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file(name, options).map_err(|error| error.to_string())?;
        let text = serde_json::to_vec(value).map_err(|error| error.to_string())?;
        archive.write_all(&text).map_err(|error| error.to_string())?;
    }
    Ok(archive.finish().map_err(|error| error.to_string())?.into_inner())
}

fn message(index: usize, turn: &Turn, left_out: &mut LeftOut) -> Map<String, Value> {
    count_annotations(turn, left_out);
    left_out.add_some("times", turn.ts.as_deref());
    let mut message = Map::new();
    put(&mut message, "id", Some(format!("m{}", index + 1)));
    put(&mut message, "role", Some(turn.role.as_str()));
    put(&mut message, "content", Some(said(turn, left_out)));
    match turn.role {
        Role::User if turn.is_genuine_user() => put(&mut message, "source", Some("input")),
        Role::Assistant => {
            put(&mut message, "source", Some("generate"));
            let calls: Vec<Value> = turn
                .calls
                .iter()
                .map(|call| {
                    let arguments = arguments(&call.arguments, left_out);
                    json!({"id": call.id, "function": call.name, "arguments": arguments, "type": "function"})
                })
                .collect();
            put(&mut message, "tool_calls", Some(calls).filter(|calls| !calls.is_empty()));
        }
        Role::Tool => {
            put(&mut message, "tool_call_id", turn.call_id.as_deref());
            put(&mut message, "error", turn.is_error.then(|| json!({"type": "unknown", "message": ""})));
        }
        _ => {}
    }
    message
}

/// The content, with the thoughts of a reply as its first part.
fn said(turn: &Turn, left_out: &mut LeftOut) -> Value {
    let said = content(turn, Images::Held, left_out, |address| json!({"type": "image", "image": address}));
    let Some(reasoning) = turn.reasoning.as_deref().filter(|text| !text.is_empty()) else { return said };
    if turn.role != Role::Assistant {
        left_out.add("reasoning");
        return said;
    }
    let mut parts = vec![json!({"type": "reasoning", "reasoning": reasoning})];
    match said {
        Value::Array(more) => parts.extend(more),
        _ if !turn.parts.iter().any(|part| matches!(part, Part::Text(_))) => {}
        text => parts.push(json!({"type": "text", "text": text})),
    }
    Value::Array(parts)
}
