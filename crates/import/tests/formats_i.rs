//! Formats of model APIs, of libraries and of traces by fixtures of our own: what comes out, and what is counted.

use std::path::{Path, PathBuf};

use laundromat_import::{History, Imported, Input, detect, read, read_path};
use laundromat_session::{Part, Role, Turn, canonical};

fn path(format: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format).join(name)
}

fn import(format: &str, name: &str) -> Vec<Imported> {
    let path = path(format, name);
    assert_eq!(detect(&path).expect("known").id(), format);
    let imported = read_path(&path, None).expect("reads");
    assert_eq!(read_path(&path, Some(format)).expect("reads"), imported, "asked for or detected: the same");
    for one in &imported {
        assert_eq!(canonical::read(&canonical::write(&one.session)).as_ref(), Ok(&one.session));
    }
    imported
}

/// A turn on one line: role, reason, text, other parts, calls, the call it answers, reasoning.
fn line(turn: &Turn) -> String {
    let mut line = turn.role.as_str().to_owned();
    if let Role::Marker(kind) = &turn.role {
        line += &format!("!{kind}");
    }
    if let Some(reason) = &turn.synthetic {
        line += &format!(" ({reason})");
    }
    for part in &turn.parts {
        line += &match part {
            Part::Text(text) => format!(" {text:?}"),
            Part::Image(address) => format!(" image {}", address.as_deref().unwrap_or("?")),
            Part::Other(kind) => format!(" other {kind}"),
        };
    }
    for call in &turn.calls {
        line += &format!(" {}={}({})", call.id, call.name, call.arguments);
    }
    if let Some(id) = &turn.call_id {
        line += &format!(" <- {id}");
    }
    if turn.is_error {
        line += " failed";
    }
    if let Some(reasoning) = &turn.reasoning {
        line += &format!(" thought {reasoning:?}");
    }
    line
}

fn lines(imported: &Imported) -> Vec<String> {
    imported.session.turns.iter().map(line).collect()
}

fn only(format: &str, name: &str) -> Imported {
    let mut imported = import(format, name);
    assert_eq!(imported.len(), 1);
    imported.remove(0)
}

#[test]
fn responses_requests_with_their_reply() {
    let imported = only("openai-responses", "exchange.json");
    assert_eq!(
        lines(&imported),
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
    assert_eq!(lines(&text), ["user \"Which bulb?\"", "assistant \"E27.\""]);
}

#[test]
fn anthropic_requests_with_their_reply() {
    let imported = only("anthropic-messages", "exchange.json");
    assert_eq!(
        lines(&imported),
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
    let input = Input::file(path("anthropic-messages", "exchange.json")).with_history(History::Original);
    let original = read(&input, None).expect("reads").remove(0);
    assert_eq!(original.session.turns.len(), imported.session.turns.len() - 1);
}

#[test]
fn gemini_results_are_paired_by_name() {
    assert_eq!(
        lines(&only("gemini-contents", "exchange.json")),
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
        lines(&imported),
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
        lines(&imported),
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
        lines(&cases[0]),
        ["user \"Which bulb?\"", "assistant c1=read({\"path\":\"a\"})", "tool \"E27\" <- c1", "assistant \"E27.\""]
    );
}

#[test]
fn langchain_in_three_spellings() {
    let imported = only("langchain", "dict.json");
    assert_eq!(
        lines(&imported),
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
        lines(&constructed),
        ["user \"Which bulb?\"", "assistant c1=read({\"path\":\"a\"})", "tool \"E27\" <- c1"]
    );
    let state = only("langchain", "state.json");
    assert_eq!(lines(&state), ["user \"Which bulb?\"", "assistant \"E27.\""]);
    assert_eq!(state.losses.by_type["message:remove"].count, 1);
}

#[test]
fn sharegpt_tags_count_where_the_model_and_tools_speak() {
    let imported = import("sharegpt", "tags.jsonl");
    assert_eq!(
        lines(&imported[0]),
        [
            "system \"<tools>[]</tools>\"",
            "user \"Say <tool_call>{}</tool_call>\"",
            "assistant \"Looking.\" =read({\"path\":\"a\"}) =list({\"all\":true}) thought \"Read.\"",
            "tool \"E27 </tool_response>\"",
            "tool \"none\"",
        ]
    );
    assert_eq!(
        lines(&imported[1]),
        ["user \"And the shade?\"", "assistant =look({})", "tool \"brass\"", "critic \"fine\""]
    );
    assert_eq!(imported[1].session.id, "shade");
}

#[test]
fn the_last_span_of_a_conversation_is_the_session() {
    let imported = import("otel-genai", "spans.json");
    assert_eq!(imported.iter().map(|one| one.session.id.as_str()).collect::<Vec<_>>(), ["lamp", "old", "events"]);
    assert_eq!(
        lines(&imported[0]),
        [
            "system \"Mend lamps.\"",
            "user \"Which bulb?\"",
            "assistant c1=read({\"path\":\"a\"})",
            "tool \"[USER]: E27\" <- c1",
            "assistant \"E27.\" thought \"Sure.\"",
        ]
    );
    assert_eq!(lines(&imported[1]), ["user \"And the shade?\"", "assistant \"Brass.\""]);
    assert_eq!(lines(&imported[2]), ["user \"Hello\"", "assistant \"Good day.\""]);
    let store = only("otel-genai", "store.json");
    assert_eq!(
        lines(&store),
        ["user \"Which bulb?\"", "assistant c1=read({})", "tool \"E27\" <- c1", "assistant \"E27.\""]
    );
}
