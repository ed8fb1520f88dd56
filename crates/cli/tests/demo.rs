//! The committed run of a real local model plays again from its cassette: no server runs and nothing is sent.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{laundromat, repo};
use serde_json::Value;

const EXAMPLE: &str = "results/examples/demo-llm-qwen2.5-coder-0.5b";
const SCENARIO: &str = "scenarios/demo-llm.toml";
const CASSETTE: &str = "cassette.jsonl.zst";

fn replay(out: &Path) {
    let cassette = repo(EXAMPLE).join(CASSETTE);
    let output = laundromat()
        .arg("run")
        .arg(repo(SCENARIO))
        .arg("--replay")
        .arg(cassette)
        .arg("--out")
        .arg(out)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{said}\nThe cassette is found by the bytes of the requests. If they were meant to change, record it again with \
         the model: just demo-llm MODEL.gguf (docs/local-model.md, \"The committed example\")"
    );
}

/// The views that are tables and words. PNG is left out: its bytes hang on how a machine rounds, the SVG is the same drawing.
fn compared(folder: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for place in ["", "plots"] {
        for entry in fs::read_dir(folder.join(place)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_view =
                path.extension().is_some_and(|extension| ["csv", "md", "svg"].iter().any(|it| extension == *it));
            if is_view && !path.ends_with("README.md") {
                names.push(path.strip_prefix(folder).expect("inside").to_owned());
            }
        }
    }
    names.sort();
    names
}

/// A report names the version that wrote it; the committed one must not be written again for a new number alone.
fn of_any_version(text: &str) -> String {
    let told = " with laundromat ";
    let (before, after) = text.split_once(told).unwrap_or((text, ""));
    let rest = after.split_once(';').map_or(after, |(_, rest)| rest);
    format!("{before}{told}[version];{rest}")
}

#[test]
fn the_cassette_gives_the_committed_tables() {
    let temp = tempfile::tempdir().expect("a folder");
    replay(temp.path());
    let names = compared(temp.path());
    assert_eq!(names, compared(&repo(EXAMPLE)), "the committed folder has other views");
    assert_eq!(names.len(), 9, "{names:?}");
    for name in names {
        let read = |folder: &Path| fs::read_to_string(folder.join(&name)).expect("text");
        let (committed, replayed) = (read(&repo(EXAMPLE)), read(temp.path()));
        let same = if name == Path::new("report.md") {
            of_any_version(&committed) == of_any_version(&replayed)
        } else {
            committed == replayed
        };
        assert!(
            same,
            "{} differs from {EXAMPLE}; if the views were meant to change, write them again: \
             cargo run --release -- run {SCENARIO} --replay {EXAMPLE}/{CASSETTE} --out target/demo-llm/views, \
             and copy the tables, the report and the plots",
            name.display()
        );
    }
}

#[test]
fn every_title_says_what_the_model_is_and_that_it_is_no_evidence() {
    let example = repo(EXAMPLE);
    let report = fs::read_to_string(example.join("report.md")).expect("a report");
    let readme = fs::read_to_string(example.join("README.md")).expect("a readme");
    let mut titles: Vec<String> =
        [report, readme].iter().map(|text| text.lines().next().unwrap_or_default().replace("\\_", "_")).collect();
    for plot in ["rates", "models", "recall"] {
        let svg = fs::read_to_string(example.join(format!("plots/{plot}.svg"))).expect("a plot");
        let (_, rest) = svg.split_once("<title>").expect("a title");
        titles.push(rest.split_once("</title>").expect("its end").0.to_owned());
        assert!(fs::metadata(example.join(format!("plots/{plot}.png"))).expect("a plot").len() > 1000);
    }
    for title in titles {
        for part in ["Qwen2.5-Coder-0.5B-Instruct", "491 MB", "not evidence about production summarizers"] {
            assert!(title.contains(part), "{part} is not in {title}");
        }
    }
}

#[test]
fn the_short_sessions_are_beginnings_of_the_bundled_ones() {
    let read =
        |path: &Path| -> Value { serde_json::from_str(&fs::read_to_string(path).expect("a session")).expect("JSON") };
    let mut seen = 0;
    for entry in fs::read_dir(repo("scenarios/demo-llm/sessions")).expect("a folder") {
        let opening = read(&entry.expect("an entry").path());
        let id = opening["id"].as_str().and_then(|id| id.strip_suffix("-opening")).expect("an opening");
        let whole = read(&repo(&format!("sessions/{id}.json")));
        let (opening, whole) =
            (opening["messages"].as_array().expect("rows"), whole["messages"].as_array().expect("rows"));
        assert!(whole.starts_with(opening) && opening.len() < whole.len(), "{id}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}
