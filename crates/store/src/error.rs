//! What can go wrong with a store.

use std::path::PathBuf;

/// A failure of the run's store. Each names the file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file could not be opened or created.
    #[error("{}: cannot open the store: {}; check that it is a run's store and that the folder may be written", path.display(), said(source))]
    Open {
        /// The store's file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The folder could not be made or written.
    #[error("{}: cannot write this folder: {source}; check its rights and free space, or name another one with --out", path.display())]
    Folder {
        /// The run's folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Reading or writing failed.
    #[error("{}: the store failed: {}; what was committed before is kept, mend the cause and run again", path.display(), said(source))]
    Sql {
        /// The store's file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// There is no store.
    #[error("{}: no run is stored here; name the folder of a run, such as results/quickstart", path.display())]
    Missing {
        /// The file looked for.
        path: PathBuf,
    },
    /// The file was written by another version.
    #[error(
        "{path}: the store has schema version {found}, this version of laundromat reads {known}; use the version that wrote it"
    )]
    Version {
        /// The store's file.
        path: PathBuf,
        /// The version found.
        found: i64,
        /// The version this program knows.
        known: i64,
    },
    /// A stored value does not make sense.
    #[error("{}: {what}; the store is damaged, restore it or run the experiment into a new folder", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Another process holds the store.
    #[error(
        "{path}: another laundromat is running this experiment; wait for it to end, or name another folder with --out"
    )]
    Locked {
        /// The store's file.
        path: PathBuf,
    },
}

/// What SQLite says, in one line and without the statement.
fn said(error: &rusqlite::Error) -> String {
    let text = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}
