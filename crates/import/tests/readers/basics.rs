//! The canonical form, OpenAI chat and Claude Code: what comes out of their fixtures, and what is counted.

use laundromat_import::{ImportError, Input, Limits, read_each, read_path};

use crate::fixture::{ids, import, lines};

#[test]
fn canonical() {
    let imported = import("laundromat", "lamp.json");
    let session = &imported[0].session;
    assert_eq!((session.id.as_str(), session.origin.as_deref()), ("lamp", Some("constructed")));
    assert!(imported[0].losses.is_empty());
    assert_eq!(
        lines(&imported[0]),
        [
            "0 system \"Be brief.\"",
            "3 user \"Which port does lamp.toml set?\"",
            "0 assistant c1=read({\"path\": \"lamp.toml\"}) thought \"Read it.\"",
            "0 tool \"port = 7070\" <- c1 failed",
            "0 system!compact_boundary",
            "0 user (compact_summary) \"Summary: lamp.toml was read.\"",
        ]
    );
}

#[test]
fn a_list_of_chat_messages() {
    let imported = import("openai-chat", "list.json");
    assert_eq!(ids(&imported), ["list"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 system \"Be brief.\"",
            "2 user \"Which port does lamp.toml set, and which host?\"",
            "4 assistant \"\" c1=grep({\"word\":\"port\",\"in\":\"lamp.toml\"}) c2=grep({\"word\": \"host\"}) \
             c3=patch(*** begin) thought \"Two greps.\"",
            "6 tool \"port = 7070\" <- c1",
            "3 tool \"host =\\nlamp\" <- c2",
            "5 user \"Hurry.\"",
            "7 critic \"Too slow.\"",
            "8 user \"hm\"",
            "10 assistant \"No.\"",
            "11 user other input_audio \"Listen.\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 9: no object), 2 records moved behind their calls (at 3, 6), \
         1 of call:by user (at 8), 1 of part:input_audio (at 11), 1 of role:critic (at 7)"
    );
}

#[test]
fn a_log_of_a_request_and_its_response() {
    let imported = import("openai-chat", "log.json");
    assert_eq!(ids(&imported), ["run-7"]);
    assert_eq!(
        lines(&imported[0]),
        ["1 user \"Hello \u{FFFD}.\"", "2 assistant \"Hi.\"", "3 user \"Read lamp.toml.\"", "4 assistant c1=read({})",]
    );
    assert_eq!((imported[0].losses.repaired.count, imported[0].losses.replacements), (1, 2));
}

#[test]
fn a_chat_message_a_line() {
    let imported = import("openai-chat", "messages.jsonl");
    assert_eq!(ids(&imported), ["messages"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 system \"Be brief.\"",
            "2 user \"Which port?\"",
            "4 assistant \"7070.\" 4=note({})",
            "6 tool \"{\\\"ok\\\":true}\" <- 4"
        ]
    );
    let losses = &imported[0].losses;
    assert_eq!((losses.skipped_records, losses.by_type["record:usage"].first.as_slice()), (1, [5].as_slice()));
    assert_eq!(losses.skipped_first[0].record, 7);
}

#[test]
fn a_chat_session_a_line() {
    let imported = import("openai-chat", "sessions.jsonl");
    assert_eq!(ids(&imported), ["first", "sessions-2", "first-2", "sessions-4"]);
    assert_eq!(imported[0].session.title.as_deref(), Some("Port"));
    let all: Vec<Vec<String>> = imported.iter().map(lines).collect();
    assert_eq!(all[0], ["1 user \"Which port?\"", "1 assistant \"7070.\""]);
    assert_eq!(all[1], ["3 user \"Which host?\""]);
    assert_eq!(all[2], ["5 user \"Again: which port?\"", "5 assistant \"7070.\""]);
    assert_eq!(all[3], ["6 user \"And the name?\""]);
    // What belongs to no session is told with the one behind it, as in all formats.
    assert_eq!((imported[2].losses.skipped_records, imported[2].losses.skipped_first[0].record), (1, 4));
}

#[test]
fn chat_sessions_are_handed_on_while_the_file_is_read() {
    let line = |id: usize| format!("{{\"id\":\"s{id}\",\"messages\":[{{\"role\":\"user\",\"content\":\"a\"}}]}}\n");
    let long = format!("{{\"id\":\"{}\"}}\n", "x".repeat(1000));
    let text = (0..5).map(line).chain([long]).collect::<String>();
    let limits = Limits { record: 500, ..Limits::default() };
    let mut seen = Vec::new();
    let error = read_each(&Input::bytes("x.jsonl", text.into_bytes()).with_limits(limits), None, &mut |imported| {
        seen.push(imported.session.id);
        Ok(())
    })
    .expect_err("the last line is too long");
    assert!(matches!(error, ImportError::RecordTooLong { record: 6, .. }));
    assert_eq!(seen, ["s0", "s1", "s2", "s3"], "only the last one waits for what follows");
}

#[test]
fn a_claude_code_session_with_a_branch_that_was_left() {
    let imported = import("claude-code", "branches.jsonl");
    assert_eq!(ids(&imported), ["s-new"]);
    assert_eq!(imported[0].session.title.as_deref(), Some("Reading lamp.toml"));
    assert_eq!(
        lines(&imported[0]),
        [
            "3 user \"Read lamp.toml.\"",
            "4 assistant \"Which one?\"",
            "8 user \"The one in etc.\"",
            "10 assistant \"Reading etc/lamp.toml.\" t1=Read({\"file_path\":\"etc/lamp.toml\"})",
            "11 tool \"port = 7070\" <- t1",
            "11 user \"And the host?\"",
        ]
    );
    assert_eq!(imported[0].session.turns[0].ts.as_deref(), Some("2026-01-05T10:00:00Z"));
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 13: a user line without a message), 1 record repeated (at 9), \
         1 record of sub-agents (at 7), 2 records of abandoned branches (at 5, 6), \
         1 of record:progress (at 12), 2 of record:summary (at 1, 2)"
    );
}

