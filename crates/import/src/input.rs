//! What is to be read: a file, a folder, or bytes in memory, with the limits of reading.

use std::borrow::Cow;
use std::fs::{self, File, FileType};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use laundromat_session::utf8;

use crate::archive::Source;
use crate::error::ImportError;
use crate::records::Records;
use crate::sample::Sample;

/// Size of the buffer in front of a file.
const BUFFER: usize = 256 * 1024;

/// How much is read at most; larger inputs are refused with the limit named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one record of a file that is read record by record.
    pub record: u64,
    /// Bytes of a file that has to be read as a whole.
    pub document: u64,
}

impl Default for Limits {
    /// 64 MiB a record, three times the longest line that was reported, since a record is held in memory
    /// before it is known to be one; 512 MiB a document.
    fn default() -> Self {
        Self { record: 64 << 20, document: 512 << 20 }
    }
}

/// Which of its states a session that was compacted is read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum History {
    /// As the file has it now, with compactions marked.
    #[default]
    Live,
    /// As it was before it was compacted, where the format keeps that: the turns without the summaries
    /// that stand for them.
    Original,
}

/// Something to import.
#[derive(Debug, Clone)]
pub struct Input {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
    limits: Limits,
    history: History,
}

impl Input {
    /// A file or folder.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes: None, limits: Limits::default(), history: History::Live }
    }

    /// Bytes in memory under a name, such as an entry of an archive or standard input.
    pub fn bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        Self { path: name.into(), bytes: Some(bytes), limits: Limits::default(), history: History::Live }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same, to be read in the state `history`.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        Self { history, ..self }
    }

    /// How much is read at most.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The state in which a compacted session is wanted.
    pub fn history(&self) -> History {
        self.history
    }

    /// The path, or the name of bytes in memory: what error messages show.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in memory, where it is no file or folder.
    pub fn memory(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The file name without its folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The file name without folder and extension.
    pub fn stem(&self) -> Cow<'_, str> {
        self.path.file_stem().unwrap_or_default().to_string_lossy()
    }

    /// The content from its start.
    ///
    /// # Errors
    /// Where the file cannot be opened, or is none.
    pub fn open(&self) -> Result<Box<dyn BufRead + '_>, ImportError> {
        if let Some(bytes) = &self.bytes {
            return Ok(Box::new(bytes.as_slice()));
        }
        Ok(Box::new(BufReader::with_capacity(BUFFER, self.open_file()?)))
    }

    fn open_file(&self) -> Result<File, ImportError> {
        // Opening a pipe would wait for a writer, and it could not be read twice.
        let about = fs::metadata(&self.path).map_err(|source| self.unreadable(source))?;
        if let Some(what) = special(about.file_type()) {
            return Err(ImportError::NotAFile { path: self.path.clone(), what });
        }
        File::open(&self.path).map_err(|source| self.unreadable(source))
    }

    /// Whether the content begins with `magic`.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub(crate) fn starts_with(&self, magic: &[u8]) -> Result<bool, ImportError> {
        if self.bytes.is_none() && self.path.is_dir() {
            return Ok(false);
        }
        let mut start = Vec::new();
        let length = magic.len() as u64;
        self.open()?.take(length).read_to_end(&mut start).map_err(|source| self.unreadable(source))?;
        Ok(start == magic)
    }

    /// The content, to be gone through in any order.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub(crate) fn source(&self) -> Result<Box<dyn Source + '_>, ImportError> {
        match &self.bytes {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes.as_slice()))),
            None => Ok(Box::new(BufReader::with_capacity(BUFFER, self.open_file()?))),
        }
    }

    /// The content as text.
    ///
    /// # Errors
    /// Where it cannot be read, or is not UTF-8: then with the place of the first bad byte.
    pub fn text(&self) -> Result<String, ImportError> {
        utf8::text(self.document()?)
            .map_err(|fault| ImportError::Faults { path: self.path.clone(), faults: vec![fault] })
    }

    /// The content record by record: lines, split on the byte 0x0A only.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub fn records(&self) -> Result<Records<'_>, ImportError> {
        Ok(Records::new(self.open()?, &self.path, self.limits.record))
    }

    /// The content as a whole.
    ///
    /// # Errors
    /// Where the file cannot be read, or is longer than the limit.
    pub fn document(&self) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        let limit = self.limits.document;
        self.open()?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|source| self.unreadable(source))?;
        if bytes.len() as u64 > limit {
            return Err(ImportError::DocumentTooLong { path: self.path.clone(), limit });
        }
        Ok(bytes)
    }

    /// The head of the content, for detection.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn sample(&self) -> Result<Sample, ImportError> {
        Sample::of(self)
    }

    /// The error of this input that could not be read.
    pub fn unreadable(&self, source: std::io::Error) -> ImportError {
        ImportError::Read { path: self.path.clone(), source }
    }
}

/// What a thing in the file system is, where it is neither a file, a folder nor a link.
pub fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_file() || kind.is_dir() || kind.is_symlink() {
        return None;
    }
    Some(kind_of_special(kind))
}

#[cfg(unix)]
fn kind_of_special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;

    match kind {
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind_of_special(_: FileType) -> &'static str {
    "something special"
}

#[cfg(test)]
mod tests {
    use super::{Input, Limits};
    use crate::error::ImportError;

    #[test]
    fn a_document_over_the_limit_is_refused_with_the_limit_named() {
        let limits = Limits { document: 4, ..Limits::default() };
        let fits = Input::bytes("a.json", b"1234".to_vec()).with_limits(limits);
        assert_eq!(fits.document().expect("fits"), b"1234");
        let error = Input::bytes("a.json", b"12345".to_vec()).with_limits(limits).document().expect_err("too long");
        assert!(matches!(error, ImportError::DocumentTooLong { limit: 4, .. }));
        assert!(error.to_string().starts_with("a.json: longer than 4 bytes"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Input::file("no/such/file.jsonl").open().err().expect("missing");
        assert!(error.to_string().starts_with("no/such/file.jsonl: cannot be read: "));
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("a.json");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        let pipe = folder.path().join("b.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        for (path, what) in [(socket.as_path(), "socket"), (pipe.as_path(), "pipe"), ("/dev/null".as_ref(), "device")] {
            let error = Input::file(path).sample().expect_err("refused").to_string();
            assert!(
                error.ends_with(&format!(": is a {what}, not a file; write what it gives to a file first")),
                "{error}"
            );
        }
    }

    #[test]
    fn text_that_is_none_is_refused_with_its_place() {
        let error = Input::bytes("a.json", b"{\n\xFF}".to_vec()).text().expect_err("no text").to_string();
        assert_eq!(error, "a.json:2:1: not UTF-8 text: byte 3 of the file is 0xFF; save the file as UTF-8");
    }

    #[test]
    fn names() {
        let input = Input::file("a/b.messages.jsonl");
        assert_eq!((input.name().as_str(), &*input.stem()), ("b.messages.jsonl", "b.messages"));
    }
}
