//! Arguments of the commands about transcripts: what is listed, shown, picked, exported and made private.

use std::path::PathBuf;

use clap::Subcommand;

/// What is done about private things in sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct Redaction {
    /// Keep keys, tokens, e-mail addresses, phone numbers, user names in paths and private host names [default: they
    /// get pseudonyms]
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Add the rules of this file to those that come along: TOML of our own or a gitleaks configuration
    #[arg(long, value_name = "FILE", conflicts_with = "no_redact")]
    pub(crate) rules: Option<PathBuf>,
    /// Make pseudonyms with the salt in this file, which is made where it is missing, so that imports agree about who
    /// is who [default: a new salt that is not kept]
    #[arg(long, value_name = "FILE", conflicts_with = "no_redact")]
    pub(crate) salt: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    #[command(flatten)]
    pub(crate) list: SessionsList,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionsList {
    /// Transcript files, or folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Print a session to read
    Show(SessionsShow),
    /// Propose some sessions to plant in, over formats and lengths alike; the same seed proposes the same
    Pick(SessionsPick),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionsShow {
    /// The transcript
    pub(crate) file: PathBuf,
    /// Only the session with this id, of a file that holds several
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only turns that hold this text, in any case
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Read as this format instead of looking at the content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Print all at once, on a terminal too
    #[arg(long)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionsPick {
    /// Transcript files, or folders of them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) n: usize,
    /// Seed of the choice
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the choice as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The session, in any format that is read
    pub(crate) session: PathBuf,
    /// openai-chat, anthropic-messages, atif or inspect-eval
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: String,
    /// The new file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The session with this id, of a file that holds several
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Read as this format instead of looking at the content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}
