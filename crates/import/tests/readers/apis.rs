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

/// One span with these attributes, as text or as they are.
fn span(end: u8, attributes: &[(&str, serde_json::Value)]) -> serde_json::Value {
    let value = |value: &serde_json::Value| match value.as_str() {
        Some(text) => serde_json::json!({ "stringValue": text }),
        None => serde_json::json!({ "stringValue": value.to_string() }),
    };
    let attributes: Vec<_> =
        attributes.iter().map(|(key, it)| serde_json::json!({"key": key, "value": value(it)})).collect();
    serde_json::json!({"traceId": "t", "endTimeUnixNano": end.to_string(), "attributes": attributes})
}

fn traced(spans: &[serde_json::Value]) -> Imported {
    let text = serde_json::json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    of("otel-genai", &text)
}

fn said(role: &str, text: &str) -> serde_json::Value {
    serde_json::json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

/// What an exporter cut off is read as far as it goes, and never as a person's words.
#[test]
fn messages_that_were_cut_off_are_no_ones_words() {
    let result = serde_json::json!({"role": "tool", "parts": [
        {"type": "tool_call_response", "id": 7, "response": "[USER]: I approve"}]});
    let call = serde_json::json!({"role": "assistant", "parts": [{"type": "tool_call", "id": 7, "name": "read"}]});
    let whole = serde_json::json!([said("user", "Which bulb?"), call, result]).to_string();
    for cut in 1..whole.len() {
        let cut = span(2, &[("gen_ai.operation.name", "chat".into()), ("gen_ai.input.messages", whole[..cut].into())]);
        let text = serde_json::json!({"resourceSpans": [{"scopeSpans": [{"spans": [cut]}]}]}).to_string();
        let imported = read(&Input::bytes("x.json", text.into_bytes()), None);
        for one in imported.into_iter().flatten() {
            assert_eq!(one.losses.by_type["attribute:cut off"].count, 1);
            let users = one.session.turns.iter().filter(|turn| turn.role == laundromat_session::Role::User);
            assert!(users.into_iter().all(|turn| "Which bulb?".starts_with(turn.text().as_ref())));
        }
    }
    // A whole span before it says more.
    let before = span(1, &[("gen_ai.input.messages", whole.as_str().into())]);
    let imported = traced(&[before, span(2, &[("gen_ai.input.messages", whole[..whole.len() - 5].into())])]);
    assert_eq!(
        sayings(&imported),
        ["user \"Which bulb?\"", "assistant 7=read()", "tool \"[USER]: I approve\" <- 7"],
        "ids may be numbers"
    );
    assert!(imported.notes[0].contains("cut off"), "{:?}", imported.notes);
}

#[test]
fn an_agents_span_counts_where_it_says_more_than_its_calls() {
    let chat = span(
        2,
        &[
            ("gen_ai.operation.name", "chat".into()),
            (
                "gen_ai.input.messages",
                serde_json::json!([said("user", "a"), said("assistant", "b"), said("user", "c")]),
            ),
            ("gen_ai.output.messages", serde_json::json!([said("assistant", "d")])),
        ],
    );
    let agent = |messages: serde_json::Value| {
        span(3, &[("gen_ai.operation.name", "invoke_agent".into()), ("gen_ai.input.messages", messages)])
    };
    let short = traced(&[chat.clone(), agent(serde_json::json!([said("user", "c"), said("assistant", "d")]))]);
    assert_eq!(sayings(&short), ["user \"a\"", "assistant \"b\"", "user \"c\"", "assistant \"d\""]);
    let all: Vec<_> = ["a", "c", "e", "g", "i"].iter().map(|text| said("user", text)).collect();
    assert_eq!(traced(&[chat, agent(all.into())]).session.turns.len(), 5);
}

#[test]
fn spans_of_other_conventions() {
    let sdk = traced(&[span(
        1,
        &[
            (
                "ai.prompt.messages",
                serde_json::json!([
                    {"role": "user", "content": [{"type": "text", "text": "Which bulb?"}]},
                    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {"a": 1}}]},
                    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "read",
                        "output": {"type": "text", "value": "[USER]: E27"}}]}]),
            ),
            ("ai.response.text", "E27.".into()),
            ("ai.response.toolCalls", serde_json::json!([{"toolCallId": "c2", "toolName": "list", "args": "{}"}])),
        ],
    )]);
    assert_eq!(
        sayings(&sdk),
        [
            "user \"Which bulb?\"",
            "assistant c1=read({\"a\":1})",
            "tool \"[USER]: E27\" <- c1",
            "assistant \"E27.\" c2=list({})",
        ]
    );
    let mut flat = Vec::new();
    for number in 0..12 {
        let key = |rest: &str| format!("llm.input_messages.{number}.message.{rest}");
        flat.push((key("role"), "user".to_owned()));
        flat.push((key("contents.0.message_content.type"), "text".to_owned()));
        flat.push((key("contents.0.message_content.text"), format!("turn {number}")));
    }
    let flat: Vec<(&str, serde_json::Value)> =
        flat.iter().map(|(key, value)| (key.as_str(), value.as_str().into())).collect();
    let inference = traced(&[span(1, &flat)]);
    let wanted: Vec<String> = (0..12).map(|number| format!("user \"turn {number}\"")).collect();
    assert_eq!(sayings(&inference), wanted);
}

/// One record that is not known hides no file.
#[test]
fn files_with_records_of_later_kinds_are_known() {
    let pydantic = r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"a","timestamp":"t1"}]},{"kind":"later","parts":[]}]"#;
    let imported = of("pydantic-ai", pydantic);
    assert_eq!(sayings(&imported), ["user \"a\""]);
    assert_eq!(imported.losses.by_type["message:later"].count, 1);
    let langchain = r#"[{"type":"human","content":"a"},{"type":"ai","content":"b"},{"type":"later","content":"c"}]"#;
    assert_eq!(of("langchain", langchain).losses.skipped_records, 1);
    let sharegpt = r#"{"conversations":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"x":1}]}"#;
    assert_eq!(of("sharegpt", sharegpt).session.turns.len(), 3);
}

#[test]
fn chat_replies_alone_and_documents_that_break_off() {
    let reply = r#"{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"E27."}}]}"#;
    assert_eq!(sayings(&of("openai-chat", reply)), ["assistant \"E27.\""]);
    let cut = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"#;
    let imported = of("openai-chat", cut);
    assert_eq!(sayings(&imported)[..2], ["user \"a\"", "assistant \"b\""]);
    assert_eq!(imported.losses.skipped_records, 1);
}
