//! A conversation as a folder with one file an event, in an `events` folder or bare.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ImportError;
use crate::input::Input;
use crate::reader::Confidence;
use crate::records::{Line, line_of};

use super::event::Reading;

/// How much the names in a folder look like OpenHands.
pub(super) fn detect(entries: &[String]) -> Option<Confidence> {
    let has = |name: &str| entries.iter().any(|entry| entry == name);
    if entries.iter().any(|entry| entry.starts_with("event") && number(entry).is_some()) {
        return Some(Confidence::Sure);
    }
    if has("events")
        && ["base_state.json", "event_cache", "agent_state.pkl", "metadata.json"].iter().any(|name| has(name))
    {
        return Some(Confidence::Sure);
    }
    let bare = !entries.is_empty() && entries.iter().all(|entry| number(entry).is_some());
    bare.then_some(Confidence::Possible)
}

/// The number of an event's file: `event-00012-....json` or, downloaded, `event_000012_....json` in newer versions,
/// `12.json` in older ones.
fn number(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".json")?;
    let digits = match stem.strip_prefix("event-").or_else(|| stem.strip_prefix("event_")) {
        Some(rest) => rest.split(['-', '_']).next()?,
        None => stem,
    };
    digits.parse().ok()
}

/// Reads the events of a folder in the order of their numbers. Links are not followed.
///
/// # Errors
/// Where the folder or a file cannot be read.
pub(super) fn read(input: &Input, reading: &mut Reading) -> Result<(), ImportError> {
    let events = input.path().join("events");
    let is_folder = fs::symlink_metadata(&events).is_ok_and(|about| about.is_dir());
    let folder = if is_folder { events.as_path() } else { input.path() };
    for (number, path) in files(input, folder)? {
        let record = usize::try_from(number).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = Input::file(&path).with_limits(input.limits()).document()?;
        let mut mended = String::new();
        let (line, replacements) = line_of(&bytes, &mut mended);
        reading.draft.losses.repair(record, replacements);
        match line {
            Ok(Line::Object(fields)) => reading.event(&fields, record),
            Ok(Line::List(_)) => reading.draft.losses.skip(record, "JSON, but no object"),
            Err(reason) => reading.draft.losses.skip(record, reason),
        }
    }
    Ok(())
}

fn files(input: &Input, folder: &Path) -> Result<Vec<(u64, PathBuf)>, ImportError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|source| input.unreadable(source))? {
        let entry = entry.map_err(|source| input.unreadable(source))?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if let Some(number) = number(&entry.file_name().to_string_lossy()).filter(|_| is_file) {
            files.push((number, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{detect, number};
    use crate::reader::Confidence;

    #[test]
    fn names_of_events_are_told() {
        assert_eq!(number("event-00012-1a2b-3c.json"), Some(12));
        assert_eq!(number("event_000003_1a2b.json"), Some(3));
        assert_eq!(number("7.json"), Some(7));
        assert_eq!(number("base_state.json"), None);
        assert_eq!(number("event-x.json"), None);
    }

    #[test]
    fn folders_are_told_by_their_names() {
        let of = |names: &[&str]| detect(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["event-00000-a.json"]), Some(Confidence::Sure));
        assert_eq!(of(&["base_state.json", "events"]), Some(Confidence::Sure));
        assert_eq!(of(&["0.json", "1.json"]), Some(Confidence::Possible));
        assert_eq!(of(&["0.json", "readme"]), None);
        assert_eq!(of(&[]), None);
    }
}
