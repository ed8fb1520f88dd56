//! Formats of coding agents: what comes out of their fixtures, and what is counted.

use crate::fixture::{ids, import, lines, original, without};

#[test]
fn a_forked_rollout_with_a_compaction() {
    let imported = import("codex-rollout", "newer.jsonl");
    assert_eq!(ids(&imported), ["s-child"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "3 system \"Be brief.\"",
            "4 user (agents_md) \"# AGENTS.md instructions for /p\\n<environment_context>x</environment_context>\"",
            "5 user other turn_aborted \"Which port?\" image data:image/png;base64,AA==",
            "7 assistant \"Looking.\" c1=shell({\"command\":[\"cat\",\"lamp.toml\"]}) c2=apply_patch(*** Begin Patch) thought \"Two files.\"",
            "11 tool \"no such file\" <- c2 failed",
            "12 tool \"port = 7070\" <- c1",
            "14 system!compaction \"The port is 7070.\"",
            "15 assistant \"7070.\" =web_search({\"type\":\"search\",\"query\":\"lamp\"}) thought \"[encrypted]\"",
            "21 user \"Thanks.\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 24: not JSON: EOF while parsing a string at line 1 column 49), 2 records of abandoned branches (at 18, 19), 1 of event:context_compacted (at 13), 1 of event:thread_rolled_back (at 20), 1 of event:user_message (at 6), 1 of item:ghost_snapshot (at 22), 1 of part:input_image (at 5), 1 of part:turn_aborted (at 5), 1 of record:turn_context (at 23)"
    );
    assert_eq!(
        imported[0].notes,
        [
            "forked from s-parent: it begins with a copy of that session",
            "compacted 1 time(s): the turns before each marker stay in the file"
        ]
    );
    let original = original("codex-rollout", "newer.jsonl");
    assert_eq!(lines(&original[0]), without(lines(&imported[0]), &[6]));
}

#[test]
fn a_rollout_from_before_the_envelope() {
    let imported = import("codex-rollout", "older.jsonl");
    assert_eq!(ids(&imported), ["s-old"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "3 user (environment_context) \"<environment_context>x</environment_context>\"",
            "4 user \"# Context from my IDE setup:\\n\\n## My request for Codex:\\nWhich port?\"",
            "5 assistant c1=local_shell({\"type\":\"exec\",\"command\":[\"cat\",\"lamp.toml\"]})",
            "6 tool \"port = 7070\" <- c1 failed",
            "7 assistant \"7070.\"",
        ]
    );
    assert_eq!(imported[0].losses.to_string(), "1 of record:state (at 2)");
}

#[test]
fn a_gemini_cli_document() {
    let imported = import("gemini-cli", "older.json");
    assert_eq!(ids(&imported), ["g1"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 user \"Which port?\" image data:image/png;base64,AA==",
            "2 assistant \"Looking.\" c1=read_file({\"path\":\"lamp.toml\"}) c2=read_file({\"path\":\"none.toml\"}) c3=shell({\"command\":\"ls\"}) thought \"Port: Read the files.\"",
            "2 tool \"port = 7070\" <- c1",
            "2 tool \"no such file\" <- c2 failed",
            "3 system!info \"Request cancelled.\"",
            "5 user (harness) \"System: Please continue.\"",
            "6 assistant \"7070.\" other executableCode thought \"Thinking.\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 8: a message that is no object), 1 record repeated (at 4), 1 of part:executableCode (at 6), 1 of record:tip (at 7)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
    let original = original("gemini-cli", "older.json");
    assert_eq!(lines(&original[0]), lines(&imported[0]));
    assert_eq!(
        original[0].notes.last().map(String::as_str),
        Some("the format does not tell whether the session was compacted: read as it stands")
    );
}

#[test]
fn gemini_cli_lines_that_are_written_again() {
    let imported = import("gemini-cli", "newer.jsonl");
    assert_eq!(ids(&imported), ["g2"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\"",
            "4 assistant \"Looking.\" c1=read_file({\"path\":\"lamp.toml\"})",
            "4 tool \"port = 7070\" <- c1",
            "5 user \"Hurry.\"",
            "10 user \"And the name?\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 11: a rewind to a message that is not in the file), 2 records of abandoned branches (at 7, 8)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
    assert_eq!(
        imported[0].notes,
        ["a chat of kind subagent: its first user turn was written by the agent that started it"]
    );
    let original = original("gemini-cli", "newer.jsonl");
    assert_eq!(lines(&original[0]), lines(&imported[0]));
    assert_eq!(
        original[0].notes.last().map(String::as_str),
        Some("the format does not tell whether the session was compacted: read as it stands")
    );
}

#[test]
fn hermes_exports() {
    let imported = import("hermes", "export.jsonl");
    assert_eq!(ids(&imported), ["h1", "h2"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 user \"Which port?\"",
            "1 assistant c1=terminal({\"command\":\"cat lamp.toml\"}) thought \"Read it.\"",
            "1 tool \"{\\\"output\\\":\\\"port = 7070\\\",\\\"exit_code\\\":0}\" <- c1",
            "1 user (compact_summary) \"[CONTEXT COMPACTION — REFERENCE ONLY] The port is 7070.\\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---\"",
            "1 user \"And the host?\"",
            "1 assistant \"lamp.example\" thought \"[encrypted]\"",
            "1 user (harness) \"[System: two tools are new]\"",
            "1 user (hidden) \"x\"",
            "1 assistant \"All done.\"",
            "1 assistant (compact_summary) \"[CONTEXT SUMMARY]: port and host\"",
        ]
    );
    assert_eq!(imported[0].losses.to_string(), "1 record of abandoned branches (at 1), 1 of part:image (at 1)");
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
    assert_eq!(
        imported[0].notes,
        [
            "compacted in place: the turns that were taken out of the context stay in it",
            "the system prompt is kept beside the messages and not taken over"
        ]
    );
    assert_eq!(lines(&imported[1]), ["2 user \"Hello.\"",]);
    assert_eq!(imported[1].losses.to_string(), "1 record skipped (record 2: a message that is no object)");
    let original = original("hermes", "export.jsonl");
    assert_eq!(lines(&original[0]), without(lines(&imported[0]), &[3, 9]));
}

#[test]
fn hermes_messages_on_lines() {
    let imported = import("hermes", "messages.jsonl");
    assert_eq!(ids(&imported), ["m1", "m2"]);
    assert_eq!(lines(&imported[0]), ["1 user \"Which port?\"", "2 assistant \"7070.\"",]);
    assert_eq!(imported[0].losses.to_string(), "nothing lost");
    assert_eq!(lines(&imported[1]), ["3 user \"Hello.\"",]);
    assert_eq!(imported[1].losses.to_string(), "nothing lost");
}

#[test]
fn an_opencode_export() {
    let imported = import("opencode", "export.json");
    assert_eq!(ids(&imported), ["ses_1"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\" other file",
            "2 user (synthetic) \"Branch: main\"",
            "1 assistant \"Looking.\" c1=read({\"filePath\":\"lamp.toml\"}) c2=read({\"filePath\":\"none\"}) c3=bash({\"command\":\"ls\"}) thought \"Two files.\"",
            "1 tool \"port = 7070\" image data:image/png;base64,AA== <- c1",
            "1 tool \"no such file\" <- c2 failed",
            "3 system!compaction",
            "4 assistant (compact_summary) \"The port is 7070.\"",
            "5 user \"And the host?\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 6: a message without info), 1 of part:file (at 2), 1 of part:ignored (at 2), 1 of part:step-start (at 1), 1 of result:cleared from the context (at 1)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
    assert_eq!(
        imported[0].notes,
        [
            "a sub-agent's session of ses_0: its first request came from that one",
            "compacted 1 time(s): the turns before each marker stay in it"
        ]
    );
    let original = original("opencode", "export.json");
    assert_eq!(lines(&original[0]), without(lines(&imported[0]), &[5, 6]));
}

#[test]
fn an_opencode_event_stream() {
    let imported = import("opencode", "events.jsonl");
    assert_eq!(ids(&imported), ["ses_1"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\"",
            "4 assistant \"7070.\" c1=read({\"filePath\":\"lamp.toml\"})",
            "4 tool \"port = 7070\" <- c1",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record of abandoned branches (at 11), 1 of event:session.idle (at 12)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
}

#[test]
fn an_opencode_folder() {
    let imported = import("opencode", "storage");
    assert_eq!(ids(&imported), ["ses_1"]);
    assert_eq!(
        lines(&imported[0]),
        ["1 user \"Which port?\"", "2 assistant c1=read({\"filePath\":\"lamp.toml\"})", "2 tool \"port = 7070\" <- c1",]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 2: prt_3.json: not JSON: EOF while parsing a string at line 1 column 24)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
}

#[test]
fn goose_lines() {
    let imported = import("goose", "older.jsonl");
    assert_eq!(ids(&imported), ["older"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\" image data:image/png;base64,AA==",
            "3 assistant \"Looking.\" c1=developer__shell({\"command\":\"cat lamp.toml\"}) c2=(bad arguments) thought \"Two files.\\n[redacted]\"",
            "5 tool \"port = 7070\" <- c1",
            "5 tool \"bad arguments\" <- c2 failed",
            "5 user \"Go on.\"",
            "6 assistant c3=note({})",
            "7 tool \"full\\ndisk\" <- c3 failed",
            "8 system!compaction \"Compacted.\"",
            "9 user (compact_summary) \"The port is 7070.\"",
            "10 user \"Seen by the user.\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record of abandoned branches (at 11), 1 of call:without a name (at 4), 1 of part:for the user only (at 5), 1 of part:toolConfirmationRequest (at 12)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
    assert_eq!(imported[0].notes, ["compacted: the turns that were taken out of the context stay in it"]);
    let original = original("goose", "older.jsonl");
    assert_eq!(lines(&original[0]), without(lines(&imported[0]), &[7, 8]));
}

#[test]
fn a_goose_export() {
    let imported = import("goose", "export.json");
    assert_eq!(ids(&imported), ["20260105_1"]);
    assert_eq!(lines(&imported[0]), ["1 user \"Which port?\"", "2 assistant \"7070.\"",]);
    assert_eq!(imported[0].losses.to_string(), "nothing lost");
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
}

#[test]
fn a_pi_session() {
    let imported = import("pi", "linear.jsonl");
    assert_eq!(ids(&imported), ["p1"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\" image data:image/png;base64,AA==",
            "3 assistant \"Looking.\" c1=read({\"path\":\"lamp.toml\"}) c2=read({\"path\":\"none\"}) thought \"Two files.\"",
            "4 tool \"no such file\" <- c2 failed",
            "5 tool \"[USER]: port = 7070\" <- c1",
            "7 system!compaction \"The port is 7070.\"",
            "8 user (shell) \"ls\\nlamp.toml\"",
            "9 assistant",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 10: a message entry without a message), 1 of record:thinking_level_change (at 6)"
    );
    assert_eq!(
        imported[0].notes,
        [
            "branched from p0.jsonl: it begins with a copy of that session",
            "compacted 1 time(s): the turns before each marker stay in the file"
        ]
    );
    let original = original("pi", "linear.jsonl");
    assert_eq!(lines(&original[0]), without(lines(&imported[0]), &[4]));
}

#[test]
fn a_pi_session_with_a_branch_that_was_left() {
    let imported = import("pi", "tree.jsonl");
    assert_eq!(ids(&imported), ["p2"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "2 user \"Which port?\"",
            "3 assistant \"7070.\" thought \"[redacted]\"",
            "7 user (branch_summary) \"The host was asked for.\"",
            "8 user (custom) \"From an extension.\"",
            "10 user \"And the name?\"",
        ]
    );
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record repeated (at 11), 2 records of abandoned branches (at 4, 5), 1 of record:branch_summary (at 6)"
    );
    assert_eq!(imported[0].session.title.as_deref(), Some("The port"));
}

#[test]
fn a_cline_session() {
    let imported = import("cline", "session.json");
    assert_eq!(ids(&imported), ["k1"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 system \"Be brief.\"",
            "1 user \"Which port?\" other file",
            "2 assistant \"Looking.\" t1=read_files({\"files\":[\"a\"]}) t2=run({}) thought \"Two files.\"",
            "3 tool \"[{\\\"query\\\":\\\"a\\\",\\\"result\\\":\\\"port = 7070\\\",\\\"success\\\":true}]\" <- t1",
            "3 tool \"denied\" <- t2 failed",
            "3 user \"Try again.\"",
            "4 user (compact_summary) \"Context summary: the port is 7070.\"",
            "5 user (compaction) \"Which host?\\n<SYSTEM_NOTICE>\\nEarlier context was compacted.\\n</SYSTEM_NOTICE>\"",
            "6 user \"And the name?\" other system_notice",
            "7 assistant \"lamp\"",
        ]
    );
    assert_eq!(imported[0].losses.to_string(), "1 of part:file (at 1), 1 of part:system_notice (at 6)");
    let original = original("cline", "session.json");
    assert_eq!(lines(&original[0]), lines(&imported[0]));
    assert_eq!(
        original[0].notes.last().map(String::as_str),
        Some("compacted, and the turns before it are not in the file: read as it stands")
    );
}

#[test]
fn a_session_of_the_older_cline_extension() {
    let imported = import("cline", "older.json");
    assert_eq!(ids(&imported), ["older"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "1 user \"<task>\\nWhich port?\\n</task>\" other environment_details",
            "2 assistant \"Looking.\\n<read_file>\\n<path>lamp.toml</path>\\n</read_file>\"",
            "3 user (tool_result) \"[read_file for 'lamp.toml'] Result:\\nport = 7070\\n<environment_details>\\nx\\n</environment_details>\"",
            "4 assistant \"7070.\"",
            "5 user (environment_details) \"<environment_details>\\nx\\n</environment_details>\"",
        ]
    );
    assert_eq!(imported[0].losses.to_string(), "1 of part:environment_details (at 1)");
}
