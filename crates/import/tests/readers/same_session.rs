//! Published sessions that are there in several formats, where they are at hand: the readers agree. Traces are left
//! out: their last turn is in no span.

use std::path::Path;

use laundromat_import::{History, Imported, Input, read, read_path};
use laundromat_session::{Counts, Role, Session};

use crate::published::{folder, part};

fn only(path: &Path) -> Session {
    session(path, "")
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
    let Some(real) = folder("sessions-real") else { return };
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
fn an_event_stream_and_its_export_are_the_same() {
    let Some(folder) = folder("sessions-real/opencode") else { return };
    let names = [
        "real-session-task-three-parallel-sleeps",
        "real-session-action-buttons",
        "session-explicit-abort",
        "session-two-completions-same-session",
    ];
    for name in names {
        let export = only(&folder.join(format!("{name}.export.json")));
        let events = session(&folder.join(format!("{name}.events.jsonl")), &export.id);
        assert_eq!(essence(&events), essence(&export), "{name}");
        assert_eq!(Counts::of(&events), Counts::of(&export), "{name}");
    }
}

#[test]
fn a_capture_the_flag_sample_is_the_same_in_all_formats() {
    let Some(real) = folder("sessions-real") else { return };
    let goose = only(&real.join("goose/20260302_ctf-86.jsonl"));
    let opencode = only(&real.join("opencode/opencode.db"));
    let hermes = session(&real.join("hermes/state.db"), "20260302_090002_fac98944");
    assert_eq!(essence(&goose), essence(&opencode));
    // Hermes has no flag of failure, and no other difference.
    assert_eq!(essence(&goose), essence(&hermes));
}

#[test]
fn an_openhands_run_is_the_same_in_all_formats() {
    let Some(real) = folder("sessions-real") else { return };
    let goose = session(&real.join("goose/sessions.db"), "20260302_2");
    let opencode = only(&real.join("opencode/openhands-msb2.export.json"));
    let hermes = only(&real.join("hermes/openhands-msb2.export.jsonl"));
    assert_eq!(essence(&goose), essence(&opencode));
    assert_eq!(essence(&goose), essence(&hermes));
}

#[test]
fn a_folder_is_the_session_that_was_converted() {
    let Some(real) = folder("sessions-real") else { return };
    let opencode = only(&real.join("opencode/storage-s7"));
    let claude = only(&real.join("claude-code/agtrace-claude.jsonl"));
    assert_eq!(essence(&opencode), essence(&claude));
}

/// A converted session that was compacted in one format is, before that, the same as in another.
#[test]
fn the_original_of_a_compacted_session_is_the_session() {
    let Some(real) = folder("sessions-real") else { return };
    let store = Input::file(real.join("hermes/state.db")).with_history(History::Original);
    let originals = read(&store, None).expect("reads");
    let goose = session(&real.join("goose/sessions.db"), "20260302_1");
    assert_eq!(essence(&part(&originals, "20260302_090001_8ddf8780").session), essence(&goose));
    // A rotated session and its child are one.
    let goose = only(&real.join("goose/20260302_cc-12a546d1.jsonl"));
    assert_eq!(essence(&part(&originals, "20260302_090003_7e7cb681_c").session), essence(&goose));
    assert_eq!(originals.len(), 3);
}

#[test]
fn stores_of_several_versions_are_read() {
    let Some(captures) = folder("captures") else { return };
    for name in ["hermes_state_v22.db", "hermes_state_v26.db"] {
        let session = only(&captures.join(name));
        let counts = Counts::of(&session);
        assert_eq!((counts.turns, counts.user, counts.synthetic_user), (14, 5, 1), "{name}");
        assert_eq!((counts.calls, counts.results, counts.orphan_results), (3, 3, 0), "{name}");
        let forged = session.turns.iter().filter(|turn| turn.text().contains("standing approval"));
        assert!(forged.into_iter().all(|turn| turn.role == Role::Tool));
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

#[test]
fn a_claude_code_session_as_a_trajectory_and_as_chat() {
    agree("atif/cc-12a546d1.trajectory.json", &[("openai-chat/cc-12a546d1.messages.jsonl", "")]);
}
