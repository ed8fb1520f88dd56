//! The `laundromat` binary: arguments in, exit code out. Everything else is in the crates below.

mod args;
mod commands;
mod error;
mod exit_code;
mod llama_server;
mod progress;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command, StatsCommand, TemplateCommand, Wire};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return terminal::usage(&error),
    };
    let ended = match &args.command {
        Command::Import(import) => commands::import::run(import),
        Command::Sessions(sessions) => commands::sessions::run(sessions),
        Command::Export(export) => commands::export::run(export),
        Command::Validate(validate) => commands::validate::run(validate),
        Command::Plan(plan) => commands::plan::run(plan),
        Command::Run(run) => commands::run::run(run),
        Command::Judge(judge) => commands::judge::run(judge),
        Command::Report(report) => commands::report::run(report),
        Command::Gate(gate) => commands::gate::run(gate),
        Command::Contrast(contrast) => commands::contrast::run(contrast),
        Command::Power(power) => commands::power::run(power),
        Command::Stats(StatsCommand::Eval(eval)) => commands::stats::run(eval),
        Command::Wire(Wire::Check(check)) => commands::wire::run(check),
        Command::Doctor(doctor) => commands::doctor::run(doctor),
        Command::Arms(arms) => commands::arms::run(arms),
        Command::Attacks(attacks) => commands::attacks::run(attacks),
        Command::Probe(probe) => commands::probe::run(probe),
        Command::Template(TemplateCommand::Check(check)) => commands::template::run(check),
        Command::Gateway(gateway) => commands::gateway::run(gateway),
    };
    match ended {
        Ok(code) => code.into(),
        Err(error) => {
            terminal::error(&error);
            error.exit_code().into()
        }
    }
}
