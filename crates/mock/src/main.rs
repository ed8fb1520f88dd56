//! The mock as a program: `laundromat-mock --port 0 --script FILE --log FILE`. It prints where it listens and
//! ends on SIGTERM or ctrl-c.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use laundromat_mock::{Listen, Mock, MockError, Script};

/// A strict provider on 127.0.0.1: chat completions, Responses, Anthropic, Gemini and Bedrock Converse
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The port; 0 for a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How to answer: a TOML or JSON file; the plain script where left out
    #[arg(long)]
    script: Option<PathBuf>,
    /// A file for the calls, as JSON lines
    #[arg(long)]
    log: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> Result<(), MockError> {
    let script = args.script.as_deref().map_or_else(|| Ok(Script::default()), Script::read)?;
    let mock = Mock::start_on(script, &Listen { port: args.port, log: args.log })?;
    let listen = |source| MockError::Listen { port: args.port, source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(listen)?;
    runtime
        .block_on(async {
            let mut stdout = std::io::stdout();
            let ended = ended()?;
            // Whoever reads this line may end the program at once: the signals are caught by now.
            writeln!(stdout, "listening on {}", mock.base_url()).and_then(|()| stdout.flush())?;
            ended.await
        })
        .map_err(listen)
}

/// Installs the signals; what comes back waits for one.
#[cfg(unix)]
fn ended() -> std::io::Result<impl Future<Output = std::io::Result<()>>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    })
}

/// Waits for ctrl-c.
#[cfg(not(unix))]
fn ended() -> std::io::Result<impl Future<Output = std::io::Result<()>>> {
    Ok(tokio::signal::ctrl_c())
}
