//! What can stop a run before or while it runs. Each names the file and what to do.

use std::path::PathBuf;

use laundromat_import::ImportError;
use laundromat_injector::InjectError;
use laundromat_provider::cassette::Missing;
use laundromat_provider::{CallFailure, CassetteError, ClientError, PriceError};
use laundromat_session::{Fault, fault};
use laundromat_store::StoreError;

use crate::identity::{Difference, DifferenceKind};

/// Why there is no run, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A run that a panel cannot sit over, or that this judge did not judge.
    #[error("{}: {problem}; name runs that laundromat judge made of one run, and the judge as it was", path.display())]
    Panel {
        /// The run's folder.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file could not be read.
    #[error("{}: cannot be read: {source}; check the path and its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file or folder could not be written.
    #[error("{}: cannot be written: {source}; check its rights and free space, or name another one", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The gateway cannot listen.
    #[error("127.0.0.1:{port}: the gateway cannot listen: {source}; name another port with --port")]
    Gateway {
        /// The port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
    /// A data file has faults.
    #[error("{}", fault::listed(&path.display().to_string(), faults))]
    Faults {
        /// The file.
        path: PathBuf,
        /// All its faults.
        faults: Vec<Fault>,
    },
    /// Several things are wrong.
    #[error("{}", joined(_0))]
    Many(Vec<RunError>),
    /// A session could not be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// Two sessions have one id.
    #[error("{} and {}: both sessions have the id \"{id}\"; change one of them, ids must be unique in an experiment", first.display(), second.display())]
    DoubleSession {
        /// The id.
        id: String,
        /// The first file with it.
        first: PathBuf,
        /// The second file with it.
        second: PathBuf,
    },
    /// A session file changed between planning and running.
    #[error("{}: the session \"{id}\" changed while the run was going on; put the file back, or start a new run with --out", path.display())]
    SessionChanged {
        /// The id.
        id: String,
        /// The file.
        path: PathBuf,
    },
    /// An attack has no place in a session.
    #[error("{}: {cause}", path.display())]
    NoCarrier {
        /// The session's file.
        path: PathBuf,
        /// What is missing.
        cause: InjectError,
    },
    /// The folder holds a run of something else.
    #[error("{}: this folder holds a run of another experiment: {}; name another folder with --out{}", folder.display(), differences.join("; "), if *grown { ", or add the new trials to this run with --extend" } else { ", or move this one away" })]
    Changed {
        /// The run's folder.
        folder: PathBuf,
        /// What differs.
        differences: Vec<String>,
        /// Whether the experiment has only grown.
        grown: bool,
    },
    /// No client could be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A price list cannot be used.
    #[error(transparent)]
    Prices(#[from] PriceError),
    /// A money budget with a model whose price is not known.
    #[error(
        "no price is known for the model \"{model}\" of \"{provider}\", and max-cost cannot be kept without one; add \
         [[prices]] with model = \"{model}\", in = ... and out = ... (US dollars for a million tokens) to the experiment, \
         or a row to a file that --prices names"
    )]
    Unpriced {
        /// The model.
        model: String,
        /// Who sells it.
        provider: String,
    },
    /// A budget with a model whose replies have no bound.
    #[error(
        "the longest reply of \"{model}\" is not known, and max-cost and max-tokens cannot be kept without it; add \
         max-tokens to the model"
    )]
    Unbounded {
        /// The model.
        model: String,
    },
    /// A cassette cannot be read or written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// A cassette does not have a call.
    #[error(
        "{}: the {purpose} call of {trial} is not in this cassette, which was recorded of \"{recorded}\" by laundromat \
         {version}{}; replay what was recorded, or record it again by running the experiment with --record in place of \
         --replay",
        path.display(),
        if *missing == Missing::Request { ": it has that call, but what is sent now differs from what was sent" } else { "" }
    )]
    NotRecorded {
        /// The cassette.
        path: PathBuf,
        /// The trial.
        trial: String,
        /// What the call is for.
        purpose: &'static str,
        /// The experiment that was recorded.
        recorded: String,
        /// The version that recorded it.
        version: String,
        /// What the cassette has instead.
        missing: Missing,
    },
    /// A provider refuses every call.
    #[error("{endpoint}: {failure}; what was answered before is kept")]
    Provider {
        /// Where the call went.
        endpoint: String,
        /// Why.
        failure: CallFailure,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A worker ended without a result.
    #[error("internal error: {0}; please report it with the command that led here")]
    Internal(String),
}

fn joined(errors: &[RunError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl RunError {
    pub(crate) fn changed(folder: &std::path::Path, differences: &[Difference]) -> Self {
        Self::Changed {
            folder: folder.to_owned(),
            differences: differences.iter().map(|difference| difference.text.clone()).collect(),
            grown: differences.iter().all(|difference| difference.kind == DifferenceKind::Addition),
        }
    }

    /// Whether what the user wrote or pointed at is at fault, rather than this program or its store.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Internal(_) | Self::Store(StoreError::Sql { .. }))
    }
}