#[test]
fn a_claude_code_session_with_a_compaction_and_harness_turns() {
    let imported = import("claude-code", "compaction.jsonl");
    assert_eq!((ids(&imported), imported[0].session.title.as_deref()), (vec!["s1"], Some("Lamp")));
    assert_eq!(
        lines(&imported[0]),
        [
            "1 user other ide_opened_file \"Which port?\" image data:image/png;base64,AA==",
            "2 assistant \"7070.\" w1=web_search({\"query\":\"lamp\"}) thought \"[encrypted]\"",
            "3 tool other web_search_result <- w1",
            "5 system!compact_boundary \"Conversation compacted\"",
            "6 user (compact_summary) \"This session is being continued. The user asked for a port.\"",
            "7 user (command) \"<command-name>/cost</command-name>\"",
            "8 user (task-notification) \"A task is done.\"",
            "9 user \"And the host?\"",
            "10 assistant (harness) \"API Error: 500\"",
        ]
    );
    let kinds: Vec<&str> = imported[0].losses.by_type.keys().map(String::as_str).collect();
    let wanted =
        ["part:ide_opened_file", "part:web_search_result", "record:custom-title", "record:system/stop_hook_summary"];
    assert_eq!(kinds, wanted);
}

#[test]
fn a_sub_agents_own_file_is_a_session() {
    let imported = import("claude-code", "agent-q7.jsonl");
    assert_eq!(ids(&imported), ["agent-q7"]);
    assert_eq!(lines(&imported[0]), ["1 user \"Look around and report.\"", "2 assistant \"Nothing here.\""]);
    assert_eq!((imported[0].notes.len(), imported[0].losses.sidechain.count), (1, 0));
}

#[test]
fn a_file_without_a_conversation_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("titles.jsonl");
    std::fs::write(&path, "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n").expect("written");
    let error = read_path(&path, None).expect_err("nothing in it");
    assert!(matches!(error, ImportError::NoTurns { format: "claude-code", .. }));
    assert!(error.to_string().contains("1 of record:summary (at 1)"), "{error}");
}

#[test]
fn faults_of_a_canonical_file_are_all_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.json");
    std::fs::write(&path, r#"{"schema":"laundromat-session/9","id":"a b","messages":[]}"#).expect("written");
    let error = read_path(&path, None).expect_err("faults").to_string();
    assert!(error.contains("unknown schema") && error.contains("cannot name a session"), "{error}");
}
