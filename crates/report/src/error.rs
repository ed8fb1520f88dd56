//! What can go wrong while views are written or a gate is measured.

use std::path::PathBuf;

use laundromat_metrics::StatsError;
use laundromat_store::StoreError;

/// A failure to write the views of a run, or to gate on it. The run itself is never touched.
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
    /// A statistic cannot be given for what was measured.
    #[error("{0}; report this together with the run's manifest")]
    Stats(#[from] StatsError),
    /// A name that the run does not have.
    #[error("--{what}: there is no {what} \"{name}\" in this run; {remedy}")]
    UnknownName {
        /// What kind of name, which is also the option.
        what: &'static str,
        /// The name.
        name: String,
        /// Which ones there are.
        remedy: String,
    },
    /// There is no arm to gate on.
    #[error(
        "no arm of this run is marked for the gate; name some with --arm (known: {known}), or set gate = true in the experiment before it is run"
    )]
    NoGatedArm {
        /// The run's arms.
        known: String,
    },
    /// There is nothing to be laundered.
    #[error(
        "this run has controls alone and no attack, so there is no laundering rate; name the folder of another run"
    )]
    NoAttack,
    /// Rates with and without an interval do not add up to one.
    #[error(
        "--summarizer: \"{first}\" and \"{second}\" cannot be pooled, since one is a built-in reader and one a language model; gate on each by itself"
    )]
    MixedReaders {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// An arm without an exposed run is no baseline.
    #[error(
        "{}: no baseline is written, arm \"{arm}\" has no exposed run; finish the run, or leave the arm out with --arm", path.display()
    )]
    EmptyBaseline {
        /// The file.
        path: PathBuf,
        /// The arm.
        arm: String,
    },
    /// A baseline could not be written.
    #[error("{}: cannot write the baseline: {source}; check the folder's rights and free space", path.display())]
    WriteBaseline {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A baseline could not be read.
    #[error("{}: cannot read the baseline: {source}; write one with gate --write-baseline", path.display())]
    ReadBaseline {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is no baseline.
    #[error("{}: this is no baseline: {what}; write a new one with gate --write-baseline", path.display())]
    FaultyBaseline {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A baseline of something else.
    #[error(
        "{}: the baseline cannot be compared with this run: {differences}; measure the same thing, or write a new baseline with gate --write-baseline", path.display()
    )]
    Incomparable {
        /// The file.
        path: PathBuf,
        /// What differs.
        differences: String,
    },
    /// An arm has no counts to compare with.
    #[error("{}: arm \"{arm}\" is not in the baseline; {remedy}, or write a new one with gate --write-baseline", path.display())]
    ArmNotInBaseline {
        /// The file.
        path: PathBuf,
        /// The arm.
        arm: String,
        /// Which ones there are.
        remedy: String,
    },
}
