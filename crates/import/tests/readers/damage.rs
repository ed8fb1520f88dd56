//! Damaged and hostile input, for all formats: it is read as far as it goes, or the error names the file.

use std::fs;

use laundromat_import::{FORMATS, History, Input, read, read_path};

use crate::fixture::{all, lines, path};

#[test]
fn no_other_format_is_as_sure_of_a_fixture() {
    for (format, path) in all() {
        let sample = Input::file(&path).sample().expect("reads");
        let of = |id: &str| FORMATS.iter().find(|reader| reader.id() == id).and_then(|reader| reader.detect(&sample));
        let own = of(&format);
        assert!(own.is_some(), "{}", path.display());
        for other in FORMATS.iter().filter(|reader| reader.id() != format) {
            assert!(other.detect(&sample) < own, "{}: {} is as sure", path.display(), other.id());
        }
    }
}

/// Each fixture cut off, with bytes spoiled, without each line and with each line twice.
#[test]
fn damage_is_survived_or_told() {
    for (format, path) in all().into_iter().filter(|(_, path)| path.is_file()) {
        for bytes in damaged(&fs::read(&path).expect("reads")) {
            let input = Input::bytes("spoiled.json", bytes).with_history(History::Original);
            match read(&input, Some(&format)) {
                Ok(imported) => {
                    assert!(imported.iter().all(|one| !one.session.turns.is_empty()), "{}", path.display());
                }
                Err(error) => {
                    let told = error.to_string();
                    assert!(told.starts_with("spoiled.json:"), "{told}");
                }
            }
        }
    }
}

fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut damaged: Vec<Vec<u8>> = (0..bytes.len()).step_by(2).map(|at| bytes[..at].to_vec()).collect();
    for at in (0..bytes.len()).step_by(3) {
        for value in [0, b'"', 0xFF] {
            let mut spoiled = bytes.to_vec();
            spoiled[at] = value;
            damaged.push(spoiled);
        }
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..lines.len() {
        damaged.push([&lines[..at], &lines[at + 1..]].concat().concat());
        damaged.push([&lines[..=at], &lines[at..]].concat().concat());
    }
    damaged
}

#[test]
fn nested_documents_are_no_crash() {
    let nested =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(20_000), close.repeat(20_000));
    let steps = r#""steps":[{"source":"user","message":"x"}]"#;
    let atif = nested(&format!(r#"{{"schema_version":"ATIF-v1",{steps},"subagent_trajectories":["#), "", "]}");
    let imported = read(&Input::bytes("x.json", atif.into_bytes()), None).expect("reads");
    assert_eq!(imported.len(), 9);
    assert_eq!(imported[8].losses.by_type["record:trajectory embedded too deeply"].count, 1);
    for (open, close) in
        [(r#"{"history":["#, "]}"), ("[", "]"), (r#"{"simulations":["#, "]}"), (r#"{"samples":["#, "]}")]
    {
        let text = nested(open, r#"{"action":"message","content":"x"}"#, close);
        let input = Input::bytes("x.json", text.into_bytes());
        let _ = input.sample().expect("reads");
        for format in FORMATS {
            let _ = read(&input, Some(format.id()));
        }
    }
    let deep = nested("[", "", "]");
    let event = format!(r#"[{{"id":1,"source":"agent","action":"run","args":{{"command":{deep}}}}}]"#);
    let imported = read(&Input::bytes("x.json", event.into_bytes()), None).expect("reads");
    assert!(imported[0].session.turns[0].calls[0].arguments.contains("[[[["));
}

#[test]
fn a_document_that_breaks_off_is_read_as_far_as_it_goes() {
    let bytes = fs::read(path("atif", "terminal.json")).expect("reads");
    let at = bytes.windows(9).position(|window| window == b"Asking.\",").expect("there");
    let imported = read(&Input::bytes("x.json", bytes[..at].to_vec()), None).expect("reads");
    assert_eq!(lines(&imported[0]).last().map(String::as_str), Some("7 assistant"));
    let losses = &imported[0].losses;
    assert_eq!(losses.skipped_records, 1);
    assert!(losses.skipped_first[0].reason.starts_with("the document breaks off"), "{losses}");
}

#[test]
fn nested_lines_are_no_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep.jsonl");
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let content = [
        format!(r#"{{"messages":[{{"role":"user","content":{deep}}}]}}"#),
        format!("{{\"role\":\"user\",\"content\":\"x\"}}\n{{\"role\":\"user\",\"content\":{deep}}}"),
        format!(r#"{{"type":"user","uuid":"a","sessionId":"s","message":{{"content":"x"}},"toolUseResult":{deep}}}"#),
        format!(r#"{{"schema":"laundromat-session/1","id":"a","messages":[{{"role":"user","content":{deep}}}]}}"#),
    ];
    for (content, turns) in content.into_iter().zip([1, 2, 1, 0]) {
        fs::write(&path, content).expect("written");
        match read_path(&path, None) {
            Ok(imported) => assert_eq!(imported[0].session.turns.len(), turns),
            Err(error) => assert!(turns == 0 && error.to_string().contains("recursion limit"), "{error}"),
        }
    }
}
