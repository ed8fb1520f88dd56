//! An ATIF trajectory: results are observations inside the step that called.

use laundromat_session::{Role, Session, Turn};
use serde_json::{Map, Value, json};

use super::LeftOut;
use super::shared::{Images, arguments, content, count_annotations, put, spoken};

/// The version that is written: all that is needed is in it.
const VERSION: &str = "ATIF-v1.4";

/// The trajectory.
pub(super) fn trajectory(session: &Session, left_out: &mut LeftOut) -> Value {
    left_out.add_some("titles", session.title.as_deref());
    let mut steps: Vec<Map<String, Value>> = Vec::new();
    for turn in spoken(session, left_out) {
        count_annotations(turn, left_out);
        if turn.role == Role::Tool {
            let result = result(turn, left_out);
            observe(&mut steps, result, left_out);
        } else {
            steps.push(step(turn, left_out));
        }
    }
    for (index, step) in steps.iter_mut().enumerate() {
        step.insert("step_id".to_owned(), Value::from(index + 1));
    }
    json!({
        "schema_version": VERSION,
        "session_id": session.id,
        "agent": {"name": session.origin.as_deref().unwrap_or("unknown"), "version": "unknown"},
        "steps": steps,
    })
}

fn step(turn: &Turn, left_out: &mut LeftOut) -> Map<String, Value> {
    let mut step = Map::new();
    // In front, since it is what people look for first.
    put(&mut step, "step_id", Some(0));
    put(&mut step, "timestamp", turn.ts.as_deref().filter(|ts| is_iso(ts)));
    left_out.add_some("times that are not ISO 8601", turn.ts.as_deref().filter(|ts| !is_iso(ts)));
    let source = match turn.role {
        Role::Assistant => "agent",
        Role::System => "system",
        _ => "user",
    };
    put(&mut step, "source", Some(source));
    put(&mut step, "message", Some(content(turn, Images::Dropped, left_out, |_| Value::Null)));
    if turn.role != Role::Assistant {
        left_out.add_some("reasoning", turn.reasoning.as_deref());
        return step;
    }
    put(&mut step, "reasoning_content", turn.reasoning.as_deref());
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .map(|call| {
            let arguments = arguments(&call.arguments, left_out);
            json!({"tool_call_id": call.id, "function_name": call.name, "arguments": arguments})
        })
        .collect();
    put(&mut step, "tool_calls", Some(calls).filter(|calls| !calls.is_empty()));
    step
}

fn result(turn: &Turn, left_out: &mut LeftOut) -> Value {
    if turn.is_error {
        left_out.add("marks of failed results");
    }
    left_out.add_some("times of results", turn.ts.as_deref());
    left_out.add_some("reasoning", turn.reasoning.as_deref());
    json!({"source_call_id": turn.call_id, "content": content(turn, Images::Dropped, left_out, |_| Value::Null)})
}

/// Puts a result into the step before it. Where that is not an agent's, the result gets a step of its own,
/// since an observation of the system's is something else.
fn observe(steps: &mut Vec<Map<String, Value>>, result: Value, left_out: &mut LeftOut) {
    let called = steps.last().is_some_and(|step| step.get("source").is_some_and(|source| source == "agent"));
    if !called {
        left_out.add("results without a reply before them, put into an empty one");
        let mut step = Map::new();
        put(&mut step, "step_id", Some(0));
        put(&mut step, "source", Some("agent"));
        put(&mut step, "message", Some(""));
        steps.push(step);
    }
    if let Some(step) = steps.last_mut() {
        let observation = step.entry("observation").or_insert_with(|| json!({"results": []}));
        if let Some(results) = observation["results"].as_array_mut() {
            results.push(result);
        }
    }
}

/// Whether a time begins like `2026-01-05T10:00:00`.
fn is_iso(ts: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let head = ts.as_bytes().get(..FORM.len());
    head.is_some_and(|head| {
        head.iter().zip(FORM).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form })
    })
}
