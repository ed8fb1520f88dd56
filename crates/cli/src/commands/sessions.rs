//! `sessions`: what a folder of transcripts holds, one of them to read, and a choice among them.
//!
//! * [`survey`]: each session in a few figures, and whether something can be planted in it.
//! * [`list`], [`show`] and [`pick`]: the commands. Nothing is written, and nothing made private.

mod list;
mod pick;
mod show;
mod survey;

use crate::args::{Sessions, SessionsCommand};
use crate::error::CliError;
use crate::exit_code::ExitCode;

pub(crate) fn run(args: &Sessions) -> Result<ExitCode, CliError> {
    match &args.command {
        None => list::run(&args.list),
        Some(SessionsCommand::Show(show)) => show::run(show),
        Some(SessionsCommand::Pick(pick)) => pick::run(pick),
    }
}
