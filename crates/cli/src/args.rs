//! Arguments of all commands: those about transcripts in [`sessions`], about requests that nobody sends in
//! [`requests`], about judges in [`judge`]; [`values`] reads what several of them take.

mod judge;
mod requests;
mod sessions;
mod values;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use laundromat_provider::Money;
use laundromat_runner::supplied::PromptFrom;

pub(crate) use judge::{Audit, Calibrate, GoldPart, Judge, JudgeCommand, Label, PanelArgs};
pub(crate) use requests::{
    Arms, ArmsCommand, ArmsDiff, ArmsShow, Attacks, AttacksCommand, AttacksShow, Planted, ProbeArgs, TemplateCheck,
    TemplateCommand,
};
pub(crate) use sessions::{Export, Redaction, Sessions, SessionsCommand, SessionsList, SessionsPick, SessionsShow};
use values::dollars;
pub(crate) use values::{Probability, Ratio, Share};

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
