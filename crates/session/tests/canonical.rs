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

#[test]
fn every_fault_is_named_with_its_place() {
    let text = r#"{"schema": "laundromat-session/2", "id": "a/b", "messages": [
        {"role": "user", "content": 7},
        {"role": "user", "content": "x", "extra": 1},
        {"role": "user", "content": "x", "tool_calls": [{"id": "c", "function": {"name": "n", "arguments": "{}"}}]},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "function": {"name": "n", "arguments": {}}}]}
    ]}"#;
    let faults: Vec<String> = canonical::read(text).expect_err("faulty").iter().map(ToString::to_string).collect();
    let starts = [
        "schema: unknown schema",
        "id: \"a/b\" cannot name",
        "messages[0].content: text or",
        "messages[1]: unknown field `extra`",
        "messages[2].tool_calls: only an assistant",
        "messages[3]: invalid type: map",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault}");
    }
    let syntax = canonical::read("{\"schema\": ").expect_err("cut off");
    assert!(syntax[0].to_string().starts_with("1:11: not a session file"), "{}", syntax[0]);
}
