//! What a command can fail with, and the exit code of each.

use std::io;
use std::path::PathBuf;

use laundromat_compactor::Refusal;
use laundromat_import::ImportError;
use laundromat_judge::gold::GoldFault;
use laundromat_metrics::StatsError;
use laundromat_report::ReportError;
use laundromat_report::calibration::file::CalibrationError;
use laundromat_runner::RunError;
use laundromat_store::StoreError;
use laundromat_template::{SourceError, TemplateError};

use crate::exit_code::ExitCode;

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error("{}:{fault}", path.display())]
    Gold { path: PathBuf, fault: GoldFault },
    #[error("{}: {problem}", path.display())]
    Labels { path: PathBuf, problem: String },
    #[error("{}: its labels are open, so no judge can be measured by it; label it first: laundromat judge label", path.display())]
    Unlabelled { path: PathBuf },
    #[error("{0}; counts are written x/n with x at most n, such as 52/72")]
    Stats(#[from] StatsError),
    #[error("{}: cannot be read: {source}; check the path and its permissions", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: there is nothing to {what} here; name a session file or a folder that holds some", path.display())]
    Nothing { path: PathBuf, what: &'static str },
    #[error("{}: session {session}: not taken over as it stands: {losses}; without --strict it is imported all the same", path.display())]
    Lost { path: PathBuf, session: String, losses: String },
    #[error("{}: there is no session \"{}\" in it; see `laundromat sessions` for the ids", path.display(), session.escape_debug())]
    NoSuchSession { path: PathBuf, session: String },
    #[error("{}: holds {count} sessions; name one with --id, see `laundromat sessions` for the ids", path.display())]
    SeveralSessions { path: PathBuf, count: usize },
    #[error("{}: a salt has at least {shortest} bytes, or its pseudonyms can be tried out; remove the file to have one made", path.display())]
    ShortSalt { path: PathBuf, shortest: usize },
    #[error("{}: there are no wire vectors here; name a folder of the shape of tests/wire", path.display())]
    NoVectors { path: PathBuf },
    #[error("{}: {what}", path.display())]
    Cases { path: PathBuf, what: String },
    #[error("{}: {count} cases cannot be read; the lines that begin with UNREADABLE say why", path.display())]
    UnreadableCases { path: PathBuf, count: usize },
    #[error("no plan answers this: {0}")]
    Power(StatsError),
    #[error("no key of any profile is set; set one, or name an experiment: laundromat doctor EXPERIMENT")]
    NoKeys,
    #[error("{arm}: {cause}")]
    Refused { arm: String, cause: Refusal },
    #[error("{}: {source}", path.display())]
    TemplateSource { path: PathBuf, source: SourceError },
    #[error("{}: {source}", path.display())]
    Template { path: PathBuf, source: TemplateError },
    #[error("{server}: {source}")]
    TemplateServer { server: String, source: TemplateError },
    #[error("a prompt is given for \"{}\", and what is shown is {shown}; write --prompt-from {shown}=FILE", arm.escape_debug())]
    PromptForNobody { arm: String, shown: String },
    #[error("unknown probe \"{}\"; {remedy}", name.escape_debug())]
    UnknownProbe { name: String, remedy: String },
    #[error("internal error: {0}; please report it with the command that led here")]
    Internal(String),
}

impl CliError {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Run(error) if !error.is_usage() => ExitCode::Internal,
            Self::Internal(_)
            | Self::Store(StoreError::Sql { .. })
            | Self::Report(ReportError::Table { .. } | ReportError::Plot { .. } | ReportError::Stats(_)) => {
                ExitCode::Internal
            }
            Self::Report(ReportError::EmptyBaseline { .. }) => ExitCode::Inconclusive,
            Self::Nothing { .. } | Self::NoVectors { .. } | Self::NoKeys => ExitCode::NothingSelected,
            Self::Run(_)
            | Self::Import(_)
            | Self::Store(_)
            | Self::Report(_)
            | Self::Calibration(_)
            | Self::Gold { .. }
            | Self::Unlabelled { .. }
            | Self::Labels { .. }
            | Self::Stats(_)
            | Self::Refused { .. }
            | Self::TemplateSource { .. }
            | Self::TemplateServer { .. }
            | Self::PromptForNobody { .. }
            | Self::Template { .. }
            | Self::UnknownProbe { .. }
            | Self::Cases { .. }
            | Self::UnreadableCases { .. }
            | Self::Power(_)
            | Self::Lost { .. }
            | Self::NoSuchSession { .. }
            | Self::SeveralSessions { .. }
            | Self::ShortSalt { .. }
            | Self::Unreadable { .. } => ExitCode::Usage,
        }
    }
}
