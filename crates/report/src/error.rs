//! What can go wrong while views are written.

use std::path::PathBuf;

use laundromat_store::StoreError;

/// A failure to write the views of a run. The run itself is never touched.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A view could not be written.
    #[error("{path}: cannot write the view: {source}; check the folder's rights and free space, then report again")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A table could not be encoded.
    #[error("{file}: cannot encode the table: {what}; report this together with the run's manifest")]
    Table {
        /// The view's name.
        file: &'static str,
        /// What failed.
        what: String,
    },
    /// A plot could not be drawn.
    #[error("plots/{name}: cannot draw the plot: {what}; report this together with the run's manifest")]
    Plot {
        /// The plot's name.
        name: &'static str,
        /// What failed.
        what: String,
    },
}
