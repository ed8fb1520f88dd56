//! A file record by record: lines split on the byte 0x0A and nothing else, of any length up to a
//! stated limit. A bad record is one bad record: it comes with the reason why it is of no use.

use std::io::{BufRead, Read};
use std::path::Path;

use serde_json::value::RawValue;

use crate::error::ImportError;
use crate::fields::Fields;
use crate::mend::{has_surrogate_escape, mend, trim};

/// Reads records one after another, into one buffer.
pub struct Records<'i> {
    reader: Box<dyn BufRead + 'i>,
    path: &'i Path,
    limit: u64,
    number: usize,
    buffer: Vec<u8>,
    mended: String,
}

/// One record that is not blank.
#[derive(Debug)]
pub struct Record<'r> {
    /// Its number from 1; blank lines count.
    pub number: usize,
    /// What it holds, or why it is of no use.
    pub line: Result<Line<'r>, String>,
    /// How many characters and tokens had to be replaced to read it.
    pub replacements: usize,
}

/// What a record holds.
#[derive(Debug)]
pub enum Line<'r> {
    /// An object.
    Object(Fields<'r>),
    /// A list.
    List(&'r RawValue),
}

impl<'i> Records<'i> {
    pub(crate) fn new(reader: Box<dyn BufRead + 'i>, path: &'i Path, limit: u64) -> Self {
        Self { reader, path, limit, number: 0, buffer: Vec::new(), mended: String::new() }
    }

    /// The next record that is not blank; `None` at the end.
    ///
    /// # Errors
    /// Where the file cannot be read on, or a record is longer than the limit.
    #[allow(clippy::should_implement_trait, reason = "a record borrows the reader's buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, ImportError> {
        while self.fill()? {
            if self.buffer.iter().any(|byte| !byte.is_ascii_whitespace()) {
                let ended = self.buffer.ends_with(b"\n");
                let (line, replacements) = line_of(&self.buffer, &mut self.mended);
                let line = line.map_err(|reason| match ended {
                    true => reason,
                    false => format!("torn at the end of the file: {reason}"),
                });
                return Ok(Some(Record { number: self.number, line, replacements }));
            }
        }
        Ok(None)
    }

    /// Reads one line into the buffer, with its line feed where it has one.
    fn fill(&mut self) -> Result<bool, ImportError> {
        self.buffer.clear();
        self.number += 1;
        let read = self
            .reader
            .by_ref()
            .take(self.limit.saturating_add(1))
            .read_until(b'\n', &mut self.buffer)
            .map_err(|source| ImportError::Read { path: self.path.to_owned(), source })?;
        if read as u64 > self.limit {
            return Err(ImportError::RecordTooLong {
                path: self.path.to_owned(),
                record: self.number,
                limit: self.limit,
            });
        }
        Ok(read > 0)
    }
}

impl<'r> Line<'r> {
    /// Opens the record `text`.
    ///
    /// # Errors
    /// Why it is of no use.
    pub fn parse(text: &'r str) -> Result<Self, String> {
        let not_json = |error: serde_json::Error| format!("not JSON: {error}");
        match text.as_bytes().first() {
            Some(b'{') => Fields::parse(text).map(Line::Object).map_err(not_json),
            Some(b'[') => serde_json::from_str(text).map(Line::List).map_err(not_json),
            _ => match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => Err("JSON, but no object".to_owned()),
                Err(error) => Err(not_json(error)),
            },
        }
    }
}

/// Opens the record `bytes`, in a repaired copy where it has to be; and how much was replaced.
pub(crate) fn line_of<'r>(bytes: &'r [u8], mended: &'r mut String) -> (Result<Line<'r>, String>, usize) {
    let bytes = trim(bytes);
    if bytes.is_empty() {
        return (Err("a run of NUL bytes".to_owned()), 0);
    }
    if !has_surrogate_escape(bytes)
        && let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(line) = Line::parse(text)
    {
        return (Ok(line), 0);
    }
    let repair = mend(bytes);
    *mended = repair.text;
    let line = Line::parse(mended);
    let replacements = if line.is_ok() { repair.replacements } else { 0 };
    (line, replacements)
}

#[cfg(test)]
mod tests {
    use super::Line;
    use crate::error::ImportError;
    use crate::input::{Input, Limits};

    /// Number, replacements, and the field `a` of each record or the reason.
    fn records(bytes: &[u8]) -> Vec<(usize, usize, Result<String, String>)> {
        let input = Input::bytes("x.jsonl", bytes.to_vec());
        let mut records = input.records().expect("opens");
        let mut seen = Vec::new();
        while let Some(record) = records.next().expect("reads") {
            let line = record.line.map(|line| match line {
                Line::Object(fields) => fields.text("a").unwrap_or_default().into_owned(),
                Line::List(raw) => raw.get().to_owned(),
            });
            seen.push((record.number, record.replacements, line));
        }
        seen
    }

    #[test]
    fn only_line_feeds_split() {
        let seen = records("\u{FEFF}{\"a\":\"x\u{2028}y\u{85}z\"}\r\n\r\n  \n{\"a\":\"2\"}".as_bytes());
        assert_eq!(seen, [(1, 0, Ok("x\u{2028}y\u{85}z".to_owned())), (4, 0, Ok("2".to_owned()))]);
    }

    #[test]
    fn a_bad_record_is_one_bad_record() {
        let seen = records(b"\0\0\0\n\0\0{\"a\":\"kept\"}\n\"text\"\n[1]\n{\"a\":\n{\"a\":\"\\udc88\"}\n{\"a\":\"x\xFF\",\"b\":NaN}\n{\"a\":\"to");
        let reasons: Vec<_> = seen.iter().map(|(_, _, line)| line.clone()).collect();
        assert_eq!(reasons[0], Err("a run of NUL bytes".to_owned()));
        assert_eq!(seen[1], (2, 0, Ok("kept".to_owned())));
        assert_eq!(reasons[2], Err("JSON, but no object".to_owned()));
        assert_eq!(reasons[3], Ok("[1]".to_owned()));
        assert!(reasons[4].as_ref().is_err_and(|reason| reason.starts_with("not JSON: ")));
        assert_eq!(seen[5], (6, 1, Ok("\u{FFFD}".to_owned())));
        assert_eq!(seen[6], (7, 2, Ok("x\u{FFFD}".to_owned())));
        assert!(reasons[7].as_ref().is_err_and(|reason| reason.starts_with("torn at the end of the file: ")));
    }

    #[test]
    fn a_record_over_the_limit_is_refused_with_the_limit_named() {
        let limits = Limits { record: 10, ..Limits::default() };
        let input = Input::bytes("x.jsonl", b"{\"a\":\"1\"}\n{\"a\":\"123\"}\n".to_vec()).with_limits(limits);
        let mut records = input.records().expect("opens");
        assert!(records.next().expect("fits").is_some());
        let error = records.next().expect_err("too long");
        assert!(matches!(error, ImportError::RecordTooLong { record: 2, limit: 10, .. }));
    }

    #[test]
    fn a_long_record_is_read() {
        let long = "x".repeat(3 << 20);
        let seen = records(format!("{{\"a\":\"{long}\"}}\n").as_bytes());
        assert_eq!(seen, [(1, 0, Ok(long))]);
    }
}
