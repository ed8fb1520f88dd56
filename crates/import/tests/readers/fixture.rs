//! The fixtures of this crate, and what comes out of them in a notation that is read at a glance.

use std::fs;
use std::path::{Path, PathBuf};

use laundromat_import::{History, Imported, Input, detect, read, read_path};
use laundromat_session::{Part, Role, Turn, canonical};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The fixture `name` of `format`.
pub(crate) fn path(format: &str, name: &str) -> PathBuf {
    let folder = if format == "laundromat" { "canonical" } else { format };
    root().join(folder).join(name)
}

/// All fixtures, each with its format.
pub(crate) fn all() -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for folder in fs::read_dir(root()).expect("lists").filter_map(Result::ok) {
        let format = match folder.file_name().to_string_lossy().as_ref() {
            "canonical" => "laundromat".to_owned(),
            "tricky" => continue,
            name => name.to_owned(),
        };
        let files = fs::read_dir(folder.path()).expect("lists").filter_map(Result::ok);
        all.extend(files.map(|file| (format.clone(), file.path())));
    }
    assert!(all.len() > 40);
    all
}

/// A fixture as it is read: asked for or detected, and written and read again, it is the same.
pub(crate) fn import(format: &str, name: &str) -> Vec<Imported> {
    let path = path(format, name);
    assert_eq!(detect(&path).expect("known").id(), format);
    let imported = read_path(&path, None).expect("reads");
    assert_eq!(read_path(&path, Some(format)).expect("reads"), imported, "asked for or detected: the same");
    for one in &imported {
        assert_eq!(canonical::read(&canonical::write(&one.session)).as_ref(), Ok(&one.session));
    }
    imported
}

/// The one session of a fixture.
pub(crate) fn only(format: &str, name: &str) -> Imported {
    let mut imported = import(format, name);
    assert_eq!(imported.len(), 1);
    imported.remove(0)
}

/// A fixture as it was before it was compacted.
pub(crate) fn original(format: &str, name: &str) -> Vec<Imported> {
    read(&Input::file(path(format, name)).with_history(History::Original), None).expect("reads")
}

/// A turn on one line: role, reason, text, other parts, calls, the call it answers, reasoning.
fn said(turn: &Turn) -> String {
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

/// The turns of a session, a line each.
pub(crate) fn sayings(imported: &Imported) -> Vec<String> {
    imported.session.turns.iter().map(said).collect()
}

/// The same with the number of each turn's record in front.
pub(crate) fn lines(imported: &Imported) -> Vec<String> {
    let record = |turn: &Turn| turn.source.as_ref().map_or(0, |source| source.record);
    imported.session.turns.iter().map(|turn| format!("{} {}", record(turn), said(turn))).collect()
}

/// The lines without those at the places `gone`.
pub(crate) fn without(lines: Vec<String>, gone: &[usize]) -> Vec<String> {
    let kept = lines.into_iter().enumerate().filter(|(at, _)| !gone.contains(at));
    kept.map(|(_, line)| line).collect()
}

/// The ids of sessions.
pub(crate) fn ids(imported: &[Imported]) -> Vec<&str> {
    imported.iter().map(|one| one.session.id.as_str()).collect()
}
