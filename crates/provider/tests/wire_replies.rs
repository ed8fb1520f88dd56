//! The providers' vectors: every reply and every stream is read as it should be, and a vector that is
//! not is named.

use std::path::Path;

use laundromat_provider::wire_replies::{self, Checked, WireError};
use serde_json::{Value, json};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/wire"))
}

fn wrong(checked: &[Checked]) -> Vec<String> {
    let told = |checked: &Checked| checked.problem.as_ref().map(|problem| format!("{}: {problem}", checked.id));
    checked.iter().filter_map(told).collect()
}

#[test]
fn every_reply_is_read_as_it_should_be() {
    let checked = wire_replies::check_replies(folder()).expect("vectors");
    assert_eq!(wrong(&checked), [""; 0]);
    assert_eq!(checked.len(), 36 + 19 + 18 + 19 + 8);
}

#[test]
fn every_stream_is_read_as_it_should_be() {
    let checked = wire_replies::check_streams(folder()).expect("vectors");
    assert_eq!(wrong(&checked), [""; 0]);
    assert_eq!(checked.len(), 21);
}

#[test]
fn a_vector_that_differs_is_named_with_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let vector = json!({
        "id": "chat/one", "http_status": 429, "headers": {"retry-after": "2"}, "body": {"error": {"message": "slow"}},
        "expected": {"class": "Error", "error": {"kind": "rate_limit", "retryable": true, "retry_after_ms": 3000}},
    });
    let stream = json!({"id": "chat/cut", "route": "chat_completions", "sse": "", "terminal": true, "expected": {}});
    write(folder.path(), "responses_chat_completions.json", &json!({"route": "chat_completions", "vectors": [vector]}));
    write(folder.path(), "streams.json", &json!({"vectors": [stream]}));
    let wrong = wrong(&wire_replies::check(folder.path()).expect("vectors"));
    assert_eq!(wrong.len(), 2);
    assert!(wrong[0].starts_with("responses_chat_completions.json chat/one: error: expected "), "{}", wrong[0]);
    assert!(wrong[0].contains(r#""retry_after_ms":2000"#), "{}", wrong[0]);
    assert!(wrong[0].contains("empty: expected nothing, found true"), "{}", wrong[0]);
    assert!(wrong[1].starts_with("streams.json chat/cut: terminal: expected true"), "{}", wrong[1]);
}

#[test]
fn what_is_no_file_of_vectors_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(wire_replies::check(folder.path()).expect("nothing to check"), []);
    write(folder.path(), "responses_gemini.json", &json!({"route": "gemini"}));
    let error = wire_replies::check(folder.path()).expect_err("no vectors");
    assert!(error.to_string().contains("responses_gemini.json: not a file of vectors"), "{error}");
    write(folder.path(), "responses_gemini.json", &json!({"route": "palm", "vectors": []}));
    assert!(matches!(wire_replies::check(folder.path()), Err(WireError::Route { route, .. }) if route == "palm"));
}

fn write(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).expect("a file");
}
