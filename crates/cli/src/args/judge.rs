//! Arguments of the commands about judges.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::share;
use super::{Spending, Tape};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Judge {
    #[command(subcommand)]
    pub(crate) command: Option<JudgeCommand>,
    /// Folder of the run, such as results/quickstart
    #[arg(required = true)]
    pub(crate) run: Option<PathBuf>,
    /// `builtin:rules`, or a TOML file with a [judge] table as an experiment has it
    #[arg(long, value_name = "JUDGE", required = true)]
    pub(crate) judge: Option<String>,
    /// Folder for the new verdicts; the run itself stays as it is [default: RUN-judged]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tape: Tape,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Measure a judge on a gold set: sensitivity, specificity, agreement, by stratum; hostile items apart
    Calibrate(Calibrate),
    /// Let the judges of several judged runs vote: a majority is the verdict, and disagreement is told
    Panel(PanelArgs),
    /// Have a run's judge read a seeded share of what the gate stopped, and a share of what it read once more
    Audit(Audit),
    /// Serve a page on this machine where two people label summaries, blind to each other, and settle where they differ
    Label(Label),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Calibrate {
    /// `builtin:rules`, or a TOML file with a [judge] table as an experiment has it
    #[arg(long, value_name = "JUDGE", default_value = "builtin:rules")]
    pub(crate) judge: String,
    /// The gold set [default: the one that comes with laundromat]
    #[arg(long, value_name = "FILE")]
    pub(crate) gold: Option<PathBuf>,
    /// Which part of it
    #[arg(long, value_name = "PART", value_enum, default_value_t = GoldPart::Test)]
    pub(crate) part: GoldPart,
    /// Write the calibration to this file, for `report --calibration` and `--against`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// An earlier calibration: say whether the judge has moved since
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// List the items that the judge read otherwise than their label
    #[arg(long)]
    pub(crate) misses: bool,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tape: Tape,
}

/// A part of a gold set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GoldPart {
    /// What rules and rubrics are tuned on
    Dev,
    /// What they are measured on
    Test,
    /// Both
    All,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PanelArgs {
    /// Folders of one run under different judges: the run itself, and what `laundromat judge RUN --out` made of it
    #[arg(required = true, num_args = 2..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Folder for the panel's verdicts, which is a run like any other
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Audit {
    /// Folder of the run
    pub(crate) run: PathBuf,
    /// The judge as the run had it: `builtin:rules`, or a TOML file with its [judge] table
    #[arg(long, value_name = "JUDGE")]
    pub(crate) judge: String,
    /// Share of the summaries stopped by the gate that the judge reads, such as 15%
    #[arg(long, value_name = "S", default_value = "15%", value_parser = share)]
    pub(crate) audit: laundromat_judge::panel::Share,
    /// Share of the summaries read by the judge that it reads again
    #[arg(long, value_name = "S", default_value = "10%", value_parser = share)]
    pub(crate) retest: laundromat_judge::panel::Share,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tape: Tape,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Label {
    /// A gold set whose items may be without labels
    pub(crate) set: PathBuf,
    /// File for the labels, in the same format; what it holds already is gone on with
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}
