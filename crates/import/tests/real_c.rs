//! Published sessions of coding agents, where they are at hand: every count of every file and part as its
//! `SOURCES.md` has it, and the same session in several formats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use laundromat_import::{History, ImportError, Imported, Input, detect, read, read_path};
use laundromat_session::{Counts, Role, Session, canonical};

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

fn folder(name: &str) -> Option<PathBuf> {
    let path = shared().join(name);
    if !path.is_dir() {
        println!("skipped: {} not found", path.display());
        return None;
    }
    Some(path)
}

/// A row of the counts table: the file, the part of it, and each column by its heading.
struct Row {
    file: String,
    part: String,
    counts: BTreeMap<String, usize>,
}

fn table(sources: &str) -> Vec<Row> {
    let counts = sources.split_once("## Counts").expect("a counts section").1;
    let mut rows = counts
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let headings = rows.next().expect("headings");
    rows.filter(|cells| !cells[0].starts_with("---"))
        .map(|cells| Row {
            file: cells[0].clone(),
            part: cells[1].clone(),
            counts: headings
                .iter()
                .cloned()
                .zip(&cells)
                .skip(2)
                .map(|(heading, cell)| (heading, cell.parse().expect("a count")))
                .collect(),
        })
        .collect()
}

fn columns(counts: &Counts) -> BTreeMap<String, usize> {
    [
        ("turns", counts.turns),
        ("system", counts.system),
        ("user", counts.user),
        ("synthetic user", counts.synthetic_user),
        ("assistant", counts.assistant),
        ("calls", counts.calls),
        ("results", counts.results),
        ("errors", counts.errors),
        ("reasoning", counts.reasoning),
        ("images", counts.images),
        ("markers", counts.markers),
        ("most calls in one turn", counts.max_calls_per_turn),
        ("unanswered calls", counts.unanswered_calls),
        ("orphan results", counts.orphan_results),
        ("reused ids", counts.reused_ids),
    ]
    .map(|(heading, count)| (heading.to_owned(), count))
    .into()
}

fn part<'a>(imported: &'a [Imported], part: &str) -> &'a Imported {
    if part.is_empty() {
        let [only] = imported else { panic!("one session, not {}", imported.len()) };
        return only;
    }
    imported.iter().find(|one| one.session.id == part).unwrap_or_else(|| panic!("no session for {part}"))
}

fn check(format: &str) {
    let Some(folder) = folder(&format!("sessions-real/{format}")) else { return };
    let sources = std::fs::read_to_string(folder.join("SOURCES.md")).expect("sources");
    let rows = table(&sources);
    assert!(!rows.is_empty());
    let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *parts.entry(&row.file).or_default() += 1;
    }
    let mut wrong = Vec::new();
    for row in &rows {
        let file = &row.file;
        let path = folder.join(file);
        assert_eq!(detect(&path).expect("known").id(), format, "{file}");
        let imported = match read_path(&path, None) {
            Ok(imported) => imported,
            Err(ImportError::NoTurns { .. }) if row.counts["turns"] == 0 => continue,
            Err(error) => panic!("{file}: {error}"),
        };
        assert_eq!(imported.len(), parts[file.as_str()], "{file}");
        let Imported { session, losses, .. } = part(&imported, &row.part);
        assert_eq!(session.origin.as_deref(), Some(format));
        assert_eq!(losses.skipped_records, 0, "{file}: {losses}");
        assert_eq!(canonical::read(&canonical::write(session)).as_ref(), Ok(session), "{file}");
        let counts = columns(&Counts::of(session));
        assert_eq!(counts.keys().collect::<Vec<_>>(), row.counts.keys().collect::<Vec<_>>());
        let differs = |(heading, count): &(&String, &usize)| row.counts[*heading] != **count;
        for (heading, count) in counts.iter().filter(differs) {
            wrong.push(format!("{file} {}: {heading} {count}, wanted {}", row.part, row.counts[heading]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codex_rollout() {
    check("codex-rollout");
}

#[test]
fn gemini_cli() {
    check("gemini-cli");
}

#[test]
fn hermes() {
    check("hermes");
}

#[test]
fn opencode() {
    check("opencode");
}

#[test]
fn goose() {
    check("goose");
}

#[test]
fn pi() {
    check("pi");
}

#[test]
fn cline() {
    check("cline");
}

fn only(path: &Path) -> Session {
    let mut imported = read_path(path, None).expect("reads");
    assert_eq!(imported.len(), 1, "{}", path.display());
    imported.remove(0).session
}

fn session(path: &Path, id: &str) -> Session {
    part(&read_path(path, None).expect("reads"), id).session.clone()
}

/// What a session holds beside ids, times and marks: texts of people and the model, calls, results.
fn essence(session: &Session) -> Vec<(String, String, Vec<String>)> {
    let spoken = |role: &Role| matches!(role, Role::User | Role::Assistant | Role::Tool);
    session
        .turns
        .iter()
        .filter(|turn| spoken(&turn.role))
        .map(|turn| {
            let calls = turn.calls.iter().map(|call| {
                let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                format!("{}({arguments})", call.name)
            });
            (turn.role.as_str().to_owned(), turn.text().trim().to_owned(), calls.collect())
        })
        .collect()
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
