//! From a path to sessions: which format a file is in, and reading it.

use std::path::Path;

use laundromat_session::fault::choose_remedy;

use crate::error::ImportError;
use crate::formats::FORMATS;
use crate::input::Input;
use crate::reader::{Confidence, Each, Imported, Reader};
use crate::sample::Sample;

/// The reader of the format that the file at `path` is in.
///
/// # Errors
/// Where it cannot be read, or no reader knows it.
pub fn detect(path: &Path) -> Result<&'static dyn Reader, ImportError> {
    detect_input(&Input::file(path))
}

/// The reader with the id `id`.
///
/// # Errors
/// Where there is none, with the nearest one or all.
pub fn format_of(id: &str) -> Result<&'static dyn Reader, ImportError> {
    FORMATS.iter().copied().find(|reader| reader.id() == id).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|reader| reader.id()).collect();
        ImportError::NoSuchFormat { name: id.to_owned(), remedy: choose_remedy(id, &known) }
    })
}

/// All sessions of the file at `path`, read as `format`, or as the format it is in.
///
/// # Errors
/// As [`read`].
pub fn read_path(path: &Path, format: Option<&str>) -> Result<Vec<Imported>, ImportError> {
    read(&Input::file(path), format)
}

/// All sessions of `input`, read as `format`, or as the format it is in.
///
/// # Errors
/// Where it cannot be read, is in no known format or not in the one given, or holds no conversation.
pub fn read(input: &Input, format: Option<&str>) -> Result<Vec<Imported>, ImportError> {
    let mut all = Vec::new();
    read_each(input, format, &mut |imported| {
        all.push(imported);
        Ok(())
    })?;
    Ok(all)
}

/// Gives the sessions of `input`, read as `format` or as the format it is in, to `each`, one by one.
///
/// # Errors
/// As [`read`], and what `each` says.
pub fn read_each(input: &Input, format: Option<&str>, each: &mut Each<'_>) -> Result<(), ImportError> {
    let reader = match format {
        Some(id) => format_of(id)?,
        None => detect_input(input)?,
    };
    reader.read(input, each)
}

fn detect_input(input: &Input) -> Result<&'static dyn Reader, ImportError> {
    recognise(&input.sample()?).ok_or_else(|| ImportError::UnknownFormat {
        path: input.path().to_owned(),
        known: FORMATS.iter().map(|reader| reader.id()).collect::<Vec<_>>().join(", "),
    })
}

/// The surest reader; of equally sure ones the first in the list.
pub(crate) fn recognise(sample: &Sample) -> Option<&'static dyn Reader> {
    let mut best: Option<(Confidence, &'static dyn Reader)> = None;
    for reader in FORMATS.iter().copied() {
        match reader.detect(sample) {
            // Nobody can be surer.
            Some(Confidence::Sure) => return Some(reader),
            Some(confidence) if best.is_none_or(|(before, _)| before < confidence) => best = Some((confidence, reader)),
            Some(_) | None => {}
        }
    }
    best.map(|(_, reader)| reader)
}

#[cfg(test)]
mod tests {
    use super::{format_of, read};
    use crate::error::ImportError;
    use crate::input::Input;

    #[test]
    fn an_unknown_file_and_an_unknown_format_are_told_with_a_remedy() {
        for bytes in ["", "hello", "{}", "[]", "{\"a\":1}\n", "[[]]", "SQLite format 3\0"] {
            let error = read(&Input::bytes("x.json", bytes.as_bytes().to_vec()), None).expect_err("unknown");
            assert!(matches!(error, ImportError::UnknownFormat { .. }), "{bytes}: {error}");
            assert!(error.to_string().starts_with("x.json: not a session in any known format; known: laundromat, "));
        }
        let error = format_of("claude").err().expect("unknown").to_string();
        assert_eq!(error, "\"claude\" is no session format; did you mean \"claude-code\"?");
    }
}
