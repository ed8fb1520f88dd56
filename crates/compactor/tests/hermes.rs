//! The Hermes presets against recorded truth.

use std::fs;
use std::path::PathBuf;

use laundromat_compactor::arm::Arm;
use laundromat_compactor::caps::Caps;
use laundromat_compactor::records::{Shielded, Window, records};
use laundromat_compactor::shield::Shield;
use laundromat_compactor::{Compactor, View, forms, presets};
use laundromat_session::{Session, canonical};
use serde_json::{Value, json};

fn repo(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn arm(name: &str) -> Arm {
    Arm::parse(presets::arm(name).expect("a preset")).expect("a preset without faults")
}

fn session(messages: &Value) -> Session {
    let text = json!({"schema": canonical::SCHEMA, "id": "case", "messages": messages}).to_string();
    canonical::read(&text).expect("a session")
}

/// The flattened record block of a preset, over every turn.
fn block(name: &str, session: &Session, caps: &Caps) -> String {
    let arm = arm(name);
    let shield = arm.shield.as_deref().and_then(presets::shield).map(|text| Shield::parse(text).expect("a shield"));
    let view = View::new(
        records(session, Window::All, Shielded { user: shield.as_ref(), other: shield.as_ref() }, arm.scrub),
        caps,
    );
    forms::block(&view, forms::Transcript::of(&arm)).text().to_owned()
}

#[test]
fn all_golden_serializer_pairs_are_byte_equal() {
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(repo("tests/data/hermes_serializer_cases.json")).expect("cases"))
            .expect("JSON");
    assert_eq!(cases.len(), 18);
    let caps = arm("hermes-0.19").caps;
    for case in &cases {
        let got = block("hermes-0.19", &session(&case["turns"]), &caps);
        assert_eq!(got, case["serialized"].as_str().expect("text"), "{}", case["name"]);
    }
}

#[test]
fn the_flat_request_has_the_recorded_record_block() {
    let captures = repo("../shared/captures");
    let (Ok(input), Ok(request)) = (
        fs::read_to_string(captures.join("hermes_session_10.json")),
        fs::read_to_string(captures.join("hermes_request.json")),
    ) else {
        println!("skipped: the recorded requests are not here");
        return;
    };
    let input: Value = serde_json::from_str(&input).expect("JSON");
    let recorded: Value = serde_json::from_str(&request).expect("JSON");
    let recorded = block_of(recorded["messages"][0]["content"].as_str().expect("text")).to_owned();
    let compactor = Compactor::new(arm("hermes-0.19")).expect("a preset");
    let built = compactor.request(&session(&input["messages"]), "2026-11-30").expect("a request");
    assert_eq!(built.messages.len(), 1);
    assert_eq!(block_of(&built.messages[0].text), recorded);
}

fn block_of(text: &str) -> &str {
    let (_, rest) = text.split_once("TURNS TO SUMMARIZE:\n").expect("turns");
    rest.split_once("\n\nUse this exact structure:").expect("a structure").0
}

#[test]
fn main_marks_what_it_leaves_out() {
    let long = "h".repeat(4501) + &"t".repeat(1500);
    let session = session(&json!([{"role": "tool", "tool_call_id": "c1", "content": long}]));
    let marker = "⟪HERMES-CONTEXT-COMPRESSION: 501 of 6,001 chars omitted here by Hermes's context compressor.⟫";
    let expected = format!("[TOOL RESULT c1]: {}{marker}{}", "h".repeat(4000), "t".repeat(1500));
    assert_eq!(block("hermes-main", &session, &arm("hermes-main").caps), expected);
}

#[test]
fn sampling_keeps_both_ends_and_names_what_is_left_out() {
    let messages: Vec<Value> =
        (0..60).map(|n| json!({"role": "user", "content": format!("{n:04} {}", "x".repeat(4990))})).collect();
    let text = block("hermes-main", &session(&json!(messages)), &arm("hermes-main").caps);
    assert!(text.chars().count() <= 160_000);
    assert!(text.starts_with("[USER]: 0000 ") && text.contains("[USER]: 0059 "));
    let markers: Vec<&str> = text.lines().filter(|line| line.starts_with("...[records ")).collect();
    assert!(!markers.is_empty() && markers.len() < 8, "{markers:?}");
    // Records kept and records named in markers are all 60: none is lost silently.
    let kept = text.matches("[USER]: ").count();
    let dropped: usize = markers
        .iter()
        .map(|marker| {
            let (range, chars) = marker["...[records ".len()..].split_once(": ").expect("a range");
            let (first, last) = range.split_once('-').expect("two ends");
            let count = last.parse::<usize>().expect("a number") - first.parse::<usize>().expect("a number") + 1;
            // 5,003 characters a record with its label, and a blank line more than there are records.
            let expected = laundromat_compactor_thousands(count * 5003 + 2 * (count + 1));
            assert!(chars.starts_with(&format!("{expected} chars elided")), "{marker}");
            count
        })
        .sum();
    assert_eq!(kept + dropped, 60);
}

fn laundromat_compactor_thousands(n: usize) -> String {
    format!("{},{:03}", n / 1000, n % 1000)
}

#[test]
fn the_split_sends_the_same_words_in_other_places() {
    let session = session(&json!([
        {"role": "user", "content": "Find the cause."},
        {"role": "assistant", "content": "Looking."},
    ]));
    let request =
        |name: &str| Compactor::new(arm(name)).expect("a preset").request(&session, "2026-03-04").expect("a request");
    let (flat, split) = (request("hermes-main"), request("hermes-split"));
    assert_eq!(split.messages.len(), 2);
    assert!(split.messages[1].text.starts_with("TURNS TO SUMMARIZE:\n[USER]: Find the cause."));
    for line in split.messages.iter().flat_map(|message| message.text.lines()) {
        assert!(flat.messages[0].text.contains(line), "{line}");
    }
    assert!(split.messages[0].text.contains("The current date is 2026-03-04."));
}

#[test]
fn typed_arguments_are_capped() {
    let arguments = format!("{{\"text\": \"{}\"}}", "x".repeat(4000));
    let call = json!({"id": "c", "function": {"name": "multi_tool_use.parallel", "arguments": arguments}});
    let session = session(
        &json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": null, "tool_calls": [call]}]),
    );
    let request =
        Compactor::new(arm("hermes-typed")).expect("a preset").request(&session, "2026-03-04").expect("a request");
    let sent = request.messages.iter().find_map(|message| message.calls.first()).expect("a call");
    assert_eq!(sent.name, "multi_tool_use_parallel");
    let object: serde_json::Map<String, Value> = serde_json::from_str(&sent.arguments).expect("an object");
    assert_eq!(sent.arguments.chars().count(), 1203, "as long as the flattened text");
    assert!(object["truncated"].as_str().is_some_and(|text| text.len() > 1180));
}
