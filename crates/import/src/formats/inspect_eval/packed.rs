//! The `.eval` archive: a header, a journal, and a file a sample, which are read one by one.

use crate::archive::{Archive, ArchiveLimits, Entry};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::reader::Confidence;
use crate::records::{Line, line_of};
use crate::values::{Numbering, Sink, with_document};

use super::{Log, ZIP};

/// How much the head of an archive looks like a log: by the name of any entry in it.
pub(super) fn detect(head: &[u8]) -> Option<Confidence> {
    memchr::memmem::find_iter(head, ZIP).any(|at| is_own(entry_name(&head[at..]))).then_some(Confidence::Sure)
}

/// The name in the entry that begins `bytes`.
fn entry_name(bytes: &[u8]) -> &[u8] {
    let length = bytes.get(26..28).map_or(0, |length| usize::from(u16::from_le_bytes([length[0], length[1]])));
    bytes.get(30..30 + length).unwrap_or_default()
}

fn is_own(name: &[u8]) -> bool {
    name == b"header.json"
        || name.starts_with(b"_journal/")
        || (name.starts_with(b"samples/") && name.ends_with(b".json"))
}

/// Puts the samples of an archive. Without a header the log was never finished; the journal has its beginning.
///
/// # Errors
/// Where the archive is refused, and what the receiver of the sessions says.
pub(super) fn read(input: &Input, format: &'static str, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut archive = Archive::open(input, ArchiveLimits::of(input))?;
    let log = log(input, &mut archive)?;
    let file = input.name();
    for (place, entry) in archive.entries().to_vec().into_iter().enumerate() {
        let Some(name) = entry.name.strip_prefix("samples/").and_then(|name| name.strip_suffix(".json")) else {
            continue;
        };
        let bytes = match archive.unpack(&entry)? {
            Ok(bytes) => bytes,
            Err(damage) => {
                sink.loose.skip(place + 1, format!("{}: {damage}", entry.name));
                continue;
            }
        };
        let read = with_document(input, format, &bytes, sink, &mut |line, _, sink| match line {
            Line::Object(fields) => sink.put(log.session(&fields, name, &file, Numbering::Messages)),
            Line::List(_) => {
                sink.loose.skip(place + 1, format!("{}: JSON, but no object", entry.name));
                Ok(())
            }
        });
        match read {
            Err(ImportError::NotThisFormat { problem, .. }) => {
                sink.loose.skip(place + 1, format!("{}: {problem}", entry.name));
            }
            other => other?,
        }
    }
    Ok(())
}

/// What the archive says of all its samples.
fn log(input: &Input, archive: &mut Archive<'_>) -> Result<Log, ImportError> {
    let mut unfinished = None;
    for name in ["header.json", "_journal/start.json"] {
        let Some(entry) = archive.entries().iter().find(|entry| entry.name == name).cloned() else {
            unfinished = Some("from a log that was never finished".to_owned());
            continue;
        };
        if let Some(mut log) = header(input, archive, &entry)? {
            log.notes.extend(unfinished);
            return Ok(log);
        }
    }
    let mut log = Log::new(input, None);
    log.notes.extend(unfinished);
    Ok(log)
}

fn header(input: &Input, archive: &mut Archive<'_>, entry: &Entry) -> Result<Option<Log>, ImportError> {
    let Ok(bytes) = archive.unpack(entry)? else { return Ok(None) };
    let mut mended = String::new();
    let fields: Option<Fields<'_>> = match line_of(&bytes, &mut mended).0 {
        Ok(Line::Object(fields)) => Some(fields),
        Ok(Line::List(_)) | Err(_) => None,
    };
    Ok(fields.map(|fields| Log::new(input, Some(&fields))))
}

#[cfg(test)]
mod tests {
    use super::detect;

    #[test]
    fn an_archive_is_told_by_its_entries() {
        let entry = |name: &str| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
            bytes.extend([0, 0]);
            bytes.extend(name.as_bytes());
            bytes
        };
        assert!(detect(&entry("_journal/start.json")).is_some());
        assert!(detect(&[entry("other"), entry("samples/1_epoch_1.json")].concat()).is_some());
        assert!(detect(&entry("word/document.xml")).is_none());
        assert!(detect(b"PK\x03\x04").is_none());
    }
}
