//! Published sessions, where they are at hand: every count of every file as its `SOURCES.md` has it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use laundromat_import::{detect, read_path};
use laundromat_session::{Counts, canonical};

fn folder(format: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/sessions-real").join(format);
    if !path.is_dir() {
        println!("skipped: {} not found", path.display());
        return None;
    }
    Some(path)
}

/// The rows of the counts table: the file, and each column by its heading.
fn table(sources: &str) -> Vec<(String, BTreeMap<String, usize>)> {
    let counts = sources.split_once("## Counts").expect("a counts section").1;
    let mut rows = counts
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let headings = rows.next().expect("headings");
    rows.skip(1)
        .map(|cells| {
            let counts = headings.iter().cloned().zip(&cells).skip(2);
            (cells[0].clone(), counts.map(|(heading, cell)| (heading, cell.parse().expect("a count"))).collect())
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

fn check(format: &str) {
    let Some(folder) = folder(format) else { return };
    let sources = std::fs::read_to_string(folder.join("SOURCES.md")).expect("sources");
    let rows = table(&sources);
    assert!(!rows.is_empty());
    let mut wrong = Vec::new();
    for (file, wanted) in rows {
        let path = folder.join(&file);
        assert_eq!(detect(&path).expect("known").id(), format, "{file}");
        let imported = read_path(&path, None).expect("reads");
        assert_eq!(imported.len(), 1, "{file}");
        let session = &imported[0].session;
        assert_eq!(session.origin.as_deref(), Some(format));
        assert_eq!(imported[0].losses.skipped_records, 0, "{file}: {}", imported[0].losses);
        assert_eq!(canonical::read(&canonical::write(session)).as_ref(), Ok(session), "{file}");
        let counts = columns(&Counts::of(session));
        assert_eq!(counts.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
        if counts != wanted {
            wrong.push(format!("{file}: {counts:?}, wanted {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn openai_chat() {
    check("openai-chat");
}

#[test]
fn claude_code() {
    check("claude-code");
}
