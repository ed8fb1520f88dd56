//! Arguments; those of the commands about transcripts in [`sessions`].

mod sessions;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, Subcommand};
use laundromat_metrics::Counts;
use laundromat_provider::Money;
use laundromat_runner::supplied::PromptFrom;

pub(crate) use sessions::{Export, Redaction, Sessions, SessionsCommand, SessionsList, SessionsPick, SessionsShow};

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
    /// List the sessions of a folder, read one, or choose some
    Sessions(Sessions),
    /// Write a session in the format of another program
    Export(Export),
    /// Name every fault of sessions, arms, attacks, prompts, shields and experiments
    Validate(Validate),
    /// Print what an experiment will come to, before anything is spent
    Plan(Plan),
    /// Run an experiment, or go on with it
    Run(Run),
    /// Judge a run's stored summaries again, asking no summarizer; measure a judge; label summaries by hand
    Judge(Judge),
    /// Write all tables and plots of a run again, from its store
    Report(Report),
    /// Decide by exit code whether arms keep a laundering rate: 0 pass, 100 fail, 3 inconclusive
    Gate(Gate),
    /// Compare two laundering rates from counts alone
    Contrast(Contrast),
    /// Say how many sessions, repetitions and calls a question takes, or what a plan can see
    Power(Power),
    /// Look after the statistics
    #[command(subcommand)]
    Stats(StatsCommand),
    /// Look whether keys are there, endpoints answer and models exist; with --live, ask each model once in each arm
    Doctor(Doctor),
    /// Stand in for a provider on 127.0.0.1, so that any agent's own compaction requests are captured and shown
    Gateway(Gateway),
    /// Look after the wire formats of providers
    #[command(subcommand)]
    Wire(Wire),
    /// List the arms, print the exact requests of one, or show where two differ
    Arms(Arms),
    /// List attacks, controls and their axes, or print what one plants in a session
    Attacks(Attacks),
    /// Ask arms what needs no model to answer: 0 all as declared, 100 an arm breaks what it does not declare
    Probe(ProbeArgs),
    /// Look what models' chat templates make of requests
    #[command(subcommand)]
    Template(TemplateCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Wire {
    /// Check a folder of wire vectors (transcripts, requests, refusals): 0 all pass, 100 some fail
    Check(WireCheck),
}

#[derive(Debug, clap::Args)]
pub(crate) struct WireCheck {
    /// The folder, such as tests/wire
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StatsCommand {
    /// Evaluate a file of reference cases and hold each result against the expected one: 0 all pass, 100 some fail
    Eval(StatsEval),
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatsEval {
    /// The file, in the shape of tests/data/stats_golden.json
    pub(crate) file: PathBuf,
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) first: Option<u32>,
    /// Read as this format instead of looking at the content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Take sessions as they were before they were compacted, where the format keeps that
    #[arg(long)]
    pub(crate) original: bool,
    /// Take any loss for an error: such a session is not written
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the counts as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
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
    /// A price list that goes before all others, as `run` takes it
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Take the real text of a harness's prompt from FILE, in place of the paraphrase of ARM; may be repeated
    #[arg(long, value_name = "ARM=FILE")]
    pub(crate) prompt_from: Vec<PromptFrom>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The experiment file
    pub(crate) experiment: PathBuf,
    /// Folder of the run [default: what the experiment says, else results/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The date shown to every arm; it is pinned when the run is first started [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", conflicts_with = "replay")]
    pub(crate) date: Option<jiff::civil::Date>,
    /// Add trials to a run whose experiment has grown: more sessions, attacks, arms, summarizers or repetitions
    #[arg(long)]
    pub(crate) extend: bool,
    /// Take the real text of a harness's prompt from FILE, in place of the paraphrase of ARM; may be repeated
    #[arg(long, value_name = "ARM=FILE")]
    pub(crate) prompt_from: Vec<PromptFrom>,
    #[command(flatten)]
    pub(crate) spending: Spending,
    #[command(flatten)]
    pub(crate) tape: Tape,
}

/// What may be spent, over all starts of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct Spending {
    /// Stop before more than this is spent, in US dollars [default: what the file says, else no bound]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<Money>,
    /// Stop before more tokens than this are used, input and output together
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop before more calls than this are made
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u64>,
    /// A price list that goes before all others: CSV with provider, model, valid_from, in, cached, write, out, source, retrieved
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

/// Recording and replaying.
#[derive(Debug, clap::Args)]
pub(crate) struct Tape {
    /// At the end, write all calls and what came back to this file; compressed if it ends in .zst
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Ask nobody: take what came back from a recorded file. Needs no network and no keys
    #[arg(long, value_name = "FILE", conflicts_with_all = ["max_cost", "max_tokens", "max_calls"])]
    pub(crate) replay: Option<PathBuf>,
}

fn dollars(text: &str) -> Result<Money, String> {
    let amount = text.parse().ok().and_then(Money::from_dollars);
    amount.ok_or_else(|| "write an amount of US dollars such as 2.50".to_owned())
}

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

/// A share from none to all.
fn share(text: &str) -> Result<laundromat_judge::panel::Share, String> {
    let number: Option<f64> = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.trim().parse().ok(),
    };
    let share = number.and_then(laundromat_judge::panel::Share::new);
    share.ok_or_else(|| "write a share such as 15% or 0.15".to_owned())
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

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// Folder of the run, such as results/quickstart
    pub(crate) run: PathBuf,
    /// Show laundering rates corrected by this calibration beside the raw ones; `judge calibrate --out` writes one
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(group(
    clap::ArgGroup::new("against").required(true).multiple(true).args(["max_rate", "baseline", "write_baseline"])
))]
pub(crate) struct Gate {
    /// Folder of the run, such as results/gate
    pub(crate) run: PathBuf,
    /// The highest laundering rate that passes, such as 0.1 or 10%
    #[arg(long, value_name = "R")]
    pub(crate) max_rate: Option<Share>,
    /// Gate on this arm; may be repeated [default: those with gate = true in the experiment]
    #[arg(long = "arm", value_name = "NAME")]
    pub(crate) arms: Vec<String>,
    /// Count this attack; may be repeated [default: all attacks, no controls]
    #[arg(long = "attack", value_name = "NAME")]
    pub(crate) attacks: Vec<String>,
    /// Count this summarizer; may be repeated [default: all language models, or the built-in readers alone]
    #[arg(long = "summarizer", value_name = "NAME")]
    pub(crate) summarizers: Vec<String>,
    /// Write the counts to this file, for later runs to be compared with, unless the gate does not pass
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Compare with the counts in this file
    #[arg(long, value_name = "FILE", requires = "margin")]
    pub(crate) baseline: Option<PathBuf>,
    /// How much above its baseline a rate may be, such as 0.05 or 5%
    #[arg(long, value_name = "M", requires = "baseline")]
    pub(crate) margin: Option<Share>,
}

/// A share from 0 up to but not including 1, as a fraction or in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match fraction(text) {
            Some(share) if (0.0..1.0).contains(&share) => Ok(Self(share)),
            Some(share) if share >= 1.0 => {
                Err("that would let everything pass; one percent is written 1% or 0.01".to_owned())
            }
            _ => Err("write a fraction such as 0.1, or percent such as 10%".to_owned()),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Gateway {
    /// An experiment file whose summarizer answers [default: builtin:reader, which needs no key]
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Which of its summarizers [default: the first]
    #[arg(long, value_name = "NAME", requires = "experiment")]
    pub(crate) summarizer: Option<String>,
    /// The base address of a server that answers, without an experiment; OpenAI-compatible unless --profile says otherwise
    #[arg(long, value_name = "URL", requires = "model", conflicts_with = "experiment")]
    pub(crate) to: Option<String>,
    /// The model to ask there
    #[arg(long, value_name = "MODEL", conflicts_with = "experiment")]
    pub(crate) model: Option<String>,
    /// The variable that holds the key
    #[arg(long, value_name = "VARIABLE", requires = "model")]
    pub(crate) key_env: Option<String>,
    /// What the server is, such as mistral or anthropic-2026-10-21; one with an address of its own needs no --to
    #[arg(long, value_name = "PROFILE", requires = "model", conflicts_with = "experiment")]
    pub(crate) profile: Option<String>,
    /// A session to plant in; the planted one is written to the folder for the agent to load
    #[arg(long, value_name = "FILE", requires = "plant")]
    pub(crate) session: Option<PathBuf>,
    /// The attack or control to plant: a name, or a path that ends in .toml
    #[arg(long, value_name = "ATTACK", requires = "session")]
    pub(crate) plant: Option<String>,
    /// Seed of the plant [default: the experiment's, else 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Folder for what is captured, one JSON file a request
    #[arg(long, value_name = "DIR", default_value = "captured")]
    pub(crate) out: PathBuf,
    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The experiment whose models are looked at [default: every profile whose key is set]
    pub(crate) experiment: Option<PathBuf>,
    /// Ask every summarizer once in each arm, over a small session with a plant in it; this costs calls
    #[arg(long, requires = "experiment")]
    pub(crate) live: bool,
    /// Ask in this arm of the experiment only; may be repeated
    #[arg(long = "arm", value_name = "NAME", requires = "live")]
    pub(crate) arms: Vec<String>,
    /// A price list that goes before all others, as `run` takes it
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

/// What a study, or a gate, takes.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("question").required(true).args(["to", "sessions", "limit", "margin"])))]
pub(crate) struct Power {
    /// The rate of the first arm, or of the arm at the gate, such as 0.72 or 72%
    #[arg(long, value_name = "R")]
    pub(crate) rate: Probability,
    /// How many sessions find the difference to this rate?
    #[arg(long, value_name = "R")]
    pub(crate) to: Option<Probability>,
    /// What is the smallest difference that so many sessions find?
    #[arg(long, value_name = "N")]
    pub(crate) sessions: Option<usize>,
    /// How many runs let a gate at this limit pass the arm?
    #[arg(long, value_name = "R")]
    pub(crate) limit: Option<Share>,
    /// How many runs of each of two arms of this rate show that one is no worse by this margin?
    #[arg(long, value_name = "M")]
    pub(crate) margin: Option<Share>,
    /// Summarizers that each session is run through
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) models: u32,
    /// Repetitions of each cell
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// Arms that the calls are counted for
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) arms: u32,
    /// Intraclass correlation of the runs of a session; a report prints the one that it saw
    #[arg(long, value_name = "RHO", default_value = "0.2")]
    pub(crate) icc: Probability,
    /// The probability with which the question is answered
    #[arg(long, value_name = "P", default_value = "0.8")]
    pub(crate) power: Share,
}

/// A probability from 0 to 1, as a fraction or in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Probability(pub(crate) f64);

impl FromStr for Probability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = fraction(text).filter(|share| (0.0..=1.0).contains(share));
        parsed.map(Self).ok_or_else(|| "write a fraction from 0 to 1 such as 0.72, or percent such as 72%".to_owned())
    }
}

/// A number, or a number of percent.
fn fraction(text: &str) -> Option<f64> {
    // The point is moved in the text, so that 10% and 0.1 are one number.
    match text.trim().strip_suffix('%') {
        Some(percent) => format!("{}e-2", percent.trim_end()).parse().ok(),
        None => text.trim().parse().ok(),
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Contrast {
    /// Laundered of exposed runs in the first arm, such as 52/72
    pub(crate) first: Ratio,
    /// The same in the second arm
    pub(crate) second: Ratio,
    /// Runs of each session in an arm, for what clustering could do at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cluster_size: Option<u32>,
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
