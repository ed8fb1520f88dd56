//! Importing, listing and exporting as a user does it.

mod common;

use std::fs;
use std::path::Path;

use common::laundromat;
use serde_json::Value;

const CHAT: &str = r#"{"id": "chat", "messages": [
 {"role": "user", "content": "Mail anna@acme.io from /home/anna."},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{\"p\":\"/home/anna\"}"}}]},
 {"role": "tool", "tool_call_id": "c", "content": "a.txt, for anna@acme.io"}
]}"#;

/// Standard output, standard error and exit code in a folder that holds `in/chat.json`.
fn run(folder: &Path, arguments: &[&str]) -> (String, String, i32) {
    fs::create_dir_all(folder.join("in")).expect("a folder");
    fs::write(folder.join("in/chat.json"), CHAT).expect("written");
    let output = laundromat().current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().expect("a code"))
}

#[test]
fn an_import_is_private_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let (table, told, code) = run(folder.path(), &["import", "in", "--out", "out"]);
    assert_eq!(code, 0, "{told}");
    assert!(table.lines().count() == 3 && table.contains("in/chat.json"), "{table}");
    assert!(told.contains("private things replaced: 2 email, 2 home-path;"), "{told}");
    let written = fs::read_to_string(folder.path().join("out/chat.json")).expect("reads");
    assert!(!written.contains("anna"), "{written}");
    let (_, told, code) = run(folder.path(), &["import", "in", "--out", "open", "--no-redact"]);
    assert!(code == 0 && told.contains("nothing was made private"), "{told}");
    assert!(fs::read_to_string(folder.path().join("open/chat.json")).expect("reads").contains("anna@acme.io"));
}

#[test]
fn imports_with_one_salt_agree_and_others_do_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = |out: &str, salt: &[&str]| {
        let arguments = [&["import", "in", "--out", out], salt].concat();
        assert_eq!(run(folder.path(), &arguments).2, 0);
        fs::read_to_string(folder.path().join(out).join("chat.json")).expect("reads")
    };
    let first = written("a", &["--salt", "salt"]);
    assert_eq!(written("b", &["--salt", "salt"]), first);
    assert_ne!(written("c", &[]), first);
    assert_ne!(written("d", &[]), written("e", &[]));
}

#[test]
fn counts_are_told_as_json_by_the_names_of_the_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, _, code) = run(folder.path(), &["import", "in", "--out", "out", "--json"]);
    assert_eq!(code, 0);
    let told: Value = serde_json::from_str(&text).expect("JSON");
    for counts in [&told["sessions"][0], &told["sum"]] {
        for (column, count) in [
            ("turns", 3),
            ("system", 0),
            ("user", 1),
            ("synthetic_user", 0),
            ("assistant", 1),
            ("calls", 1),
            ("results", 1),
            ("errors", 0),
            ("reasoning", 0),
            ("images", 0),
            ("markers", 0),
            ("max_calls_per_turn", 1),
            ("unanswered_calls", 0),
            ("orphan_results", 0),
            ("reused_ids", 0),
        ] {
            assert_eq!(counts[column], count, "{column}");
        }
    }
    assert_eq!(told["redactions"]["email"], 2);
}

#[test]
fn hostile_names_are_shown_and_not_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "in/\u{1b}[31m\u{202e}x.json";
    run(folder.path(), &["import", "in", "--out", "first"]);
    fs::write(folder.path().join(name), CHAT.replace("chat", "other")).expect("written");
    for json in [&["--json"][..], &[]] {
        let (text, told, code) =
            run(folder.path(), &[&["import", "in", "--out", "out", "--salt", "salt"], json].concat());
        assert_eq!(code, 0, "{told}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        if !json.is_empty() {
            let told: Value = serde_json::from_str(&text).expect("JSON");
            assert!(told["sessions"][0]["file"].as_str().is_some_and(|file| file == name), "{told}");
        }
    }
}

#[test]
fn an_export_is_private_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, told, code) = run(folder.path(), &["export", "in/chat.json", "--to", "openai-chat", "--out", "x.json"]);
    assert_eq!((text.as_str(), code), ("x.json: chat as openai-chat\n", 0), "{told}");
    let exported = fs::read_to_string(folder.path().join("x.json")).expect("reads");
    assert!(!exported.contains("anna") && told.contains("4 private things replaced"), "{told}");
    // What is there is left alone, and a session of our own is exported as it is.
    assert_eq!(run(folder.path(), &["export", "in/chat.json", "--to", "openai-chat", "--out", "x.json"]).2, 2);
    assert_eq!(run(folder.path(), &["import", "in", "--out", "out", "--no-redact"]).2, 0);
    for (format, name) in [("anthropic-messages", "a.json"), ("atif", "t.json"), ("inspect-eval", "i.eval")] {
        let (_, told, code) = run(folder.path(), &["export", "out/chat.json", "--to", format, "--out", name]);
        assert_eq!((told.as_str(), code), ("", 0), "{format}");
    }
    assert!(fs::read_to_string(folder.path().join("a.json")).expect("reads").contains("anna@acme.io"));
    let (_, told, code) = run(folder.path(), &["export", "in/chat.json", "--to", "openai", "--out", "y.json"]);
    assert_eq!(
        (told.trim(), code),
        ("error: \"openai\" is no format that sessions are written in; did you mean \"openai-chat\"?", 2)
    );
}

#[test]
fn sessions_are_listed_shown_and_picked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, _, code) = run(folder.path(), &["sessions", "in"]);
    assert!(code == 0 && text.contains("fair") && text.contains("only 3 turns"), "{text}");
    let (text, _, _) = run(folder.path(), &["sessions", "show", "in/chat.json", "--search", "A.TXT"]);
    assert!(text.contains("#3 tool <- c") && !text.contains("#1"), "{text}");
    let (text, told, _) = run(folder.path(), &["sessions", "pick", "in", "--n", "2", "--json"]);
    let picked: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(picked[0]["session"], "chat");
    assert!(told.contains("1 sessions can be planted in; 2 were asked for"), "{told}");
}

/// A line of a gigabyte without a gigabyte on disk.
#[test]
#[cfg(unix)]
fn a_line_of_a_gigabyte_is_refused_with_the_limit_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.jsonl");
    fs::write(&path, "{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n{\"a\":\"").expect("written");
    fs::File::options().append(true).open(&path).and_then(|file| file.set_len(1 << 30)).expect("grown");
    let (_, told, code) = run(folder.path(), &["import", "long.jsonl", "--out", "out"]);
    assert_eq!(code, 2);
    assert!(told.contains("record 2: longer than 67108864 bytes"), "{told}");
}

#[test]
fn nesting_of_any_depth_is_read_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for (name, text) in [
        (
            "arguments.json",
            format!(
                r#"[{{"role":"user","content":"go"}},{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"f","arguments":{objects}}}}}]}}]"#
            ),
        ),
        (
            "content.jsonl",
            format!("{{\"role\":\"user\",\"content\":\"go\"}}\n{{\"role\":\"user\",\"content\":{deep}}}\n"),
        ),
        ("bare.json", deep.clone()),
        ("bare.jsonl", format!("{objects}\n{objects}\n")),
        ("text.json", format!(r#"[{{"role":"user","content":"go"}},{{"role":"user","content":"{deep}"}}]"#)),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
        for command in [&["import", name, "--out", "out"][..], &["sessions", name], &["sessions", "show", name]] {
            let (_, told, code) = run(folder.path(), command);
            assert!(
                code == 0 || code == 2 && told.contains("not a session in any known format"),
                "{name}: {code} {told}"
            );
        }
    }
}
