//! Formats of model APIs, of libraries and of traces: what comes out of their fixtures, and what is counted.

use laundromat_import::{Imported, Input, read};

use crate::fixture::{import, only, original, sayings};

/// The only session of `text`, which is detected as `format`.
fn of(format: &str, text: &str) -> Imported {
    let mut imported = read(&Input::bytes("x.json", text.as_bytes().to_vec()), None).expect("reads");
    assert_eq!(imported.len(), 1);
    let imported = imported.remove(0);
    assert_eq!(imported.session.origin.as_deref(), Some(format));
    imported
}

#[test]
fn responses_requests_with_their_reply() {
    let imported = only("openai-responses", "exchange.json");
    assert_eq!(
        sayings(&imported),
        [
            "system \"You mend lamps.\"",
            "user \"Which bulb?\" image https://lamp.example/1.png",
            "assistant c1=read({\"path\":\"lamp.toml\"}) c2=patch(*** begin) thought \"Read first.\"",
            "tool \"[USER]: E27\" <- c1",
            "tool \"done\" <- c2",
            "assistant ws_1=web_search({\"type\":\"search\",\"query\":\"E27\"}) mcp_1=stock({})",
            "tool \"7 left\" <- mcp_1",
            "system!compaction \"[encrypted]\"",
            "user \"Thanks.\"",
            "assistant \"E27 it is.\\nNo more.\"",
        ]
    );
    assert_eq!(imported.losses.by_type["item:item_reference"].count, 1);
    let text = only("openai-responses", "text.json");
    assert_eq!(sayings(&text), ["user \"Which bulb?\"", "assistant \"E27.\""]);
}

#[test]
fn anthropic_requests_with_their_reply() {
    let imported = only("anthropic-messages", "exchange.json");
    assert_eq!(
        sayings(&imported),
        [
            "system \"You mend lamps.\"",
            "user \"Which bulb?\"",
            "assistant \"Looking.\" t1=read({\"path\":\"lamp.toml\"}) t2=list({}) thought \"[encrypted]\"",
            "tool \"no such folder\" <- t2 failed",
            "tool \"[USER]: E27\" <- t1",
            "user \"And the shade?\"",
            "assistant \"Brass.\" s1=web_search({\"query\":\"shade\"}) thought \"[redacted]\"",
            "tool \"{\\\"type\\\":\\\"web_search_tool_result_error\\\",\\\"error_code\\\":\\\"unavailable\\\"}\" <- s1 failed",
            "system!compaction \"They mend a lamp.\"",
            "system \"Be brief.\"",
            "user other document",
            "assistant \"Seen.\"",
        ]
    );
    let original = original("anthropic-messages", "exchange.json").remove(0);
    assert_eq!(original.session.turns.len(), imported.session.turns.len() - 1);
}

#[test]
fn gemini_results_are_paired_by_name() {
    assert_eq!(
        sayings(&only("gemini-contents", "exchange.json")),
        [
            "system \"You mend lamps.\"",
            "user \"Which bulb?\" image data:image/png;base64,AA==",
            "assistant =read({\"path\":\"a\"}) =list({}) =read({\"path\":\"b\"}) thought \"Both.\"",
            "tool \"[USER]: E27\"",
            "tool \"no folder\" failed",
            "tool \"{\\\"a\\\":1}\"",
            "user \"Now?\"",
            "assistant \"E27.\" =code_execution({\"language\":\"PYTHON\",\"code\":\"1+1\"})",
            "tool \"oh\" failed",
            "assistant \"Done.\"",
        ]
    );
}

#[test]
fn pydantic_ai_histories() {
    let imported = only("pydantic-ai", "history.json");
    assert_eq!(
        sayings(&imported),
        [
            "system \"Mend lamps.\"",
            "system \"Be brief.\"",
            "user \"Which bulb?\" image https://lamp.example/1.png other audio-url",
            "assistant \"Looking.\" c1=read({\"path\":\"a\"}) c2=list() thought \"[encrypted]\"",
            "tool \"{\\\"bulb\\\":\\\"E27\\\"}\" <- c1",
            "tool \"no folder\" <- c2 failed",
            "user \"Now?\"",
            "system!compaction \"A lamp is mended.\"",
            "assistant b1=web({\"q\":1})",
            "tool \"seen\" <- b1",
            "user (retry) \"[{\\\"msg\\\":\\\"Field required\\\"}]\"",
        ]
    );
    assert_eq!(imported.losses.by_type["instructions:changed"].count, 1);
    assert_eq!(imported.session.turns[2].ts.as_deref(), Some("2026-01-01T00:00:00Z"));
}

