//! The canonical form: round trip, schema, and faults that name their place.

use std::path::PathBuf;

use laundromat_session::{Call, Part, Role, Session, Source, Turn, canonical};
use proptest::prelude::*;

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => "\\PC{0,60}".prop_map(Part::Text),
        1 => proptest::option::of("https://[a-z]{1,8}\\.example/[a-z]{0,8}").prop_map(Part::Image),
        1 => prop_oneof![Just(String::new()), Just("input_audio".to_owned())].prop_map(Part::Other),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    let role = prop_oneof![
        Just(Role::System),
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Tool),
        Just(Role::Marker("compact_boundary".to_owned())),
        Just(Role::Other(String::new())),
        Just(Role::Other("critic".to_owned())),
    ];
    let call =
        ("\\PC{0,12}", "\\PC{0,12}", "\\PC{0,40}").prop_map(|(id, name, arguments)| Call { id, name, arguments });
    let about = (any::<bool>(), proptest::option::of("[a-z]{1,9}"), proptest::option::of("\\PC{0,30}"), 0u32..3);
    (role, prop::collection::vec(part(), 0..4), prop::collection::vec(call, 0..3), about).prop_map(
        |(role, parts, calls, (is_error, synthetic, reasoning, images))| Turn {
            calls: if role == Role::Assistant { calls } else { Vec::new() },
            call_id: (role == Role::Tool).then(|| "call_1".to_owned()),
            role,
            parts,
            is_error,
            ts: synthetic.clone(),
            source: reasoning.as_ref().map(|_| Source { file: "a.jsonl".to_owned(), record: 7 }),
            synthetic,
            reasoning,
            images,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(turns in prop::collection::vec(turn(), 1..12)) {
        let session = Session { id: "s-1".to_owned(), title: Some("t".to_owned()), origin: None, turns };
        prop_assert_eq!(canonical::read(&canonical::write(&session)), Ok(session));
    }
}

#[test]
fn the_committed_schema_is_fresh() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/session.schema.json");
    if std::env::var_os("LAUNDROMAT_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, canonical::schema()).expect("written");
    }
    let committed = std::fs::read_to_string(path).expect("the schema");
    assert_eq!(committed, canonical::schema(), "run this test with LAUNDROMAT_WRITE_SCHEMA=1 and commit the file");
}

/// The faults of a session file, as they are printed.
fn faults(text: &str) -> Vec<String> {
    canonical::read(text).expect_err("faulty").iter().map(ToString::to_string).collect()
}

/// The faults of a file with this one message.
fn faults_of(message: &str) -> Vec<String> {
    faults(&format!(r#"{{"schema": "laundromat-session/1", "id": "a", "messages": [{message}]}}"#))
}

/// The file's only fault.
fn fault_of(message: &str) -> String {
    let faults = faults_of(message);
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults[0].clone()
}

#[test]
fn every_fault_is_named_with_its_place() {
    let text = r#"{"schema": "laundromat-session/2", "id": "a/b", "titel": "x", "origin": 1, "messages": [
        {"role": "user", "content": 7, "rolle": "user"},
        {"role": ["user"], "content": ["x", 2, {"type": "text", "txt": "x"}, {"type": "image_url", "image_url": {"url": 1}}]},
        3,
        {"role": "user", "content": "x", "tool_call_id": "c",
         "tool_calls": [{"id": "c", "function": {"name": "n", "arguments": "{}"}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": 5, "type": "custom"},
            {"id": "c", "functoin": 1, "function": {"nam": "n", "arguments": {}}}]},
        {"role": "tool", "tool_calls": null, "tool_call_id": 9, "content": "x", "laundromat": {
            "synthetik": "x", "is_error": "no", "ts": " ", "images": -1, "source": {"file": "a", "record": 1.5, "line": 2}}}
    ]}"#;
    let starts = [
        "schema: unknown schema \"laundromat-session/2\"; this version reads",
        "id: \"a/b\" cannot name",
        "origin: text is needed, not the number 1; ",
        "messages[0].content: text or a list of parts is needed, not the number 7; ",
        "messages[0].rolle: unknown key \"rolle\"; did you mean \"role\"?",
        "messages[1].role: text is needed, not a list; ",
        "messages[1].content[1]: text or an object is needed, not the number 2; ",
        "messages[1].content[2].text: the key \"text\" is missing; ",
        "messages[1].content[3].image_url.url: text is needed, not the number 1; ",
        "messages[2]: an object is needed, not the number 3; ",
        "messages[3].tool_calls: only an assistant message can call tools, this one is \"user\"; ",
        "messages[3].tool_call_id: only a tool message answers a call, this one is \"user\"; ",
        "messages[4].tool_calls[0].id: text is needed, not the number 5; ",
        "messages[4].tool_calls[0].type: a call of type \"custom\" is not known; ",
        "messages[4].tool_calls[0].function: the key \"function\" is missing; ",
        "messages[4].tool_calls[1].function.name: the key \"name\" is missing; ",
        "messages[4].tool_calls[1].function.arguments: text is needed, not an object; write the JSON object as text",
        "messages[4].tool_calls[1].function.nam: unknown key \"nam\"; did you mean \"name\"?",
        "messages[4].tool_calls[1].functoin: unknown key \"functoin\"; did you mean \"function\"?",
        "messages[5].tool_calls: a list is needed, not null; ",
        "messages[5].tool_call_id: text is needed, not the number 9; ",
        "messages[5].laundromat.is_error: true or false is needed, not text; ",
        "messages[5].laundromat.images: a whole number from 0 to 4294967295 is needed, not the number -1; ",
        "messages[5].laundromat.source.record: a whole number from 0 is needed, not the number 1.5; ",
        "messages[5].laundromat.source.line: unknown key \"line\"; known: file, record",
        "messages[5].laundromat.ts: the time is empty; ",
        "messages[5].laundromat.synthetik: unknown key \"synthetik\"; did you mean \"synthetic\"?",
        "titel: unknown key \"titel\"; did you mean \"title\"?",
    ];
    let faults = faults(text);
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault}\n{start}");
    }
}

