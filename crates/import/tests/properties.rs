//! What holds for all input: our own form comes back unchanged, and no bytes stop a reader with a panic.

use laundromat_import::{FORMATS, Input, read, write_canonical};
use laundromat_session::{Call, Part, Role, Session, Source, Turn};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just("\u{0}\u{2028}\u{85}\r\n\"\\".to_owned()), Just(String::new())]
}

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,8}".prop_map(|name| format!("x-{name}"))
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        text().prop_map(Part::Text),
        proptest::option::of(text()).prop_map(Part::Image),
        name().prop_map(Part::Other),
        Just(Part::Other(String::new())),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        Just(Role::System),
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Tool),
        name().prop_map(Role::Marker),
        name().prop_map(Role::Other),
        Just(Role::Other(String::new())),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    (text(), text(), text()).prop_map(|(id, name, arguments)| Call { id, name, arguments })
}

prop_compose! {
    fn turn()(
        role in role(),
        parts in proptest::collection::vec(part(), 0..4),
        calls in proptest::collection::vec(call(), 0..3),
        call_id in proptest::option::of(text()),
        is_error in any::<bool>(),
        labels in (proptest::option::of(text()), proptest::option::of(text()), proptest::option::of(text())),
        images in 0..3_u32,
        source in proptest::option::of((text(), 1..1000_usize)),
    ) -> Turn {
        let calls = if role == Role::Assistant { calls } else { Vec::new() };
        let call_id = call_id.filter(|_| role == Role::Tool);
        let (synthetic, ts, reasoning) = labels;
        let ts = ts.filter(|ts| !ts.trim().is_empty());
        let source = source.map(|(file, record)| Source { file, record });
        Turn { role, parts, calls, call_id, is_error, synthetic, ts, reasoning, images, source }
    }
}

fn session() -> impl Strategy<Value = Session> {
    let labels = (proptest::option::of(text()), proptest::option::of(text()));
    ("[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,40}", labels, proptest::collection::vec(turn(), 1..6))
        .prop_map(|(id, (title, origin), turns)| Session { id, title, origin, turns })
}

/// Pieces of files that readers have to tell apart, mixed with anything.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}",
            "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"sessionId\":\"s\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\"}]}}",
            "{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":[{},[],1,null]}",
            "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"t\"},2]}",
            "{\"messages\":[{\"role\":\"user\"},3]}",
            "[{\"role\":\"user\",\"content\":\"x\"}",
            "{\"schema\":\"laundromat-session/1\",\"id\":\"a\",\"messages\":[{}]}",
            "{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}",
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"t\",\"output\":[{},1]}}",
            "{\"type\":\"compacted\",\"payload\":null}",
            "{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"}",
            "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"b\",\"message\":{\"role\":\"toolResult\",\"content\":[{}]}}",
            "{\"sessionId\":\"a\",\"projectHash\":\"b\",\"messages\":[{\"type\":\"gemini\",\"toolCalls\":[{\"result\":[{\"functionResponse\":{}}]}]}]}",
            "{\"id\":\"a\",\"type\":\"user\",\"content\":[{\"text\":\"x\"},{}]}", "{\"$rewindTo\":\"a\"}", "{\"$set\":{\"messages\":[1]}}",
            "{\"working_dir\":\"/\",\"message_count\":1}",
            "{\"role\":\"user\",\"created\":1,\"content\":[{\"type\":\"toolResponse\",\"toolResult\":{\"value\":[1]}}]}",
            "{\"session_id\":\"a\",\"role\":\"user\",\"content\":\"[CONTEXT SUMMARY]: x\",\"timestamp\":1}",
            "{\"info\":{\"role\":\"assistant\"},\"parts\":[{\"type\":\"tool\",\"state\":{\"status\":\"error\"}},1]}",
            "{\"type\":\"message.part.delta\",\"properties\":{\"field\":\"text\",\"delta\":\"x\"}}",
            "{\"version\":1,\"agent\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":[{}]}]}]}",
            "SQLite format 3\0",
            "\n", ",", "]", "}", "\"", "\\", "\\ud800", "NaN", "\u{FEFF}", "\u{2028}",
        ]).prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_unchanged(session in session()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = write_canonical(&session, folder.path()).expect("writes");
        let imported = laundromat_import::read_path(&path, None).expect("reads");
        prop_assert_eq!(imported.len(), 1);
        prop_assert!(imported[0].losses.is_empty());
        prop_assert_eq!(&imported[0].session, &session);
    }

    #[test]
    fn no_bytes_stop_a_reader(bytes in bytes()) {
        let input = Input::bytes("x.jsonl", bytes);
        let _ = read(&input, None);
        for format in FORMATS {
            for imported in read(&input, Some(format.id())).unwrap_or_default() {
                prop_assert!(!imported.session.turns.is_empty());
                let written = laundromat_session::canonical::write(&imported.session);
                prop_assert_eq!(laundromat_session::canonical::read(&written), Ok(imported.session));
            }
        }
    }
}