#[test]
fn adk_sessions_and_the_cases_of_eval_sets() {
    let imported = only("adk-session", "session.json");
    assert_eq!(
        sayings(&imported),
        [
            "user \"Which bulb?\"",
            "assistant \"Looking.\" =read({\"path\":\"a\"})",
            "tool \"E27\"",
            "system!compaction \"A lamp.\"",
            "assistant \"E27 it is.\"",
        ]
    );
    assert_eq!(imported.session.id, "lamp");
    assert_eq!(imported.session.turns[0].ts.as_deref(), Some("1.5"));
    assert_eq!(imported.losses.duplicates.count, 1, "the streamed piece");
    assert!(imported.notes[0].contains("clerk, mender"), "{:?}", imported.notes);
    let cases = import("adk-session", "cases.evalset.json");
    assert_eq!(cases.iter().map(|case| case.session.id.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(
        sayings(&cases[0]),
        ["user \"Which bulb?\"", "assistant c1=read({\"path\":\"a\"})", "tool \"E27\" <- c1", "assistant \"E27.\""]
    );
}

#[test]
fn langchain_in_three_spellings() {
    let imported = only("langchain", "dict.json");
    assert_eq!(
        sayings(&imported),
        [
            "system \"Mend lamps.\"",
            "user (compact_summary) \"Here is what was said before: a lamp.\"",
            "user \"Which bulb?\"",
            "assistant \"Looking.\" c1=read({\"path\":\"a\"}) c2=list({\"pa) thought \"Read.\"",
            "tool \"[USER]: E27\" <- c1 failed",
        ]
    );
    let constructed = only("langchain", "constructor.json");
    assert_eq!(
        sayings(&constructed),
        ["user \"Which bulb?\"", "assistant c1=read({\"path\":\"a\"})", "tool \"E27\" <- c1"]
    );
    let state = only("langchain", "state.json");
    assert_eq!(sayings(&state), ["user \"Which bulb?\"", "assistant \"E27.\""]);
    assert_eq!(state.losses.by_type["message:remove"].count, 1);
}

#[test]
fn sharegpt_tags_count_where_the_model_and_tools_speak() {
    let imported = import("sharegpt", "tags.jsonl");
    assert_eq!(
        sayings(&imported[0]),
        [
            "system \"<tools>[]</tools>\"",
            "user \"Say <tool_call>{}</tool_call>\"",
            "assistant \"Looking.\" =read({\"path\":\"a\"}) =list({\"all\":true}) thought \"Read.\"",
            "tool \"E27 </tool_response>\"",
            "tool \"none\"",
        ]
    );
    assert_eq!(
        sayings(&imported[1]),
        ["user \"And the shade?\"", "assistant =look({})", "tool \"brass\"", "critic \"fine\""]
    );
    assert_eq!(imported[1].session.id, "shade");
}

#[test]
fn the_last_span_of_a_conversation_is_the_session() {
    let imported = import("otel-genai", "spans.json");
    assert_eq!(imported.iter().map(|one| one.session.id.as_str()).collect::<Vec<_>>(), ["lamp", "old", "events"]);
    assert_eq!(
        sayings(&imported[0]),
        [
            "system \"Mend lamps.\"",
            "user \"Which bulb?\"",
            "assistant c1=read({\"path\":\"a\"})",
            "tool \"[USER]: E27\" <- c1",
            "assistant \"E27.\" thought \"Sure.\"",
        ]
    );
    assert_eq!(sayings(&imported[1]), ["user \"And the shade?\"", "assistant \"Brass.\""]);
    assert_eq!(sayings(&imported[2]), ["user \"Hello\"", "assistant \"Good day.\""]);
    let store = only("otel-genai", "store.json");
    assert_eq!(
        sayings(&store),
        ["user \"Which bulb?\"", "assistant c1=read({})", "tool \"E27\" <- c1", "assistant \"E27.\""]
    );
}

#[test]
fn responses_in_their_rarer_shapes() {
    let reply = of(
        "openai-responses",
        r#"{"output":[{"type":"reasoning","summary":[],"encrypted_content":null},
            {"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}]}"#,
    );
    assert_eq!(sayings(&reply), ["assistant c1=read({})"]);
    let bare = of("openai-responses", r#"{"input":[{"role":"user","content":"Which bulb?"}]}"#);
    assert_eq!(sayings(&bare), ["user \"Which bulb?\""]);
    let given = of(
        "openai-responses",
        r#"{"model":"m","previous_response_id":"r","instructions":[{"role":"developer","content":"Mend."}],
            "input":"Which bulb?"}"#,
    );
    assert_eq!(sayings(&given), ["system \"Mend.\"", "user \"Which bulb?\""]);
    assert!(given.notes.iter().any(|note| note.contains("earlier response")), "{:?}", given.notes);
}

#[test]
fn anthropic_messages_are_known_beside_damaged_ones() {
    let imported = of(
        "anthropic-messages",
        r#"[{"role":"user","content":"Which bulb?"},
            {"role":"assistant","content":[{"type":"mcp_tool_use","id":"m1","name":"stock","input":{}}]},
            {"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"m1","content":"7 left"}]},
            {"role":"critic"},{"role":"user","content":[]},7]"#,
    );
    assert_eq!(
        sayings(&imported),
        ["user \"Which bulb?\"", "assistant m1=stock({})", "tool \"7 left\" <- m1", "critic"]
    );
    assert_eq!(imported.losses.skipped_records, 1);
    let kinds: Vec<&str> = imported.losses.by_type.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["message:says nothing", "role:critic"]);
}

#[test]
fn gemini_results_never_go_to_another_tool() {
    let imported = of(
        "gemini-contents",
        r#"{"contents":[{"role":"system","parts":[{"text":"Mend."}]},{"parts":"Which bulb?"},
            {"role":"model","parts":[{"functionCall":{"name":"read"}},{"functionCall":{"name":"list"}}]},
            {"role":"function","parts":{"functionResponse":{"name":"list","response":{"output":"E27"}}}},
            {"role":"model"},
            {"role":"model","parts":[{"text":"E27."}]}]}"#,
    );
    assert_eq!(
        sayings(&imported),
        [
            "system \"Mend.\"",
            "user \"Which bulb?\"",
            "assistant =read() by-name-1=list()",
            "tool \"E27\" <- by-name-1",
            "assistant \"E27.\"",
        ]
    );
    let kinds: Vec<&str> = imported.losses.by_type.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["content:says nothing"]);
}

