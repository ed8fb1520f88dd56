//! Arguments of the commands that show what is built, planted and lost, without asking any model.

use std::path::PathBuf;

use clap::Subcommand;
use laundromat_runner::supplied::PromptFrom;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arms {
    #[command(subcommand)]
    pub(crate) command: Option<ArmsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArmsCommand {
    /// Print what an arm sends for a session
    Show(ArmsShow),
    /// Print where the requests of two arms differ for one session
    Diff(ArmsDiff),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ArmsShow {
    /// The arm: a name, or a path that ends in .toml
    pub(crate) arm: String,
    /// Take the real text of a harness's prompt from FILE, in place of the paraphrase of ARM; may be repeated
    #[arg(long, value_name = "ARM=FILE")]
    pub(crate) prompt_from: Vec<PromptFrom>,
    #[command(flatten)]
    pub(crate) from: Planted,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ArmsDiff {
    /// The first arm: a name, or a path that ends in .toml
    pub(crate) first: String,
    /// The second arm
    pub(crate) second: String,
    /// Take the real text of a harness's prompt from FILE, in place of the paraphrase of ARM; may be repeated
    #[arg(long, value_name = "ARM=FILE")]
    pub(crate) prompt_from: Vec<PromptFrom>,
    #[command(flatten)]
    pub(crate) from: Planted,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Attacks {
    #[command(subcommand)]
    pub(crate) command: Option<AttacksCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AttacksCommand {
    /// Print the planted turns of a session, and what they are to an arm
    Show(AttacksShow),
}

#[derive(Debug, clap::Args)]
pub(crate) struct AttacksShow {
    /// The attack or control: a name, or a path that ends in .toml
    pub(crate) attack: String,
    /// The session file
    #[arg(long, value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Say what the plant is to this arm: a name, or a path that ends in .toml
    #[arg(long, value_name = "ARM")]
    pub(crate) arm: Option<String>,
    /// Seed of the plant
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A session, and what is planted in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Planted {
    /// The session file
    #[arg(long, value_name = "FILE")]
    pub(crate) session: PathBuf,
    /// Plant this attack or control first: a name, or a path that ends in .toml
    #[arg(long, value_name = "ATTACK")]
    pub(crate) attack: Option<String>,
    /// Seed of the plant
    #[arg(long, value_name = "N", default_value_t = 1, requires = "attack")]
    pub(crate) seed: u64,
    /// The date shown to the summarizer
    #[arg(long, value_name = "YYYY-MM-DD", default_value = "2026-01-01")]
    pub(crate) date: jiff::civil::Date,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProbeArgs {
    /// An experiment file: its arms are asked about its sessions
    #[arg(conflicts_with_all = ["arms", "session"])]
    pub(crate) experiment: Option<PathBuf>,
    /// Ask about this arm, by name or by a path that ends in .toml; may be repeated [default: all that come along]
    #[arg(long = "arm", value_name = "NAME")]
    pub(crate) arms: Vec<String>,
    /// Ask this; may be repeated [default: everything]
    #[arg(long = "probe", value_name = "PROBE")]
    pub(crate) probes: Vec<String>,
    /// The session whose turns are followed [default: one made for it]
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// Write all answers to this file too, such as probes.csv
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Whose turn planted text ends up in: 0 not in a user's, 100 in a user's that it is not on the wire, 3 the
    /// template's turns are not known
    Check(TemplateCheck),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TemplateCheck {
    /// The template: a file of Jinja, a tokenizer_config.json, or a GGUF model
    #[arg(long, value_name = "FILE", required_unless_present = "server")]
    pub(crate) template: Option<PathBuf>,
    /// Ask this llama.cpp server what its model is given, such as http://127.0.0.1:8080; may stand beside --template
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The arm: a name, or a path that ends in .toml
    #[arg(long, value_name = "NAME")]
    pub(crate) arm: String,
    #[command(flatten)]
    pub(crate) from: Planted,
}