#[test]
fn a_file_that_is_no_session_is_told_so() {
    let syntax = faults("{\"schema\": ");
    assert!(syntax[0].starts_with("1:11: not a session file: EOF while parsing a value; "), "{syntax:?}");
    assert_eq!(faults("[]"), ["an object is needed, not a list; write a value of the right type"]);
    assert_eq!(
        faults("{\"messages\": []}"),
        [
            "schema: the key \"schema\" is missing; add \"schema\": ...",
            "id: the key \"id\" is missing; add \"id\": ...",
            "messages: the session has no messages; a session needs at least one turn",
        ]
    );
}

#[test]
fn calls_and_answers_stand_on_messages_of_their_roles_only() {
    let call = r#""tool_calls": [{"id": "c", "function": {"name": "n", "arguments": "{}"}}]"#;
    for (role, named) in [("\"tool\"", "\"tool\""), ("\"asistant\"", "\"asistant\""), ("null", "without a role")] {
        let fault = fault_of(&format!(r#"{{"role": {role}, "content": "x", {call}}}"#));
        let start = "messages[0].tool_calls: only an assistant message can call tools, this one is ";
        assert!(fault.starts_with(&format!("{start}{named}; ")), "{fault}");
    }
    let fault = fault_of(r#"{"role": "assistant", "content": "x", "tool_call_id": "c", "laundromat": null}"#);
    assert!(fault.starts_with("messages[0].tool_call_id: only a tool message answers a call"), "{fault}");
    let fault = fault_of(r#"{"role": "tool", "tool_call_id": "c", "laundromat": {"marker": "limit"}}"#);
    assert!(fault.ends_with("this one is a marker of kind \"limit\"; drop the id, or correct the role"), "{fault}");
    // An empty list calls nothing, and null answers nothing.
    let text = r#"{"schema": "laundromat-session/1", "id": "a", "messages": [
        {"role": "user", "content": "x", "tool_calls": [], "tool_call_id": null}]}"#;
    assert_eq!(canonical::read(text).map(|session| session.turns), Ok(vec![Turn::text_of(Role::User, "x")]));
}

#[test]
fn a_time_is_any_text_but_an_empty_one() {
    for ts in ["2026-07-01T09:30:00Z", "1718000000.5", "yesterday"] {
        let text = format!(
            r#"{{"schema": "laundromat-session/1", "id": "a", "messages": [{{"role": "user", "content": "x", "laundromat": {{"ts": "{ts}"}}}}]}}"#
        );
        assert_eq!(canonical::read(&text).expect("a session").turns[0].ts.as_deref(), Some(ts));
    }
    let fault = fault_of(r#"{"role": "user", "content": "x", "laundromat": {"ts": ""}}"#);
    assert!(fault.starts_with("messages[0].laundromat.ts: the time is empty; "), "{fault}");
    let fault = fault_of(r#"{"role": "user", "content": "x", "laundromat": {"ts": 17}}"#);
    assert!(fault.starts_with("messages[0].laundromat.ts: text is needed, not the number 17; "), "{fault}");
}

#[test]
fn a_repeated_key_is_a_fault_where_its_words_would_be_lost() {
    let faults = faults_of(r#"{"role": "user", "content": "a", "content": "b"}"#);
    assert_eq!(faults, ["messages[0].content: the key \"content\" stands twice; keep one of them"]);
}

#[test]
fn a_thousand_faults_are_a_thousand_lines() {
    let messages = vec![r#"{"role": "user", "content": "x", "extra": 1}"#; 1000].join(",");
    let faults = faults_of(&messages);
    assert_eq!(faults.len(), 1000);
    assert!(faults[999].starts_with("messages[999].extra: unknown key \"extra\"; known: role, content, "));
}
