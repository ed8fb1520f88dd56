//! What stops an import. Each message names the file, the place in it and a remedy.

use std::io;
use std::path::PathBuf;

use laundromat_session::{Fault, fault};

/// Why a file could not be imported, or a session not be written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file could not be read.
    #[error("{}: cannot be read: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("{}: cannot be written: {source}; check the folder and its permissions", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No reader recognises the file.
    #[error("{}: not a session in any known format; known: {known}; use --format to force one", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The ids of all formats.
        known: String,
    },
    /// A format was asked for that does not exist.
    #[error("\"{}\" is no session format; {remedy}", name.escape_debug())]
    NoSuchFormat {
        /// The name asked for.
        name: String,
        /// The nearest name, or all of them.
        remedy: String,
    },
    /// A format was asked for that nothing is written in.
    #[error("\"{}\" is no format that sessions are written in; {remedy}", name.escape_debug())]
    NoSuchTarget {
        /// The name asked for.
        name: String,
        /// The nearest name, or all of them.
        remedy: String,
    },
    /// An archive could not be made.
    #[error("session {session}: cannot be packed: {problem}; export it in another format")]
    NotArchived {
        /// The session.
        session: String,
        /// What is wrong.
        problem: String,
    },
    /// The file is not in the format it is read as.
    #[error("{}: {place}: cannot be read as {format}: {problem}; mend the file, or use --format for another reader", path.display())]
    NotThisFormat {
        /// The file.
        path: PathBuf,
        /// Id of the format.
        format: &'static str,
        /// Line and column, or record.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// It is neither a file nor a folder.
    #[error("{}: is {what}, not a file; write what it gives to a file first", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
        /// What it is, such as `a named pipe`.
        what: &'static str,
    },
    /// A file in the canonical form has faults.
    #[error("{}", fault::listed(&path.display().to_string(), faults))]
    Faults {
        /// The file.
        path: PathBuf,
        /// All of them.
        faults: Vec<Fault>,
    },
    /// A record is longer than what is read.
    #[error("{}: record {record}: longer than {limit} bytes, the largest record that is read; split or drop it", path.display())]
    RecordTooLong {
        /// The file.
        path: PathBuf,
        /// Record number from 1.
        record: usize,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file that has to be read as a whole is longer than what is read.
    #[error("{}: longer than {limit} bytes, the largest document that is read as a whole; write it as JSON lines or split it", path.display())]
    DocumentTooLong {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// An archive is damaged, or made to do harm.
    #[error("{}: {place}: {problem}; refused, get the archive from its source again", path.display())]
    BadArchive {
        /// The archive.
        path: PathBuf,
        /// The entry, or the table of entries.
        place: String,
        /// What is wrong, with the limit where one is broken.
        problem: String,
    },
    /// A SQLite file that is damaged, or has not the tables it should have.
    #[error("{}: {place}: {problem}; take a fresh copy of the database, together with its -wal file", path.display())]
    BadDatabase {
        /// The file.
        path: PathBuf,
        /// The table, or the file as a whole.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no conversation in the file.
    #[error("{}: no conversation in it, read as {format} ({losses}); choose a file with messages", path.display())]
    NoTurns {
        /// The file.
        path: PathBuf,
        /// Id of the format.
        format: &'static str,
        /// What was skipped.
        losses: String,
    },
    /// Another session has this name already.
    #[error("{}: holds something else: {difference}; name another folder with --out, or remove this file", path.display())]
    Occupied {
        /// The file that is there.
        path: PathBuf,
        /// What differs between it and the session to be written.
        difference: String,
    },
    /// A session's id cannot name a file.
    #[error("session id \"{}\" cannot name a file; use 1 to 100 letters, digits, '-', '_' or '.', not starting with '.'", id.escape_debug())]
    BadId {
        /// The id.
        id: String,
    },
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Fault, Place};

    use super::ImportError;

    #[test]
    fn every_line_of_faults_begins_with_the_file() {
        let at = Place { line_column: Some((2, 7)), path: String::new() };
        let faults = vec![Fault::new(at, "x", "y"), Fault::new(Place::of_path("id"), "x", "y")];
        let error = ImportError::Faults { path: "a.json".into(), faults };
        assert_eq!(error.to_string(), "a.json:2:7: x; y\na.json: id: x; y");
    }
}
