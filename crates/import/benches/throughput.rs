//! How fast Claude Code sessions are read and made private, beside a loop that only parses each line.
//!
//! `cargo bench -p laundromat-import [-- MEGABYTES [FOLDER]]`: sessions of a folder (else made-up ones of the same
//! shapes) are repeated up to so many megabytes.

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Instant;

use laundromat_import::{Input, Privacy, Salt, read_each};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let megabytes: u64 = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(100);
    let folder = tempfile::tempdir().expect("a folder");
    let sources = arguments.get(1).map_or_else(|| made_up(folder.path()), |path| jsonl_files(Path::new(path)));
    let files: Vec<&PathBuf> = repeated(&sources, megabytes << 20);
    let bytes: u64 = files.iter().map(|path| size(path)).sum();
    println!("{} sessions, {} MB", files.len(), bytes / 1_000_000);

    measure("serde_json, line by line", bytes, || {
        for path in &files {
            for line in BufReader::new(fs::File::open(path).expect("opens")).lines() {
                black_box(serde_json::from_str::<serde_json::Value>(&line.expect("reads")).ok());
            }
        }
    });
    measure("read", bytes, || {
        for path in &files {
            read_each(&Input::file(path), None, &mut |imported| {
                black_box(imported);
                Ok(())
            })
            .expect("reads");
        }
    });
    let privacy = Privacy::new(None, Salt::of(b"bench")).expect("rules");
    measure("read and made private", bytes, || {
        for path in &files {
            read_each(&Input::file(path), None, &mut |imported| {
                black_box(privacy.redact(imported.session));
                Ok(())
            })
            .expect("reads");
        }
    });
    let mut text = 0;
    let sessions: Vec<_> =
        sources.iter().flat_map(|path| laundromat_import::read_path(path, None).expect("reads")).collect();
    for imported in &sessions {
        text += laundromat_session::canonical::write(&imported.session).len() as u64;
    }
    let rounds = (bytes / text.max(1)).max(1);
    measure("made private alone (canonical bytes)", text * rounds, || {
        for _ in 0..rounds {
            for imported in &sessions {
                black_box(privacy.redact(imported.session.clone()));
            }
        }
    });
}

fn measure(what: &str, bytes: u64, work: impl Fn()) {
    let best = (0..3)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{what:<40} {:>8.0} MB/s", bytes as f64 / 1e6 / best);
}

fn jsonl_files(folder: &Path) -> Vec<PathBuf> {
    let walk = laundromat_import::walk(&[folder.to_owned()]);
    let paths = walk.candidates.into_iter().map(|candidate| candidate.path);
    paths.filter(|path| laundromat_import::detect(path).is_ok_and(|reader| reader.id() == "claude-code")).collect()
}

fn repeated(sources: &[PathBuf], bytes: u64) -> Vec<&PathBuf> {
    let mut sum = 0;
    let enough = |path: &&PathBuf| {
        let before = sum;
        sum += size(path);
        before < bytes
    };
    sources.iter().cycle().take_while(enough).collect()
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}

/// A session of 400 calls with results of some kilobytes.
fn made_up(folder: &Path) -> Vec<PathBuf> {
    let mut lines = Vec::new();
    let mut parent = serde_json::Value::Null;
    let code =
        "    let total: u64 = rows.iter().map(|row| row.size_in_bytes()).sum(); // see /srv/app/src/rows.rs:120\n"
            .repeat(30);
    for turn in 0..400 {
        let (reply, result) = (format!("r{turn}"), format!("u{turn}"));
        lines.push(json!({"type": "assistant", "uuid": reply, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-05T10:00:00Z",
            "message": {"id": reply, "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Looking at the rows."},
                {"type": "tool_use", "id": format!("t{turn}"), "name": "Read", "input": {"file_path": format!("/srv/app/src/part{turn}.rs")}}]}}));
        lines.push(json!({"type": "user", "uuid": result, "parentUuid": reply, "sessionId": "s", "timestamp": "2026-01-05T10:00:01Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": code}]},
            "toolUseResult": {"type": "text", "file": {"content": code, "numLines": 30}}}));
        parent = json!(result);
    }
    let path = folder.join("s.jsonl");
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    fs::write(&path, text.join("\n")).expect("written");
    vec![path]
}