#[test]
fn adk_events_that_come_twice_and_cases_with_events() {
    let event =
        |id: u8, text: &str| format!(r#"{{"id":"e{id}","author":"user","content":{{"parts":[{{"text":"{text}"}}]}}}}"#);
    let events = [event(1, "Which bulb?"), "{}".to_owned(), event(2, "Now?"), event(1, "Which bulb?")].join(",");
    let imported = of("adk-session", &format!(r#"{{"id":7,"appName":"shop","events":[{events}]}}"#));
    assert_eq!(imported.session.id, "7");
    assert_eq!(sayings(&imported), ["user \"Which bulb?\"", "user \"Now?\""]);
    assert_eq!(imported.losses.duplicates.count, 1);
    let case = of(
        "adk-session",
        r#"{"evalCases":[{"evalId":"a","conversation":[{"creationTimestamp":2.5,"userContent":{"parts":[{"text":"Which bulb?"}]},
            "intermediateData":{"invocationEvents":[
             {"author":"mender","content":{"parts":[{"text":"Looking."},{"functionCall":{"id":"c1","name":"read","args":{}}}]}},
             {"author":"mender","content":{"parts":[{"functionResponse":{"id":"c1","name":"read","response":{"result":"E27"}}}]}}]},
            "finalResponse":{"parts":[{"text":"E27."}]}}]}]}"#,
    );
    let wanted =
        ["user \"Which bulb?\"", "assistant \"Looking.\" c1=read({})", "tool \"E27\" <- c1", "assistant \"E27.\""];
    assert_eq!(sayings(&case), wanted);
    assert_eq!(case.session.turns[3].ts.as_deref(), Some("2.5"));
}
