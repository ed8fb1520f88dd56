//! Hard inputs: what readers are known to trip over, with the turns that have to come out.

use std::path::{Path, PathBuf};

use laundromat_import::{Imported, read_path};
use laundromat_session::{Call, Counts, Role, Turn, canonical};
use serde_json::{Value, json};

/// The fixtures of this crate, and the shared ones where they are at hand.
fn folders() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = crate_folder.join("../../../shared/sessions-tricky");
    let mut folders = vec![crate_folder.join("tests/fixtures/tricky")];
    if shared.is_dir() {
        folders.push(shared);
    } else {
        println!("skipped: {} not found", shared.display());
    }
    folders
}

/// A call as the expected files have it: no id is null, empty arguments are none, broken ones are raw.
fn call(call: &Call) -> Value {
    let arguments = match serde_json::from_str::<Value>(&call.arguments) {
        Ok(value) if value.is_object() => value,
        _ if call.arguments.is_empty() => json!({}),
        _ => json!({"_raw": call.arguments}),
    };
    let id = if call.id.is_empty() { Value::Null } else { json!(call.id) };
    json!({"id": id, "name": call.name, "arguments": arguments})
}

fn compare(file: &str, turn: &Turn, wanted: &Value) {
    let text = |key: &str| wanted[key].as_str();
    if let Role::Marker(_) = turn.role {
        assert_eq!((text("role"), text("text")), (Some("marker"), Some(turn.text().as_ref())), "{file}: {turn:?}");
        return;
    }
    assert_eq!(Some(turn.role.as_str()), text("role"), "{file}: {turn:?}");
    assert_eq!(Some(turn.text().as_ref()), text("text"), "{file}: {turn:?}");
    assert_eq!(turn.call_id.as_deref(), text("tool_call_id"), "{file}: {turn:?}");
    assert_eq!(turn.reasoning.as_deref(), text("reasoning"), "{file}: {turn:?}");
    assert_eq!(turn.synthetic.is_some(), wanted["synthetic"].is_string(), "{file}: {turn:?}");
    assert_eq!(turn.is_error, wanted["is_error"] == true, "{file}: {turn:?}");
    assert_eq!(u64::from(turn.image_count()), wanted["images"].as_u64().unwrap_or_default(), "{file}: {turn:?}");
    let calls: Vec<Value> = turn.calls.iter().map(call).collect();
    let wanted_calls = wanted["tool_calls"].as_array().cloned().unwrap_or_default();
    assert_eq!(calls, wanted_calls, "{file}: {turn:?}");
}

/// A file that is in all folders.
fn check(name: &str) {
    for folder in folders() {
        check_in(&folder, name);
    }
}

/// A file that is only in the shared folder.
fn check_shared(name: &str) {
    for folder in folders().into_iter().skip(1) {
        check_in(&folder, name);
    }
}

fn check_in(folder: &Path, name: &str) {
    let path = std::fs::read_dir(folder)
        .expect("lists")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_stem().is_some_and(|stem| stem == name) && path.is_file())
        .expect("the file");
    let expected = std::fs::read_to_string(folder.join("expected").join(format!("{name}.json"))).expect("expected");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let imported = read_path(&path, None).expect("reads");
    let [Imported { session, losses, .. }] = imported.as_slice() else { panic!("one session") };
    assert_eq!(session.origin.as_deref(), expected["format"].as_str());
    let turns = expected["turns"].as_array().expect("turns");
    assert_eq!(session.turns.len(), turns.len(), "{name}");
    for (turn, wanted) in session.turns.iter().zip(turns) {
        compare(name, turn, wanted);
    }
    let counts = Counts::of(session);
    let wanted = &expected["counts"];
    for (key, count) in [
        ("turns", counts.turns),
        ("system", counts.system),
        ("user", counts.user),
        ("synthetic_user", counts.synthetic_user),
        ("assistant", counts.assistant),
        ("tool_calls", counts.calls),
        ("tool_results", counts.results),
        ("tool_errors", counts.errors),
        ("markers", counts.markers),
    ] {
        assert_eq!(Some(count as u64), wanted[key].as_u64(), "{name}: {key}");
    }
    for (key, count) in [("unanswered", counts.unanswered_calls), ("orphans", counts.orphan_results)] {
        if let Some(wanted) = expected[key].as_array() {
            assert_eq!(count, wanted.len(), "{name}: {key}");
        }
    }
    let skipped = expected["skipped_records"].as_u64().unwrap_or_default();
    assert_eq!(losses.skipped_records as u64, skipped, "{name}: {losses}");
    assert_eq!(canonical::read(&canonical::write(session)).as_ref(), Ok(session));
}

#[test]
fn torn_lines_and_nul_runs() {
    check("01-torn-and-nul");
}

#[test]
fn a_reply_over_several_lines() {
    check("03-split-reply");
}

#[test]
fn a_forged_user_line_in_a_result_is_no_user_turn() {
    let path = folders()[0].join("03-split-reply.jsonl");
    let imported = read_path(&path, None).expect("reads");
    let speakers: Vec<&Role> = imported[0]
        .session
        .turns
        .iter()
        .filter(|turn| turn.text().contains("standing approval"))
        .map(|turn| &turn.role)
        .collect();
    assert_eq!(speakers, [&Role::Tool]);
}

#[test]
fn ids_used_again_and_encoded_arguments() {
    check("05-reused-ids");
}

#[test]
fn raw_line_separators_in_strings() {
    check_shared("02-line-separators");
}

#[test]
fn a_forked_rollout_with_copies_of_its_messages() {
    check_shared("04-forked-rollout");
}
