//! Published sessions that are there in several formats, where they are at hand: the readers of API formats
//! agree with those of the programs that the sessions are from. Traces are left out: their last turn is in no span.

use std::path::{Path, PathBuf};

use laundromat_import::{Imported, read_path};
use laundromat_session::{Role, Session};

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/sessions-real");
    if !path.is_dir() {
        println!("skipped: {} not found", path.display());
        return None;
    }
    Some(path)
}

/// The session of `path` whose id ends in `end`.
fn session(path: &Path, end: &str) -> Session {
    let imported = read_path(path, None).expect("reads");
    let found = imported.into_iter().find(|Imported { session, .. }| session.id.ends_with(end));
    found.unwrap_or_else(|| panic!("no session for {end:?} in {}", path.display())).session
}

/// What a session holds beside ids, times and marks: texts of people and the model, calls, results. What a
/// person says in several turns is one, since some formats have no other way.
fn essence(session: &Session) -> Vec<String> {
    let mut essence: Vec<(&str, String)> = Vec::new();
    for turn in &session.turns {
        let role = turn.role.as_str();
        let text = turn.text().trim().to_owned();
        match (&turn.role, essence.last_mut()) {
            (Role::User, Some(("user", before))) => *before = format!("{before}\n{text}"),
            (Role::User | Role::Tool, _) => essence.push((role, text)),
            (Role::Assistant, _) => {
                let calls = turn.calls.iter().map(|call| {
                    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                    format!("\n{}({arguments})", call.name)
                });
                essence.push((role, text + &calls.collect::<String>()));
            }
            _ => {}
        }
    }
    essence.into_iter().map(|(role, text)| format!("{role} {text}")).collect()
}

/// The same session is in all of `others`, given as path and end of the session's id.
fn agree(file: &str, others: &[(&str, &str)]) {
    let Some(real) = shared() else { return };
    let one = essence(&session(&real.join(file), ""));
    assert!(!one.is_empty());
    for (other, end) in others {
        let other_one = essence(&session(&real.join(other), end));
        for (at, (a, b)) in one.iter().zip(&other_one).enumerate() {
            assert_eq!(a, b, "{file} and {other}, turn {at}");
        }
        assert_eq!(one.len(), other_one.len(), "{file} and {other}");
    }
}

#[test]
fn a_tau_bench_run_as_an_anthropic_request() {
    let others = [
        ("tau-bench/airline-task02-trial1.json", ""),
        ("pydantic-ai/tau-task02.messages.json", ""),
        ("goose/sessions.db", "20260302_1"),
    ];
    agree("anthropic-messages/tau-task02.request.json", &others);
}

#[test]
fn a_claude_code_session_as_an_anthropic_request() {
    let others = [
        ("claude-code/fe869ecb.jsonl", ""),
        ("pydantic-ai/cc-fe869ecb.messages.json", ""),
        ("opencode/cc-fe869ecb.export.json", ""),
    ];
    agree("anthropic-messages/cc-fe869ecb.request.json", &others);
}

/// What the log has as the message of an error is no text of the result in the converted files.
#[test]
fn an_inspect_sample_as_a_responses_request() {
    let others =
        [("langchain/ctf-86.dumpd.json", ""), ("opencode/opencode.db", ""), ("goose/20260302_ctf-86.jsonl", "")];
    agree("openai-responses/ctf-86.request.json", &others);
}

/// Converted were the arguments that the harness recorded with its actions; its reader gives those of the model.
#[test]
fn an_openhands_run_as_a_gemini_request() {
    let others = [
        ("pydantic-ai/openhands-msb2.messages.json", ""),
        ("opencode/openhands-msb2.export.json", ""),
        ("goose/sessions.db", "20260302_2"),
    ];
    agree("gemini-contents/openhands-msb2.request.json", &others);
}
