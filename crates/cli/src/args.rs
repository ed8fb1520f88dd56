//! Arguments.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand};
use laundromat_metrics::Counts;

/// Measure how often context compaction turns untrusted text into the user's word.
#[derive(Debug, Parser)]
#[command(name = "laundromat", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read transcripts of any known format and write them in the canonical form
    Import(Import),
    /// Name every fault of sessions, arms, attacks, prompts, shields and experiments
    Validate(Validate),
    /// Print what an experiment will come to, before anything is spent
    Plan(Plan),
    /// Run an experiment, or go on with it
    Run(Run),
    /// Judge a run's stored summaries again, asking no summarizer
    Judge(Judge),
    /// Write all tables and plots of a run again, from its store
    Report(Report),
    /// Compare two laundering rates from counts alone
    Contrast(Contrast),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// Transcript files, or folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Folder for the sessions
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Keep only the first N turns of each session
    #[arg(long, value_name = "N")]
    pub(crate) first: Option<usize>,
    /// Read as this format instead of looking at the content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Validate {
    /// Session, arm, attack, prompt, shield or experiment files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Plan {
    /// The experiment file
    pub(crate) experiment: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The experiment file
    pub(crate) experiment: PathBuf,
    /// Folder of the run [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The date shown to every arm; it is pinned when the run is first started [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<jiff::civil::Date>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Judge {
    /// Folder of the run, such as results/quickstart
    pub(crate) run: PathBuf,
    /// `builtin:rules`, or a TOML file with a [judge] table as an experiment has it
    #[arg(long, value_name = "JUDGE")]
    pub(crate) judge: String,
    /// Folder for the new verdicts; the run itself stays as it is [default: RUN-judged]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// Folder of the run, such as results/quickstart
    pub(crate) run: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Contrast {
    /// Laundered of exposed runs in the first arm, such as 52/72
    pub(crate) first: Ratio,
    /// The same in the second arm
    pub(crate) second: Ratio,
}

/// `x/n` as written; whether x can be of n is for the statistics to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) x: u64,
    pub(crate) n: u64,
}

impl FromStr for Ratio {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(x, n)| Some(Self { x: x.trim().parse().ok()?, n: n.trim().parse().ok()? }));
        parsed.ok_or_else(|| "counts are written x/n, such as 52/72".to_owned())
    }
}

impl Ratio {
    pub(crate) fn counts(self) -> Result<Counts, laundromat_metrics::StatsError> {
        Counts::new(self.x, self.n)
    }
}
