//! Published sessions, where they are at hand: every count of every file and part as its `SOURCES.md` has it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use laundromat_import::{FORMATS, ImportError, Imported, detect, read_path};
use laundromat_session::{Counts, canonical};

/// A folder of what is not part of the repository; `None`, and a line that says so, where it is not at hand.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
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

/// The session of a part: by its id, or a sample's: `samples/15_epoch_1.json` and `1#4` name sample 15 (1) and epoch
/// 1 (4).
pub(crate) fn part<'a>(imported: &'a [Imported], part: &str) -> &'a Imported {
    if part.is_empty() {
        let [only] = imported else { panic!("one session, not {}", imported.len()) };
        return only;
    }
    let stem = part.trim_start_matches("samples/").trim_end_matches(".json").replace('#', "_epoch_");
    let is_it = |one: &&Imported| one.session.id == part || one.session.id.ends_with(&format!("-{stem}"));
    imported.iter().find(is_it).unwrap_or_else(|| panic!("no session for {part}"))
}

/// What differs from the table of a format.
fn differences(format: &str) -> Vec<String> {
    let Some(folder) = folder(&format!("sessions-real/{format}")) else { return Vec::new() };
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
    wrong
}

#[test]
fn every_count_is_as_published() {
    let all: Vec<String> = FORMATS
        .iter()
        .filter(|format| format.id() != "laundromat")
        .flat_map(|format| differences(format.id()))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
