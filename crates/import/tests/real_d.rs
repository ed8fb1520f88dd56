//! Published sessions of research harnesses, where they are at hand: every count of every file and part as
//! its `SOURCES.md` has it, and the same session in several formats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use laundromat_import::{Imported, detect, read_path};
use laundromat_session::{Counts, Role, Session, canonical};

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/sessions-real")
}

fn folder(format: &str) -> Option<PathBuf> {
    let path = shared().join(format);
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

/// The session of a part: `samples/15_epoch_1.json` and `1#4` name sample 15 (1) and epoch 1 (4).
fn part<'a>(imported: &'a [Imported], part: &str) -> &'a Imported {
    if part.is_empty() {
        let [only] = imported else { panic!("one session, not {}", imported.len()) };
        return only;
    }
    let stem = part.trim_start_matches("samples/").trim_end_matches(".json").replace('#', "_epoch_");
    let is_it = |one: &&Imported| one.session.id.ends_with(&format!("-{stem}"));
    imported.iter().find(is_it).unwrap_or_else(|| panic!("no session for {part}"))
}

fn check(format: &str) {
    let Some(folder) = folder(format) else { return };
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
        let imported = read_path(&path, None).expect("reads");
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
fn api_formats() {
    for format in ["openai-chat", "openai-responses", "anthropic-messages", "gemini-contents"] {
        check(format);
    }
}

#[test]
fn histories_of_libraries() {
    for format in ["adk-session", "pydantic-ai", "langchain"] {
        check(format);
    }
}

#[test]
fn sharegpt() {
    check("sharegpt");
}

#[test]
fn otel_genai() {
    check("otel-genai");
}

#[test]
fn openhands() {
    check("openhands");
}

#[test]
fn swe_agent() {
    check("swe-agent-traj");
}

#[test]
fn mini_swe_agent() {
    check("mini-swe-agent");
}

#[test]
fn tau_bench() {
    check("tau-bench");
}

#[test]
fn agentdojo() {
    check("agentdojo");
}

#[test]
fn inspect_eval() {
    check("inspect-eval");
}

#[test]
fn atif() {
    check("atif");
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

/// `claude-code/12a546d1` is there as ATIF and as Chat.
#[test]
fn the_same_session_in_several_formats_is_the_same() {
    let (Some(atif), Some(chat)) = (folder("atif"), folder("openai-chat")) else { return };
    let first = read_path(&atif.join("cc-12a546d1.trajectory.json"), None).expect("reads");
    let listing = std::fs::read_dir(&chat).expect("lists").filter_map(|entry| Some(entry.ok()?.path()));
    let other = listing
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("12a546d1")))
        .min()
        .expect("the same as chat");
    let other = read_path(&other, None).expect("reads");
    assert_eq!(essence(&first[0].session), essence(&other[0].session));
}
