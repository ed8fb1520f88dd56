//! What can keep the mock from starting.

use std::path::PathBuf;

/// A failure before the first request. Each names the field or file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum MockError {
    /// The script file could not be read.
    #[error("{}: cannot read the script: {source}; check the path", path.display())]
    Read {
        /// The script's file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The script file is not a script.
    #[error("{}: {problem}; see the example in the documentation of `laundromat_mock::script`", path.display())]
    Parse {
        /// The script's file.
        path: PathBuf,
        /// What the parser says, with the line.
        problem: String,
    },
    /// A value of the script makes no sense.
    #[error("{field}: {problem}; {remedy}")]
    Script {
        /// The key in the script.
        field: String,
        /// What is wrong.
        problem: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// The log file could not be opened or read.
    #[error("{}: cannot use the log: {source}; check that the folder exists and may be written", path.display())]
    Log {
        /// The log's file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The log file holds the calls of an earlier run.
    #[error("{}: the log holds the calls of an earlier run; name a new file", path.display())]
    LogInUse {
        /// The log's file.
        path: PathBuf,
    },
    /// No port could be had, or no thread for the server.
    #[error("port {port}: cannot listen on 127.0.0.1: {source}; use port 0 for a free one")]
    Listen {
        /// The port asked for.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
}

impl MockError {
    pub(crate) fn script(field: impl Into<String>, problem: impl Into<String>, remedy: &'static str) -> Self {
        Self::Script { field: field.into(), problem: problem.into(), remedy }
    }
}
