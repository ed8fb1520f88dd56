//! `power`: what a question takes in sessions, repetitions and calls, or what a plan can see.

use laundromat_metrics::planning::{self, Direction};
use laundromat_metrics::session_planning::{self, Block};
use laundromat_metrics::{Alpha, StatsError};

use crate::args::{Power, Probability, Share};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

/// Below this many sessions a report has no p-value: the exact test could never reach 5%.
const FEWEST_SESSIONS: usize = 6;

/// The level of all tests.
const ALPHA: Alpha = Alpha::FIVE_PERCENT;

pub(crate) fn run(args: &Power) -> Result<ExitCode, CliError> {
    let runs = u64::from(args.models) * u64::from(args.repetitions);
    let block = Block::new(runs, args.icc.0)?;
    row(
        "a session",
        &format!(
            "{} in each arm ({} x {}); ICC {} gives a design effect of {:.2}",
            several(runs, "run"),
            several(args.models.into(), "model"),
            several(args.repetitions.into(), "repetition"),
            args.icc.0,
            block.design_effect()
        ),
    );
    let answered = match (args.to, args.sessions, args.limit, args.margin) {
        (Some(to), ..) => effect(args, block, to),
        (_, Some(sessions), ..) => detectable(args, block, sessions),
        (_, _, Some(limit), _) => gate(args, block, limit),
        (_, _, _, Some(margin)) => noninferiority(args, block, margin),
        // clap has asked for one of the four.
        (None, None, None, None) => Ok(()),
    };
    answered.map_err(CliError::Power)?;
    Ok(ExitCode::Pass)
}

fn row(name: &str, value: &str) {
    line(&format!("{name:<22}{value}"));
}

fn several(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Sessions and calls of a study.
fn study(args: &Power, sessions: usize) {
    let in_each = sessions as u64 * u64::from(args.models) * u64::from(args.repetitions);
    row("sessions", &sessions.to_string());
    row("runs per arm", &in_each.to_string());
    row("summarizer calls", &format!("{} ({} arms, one attack)", in_each * u64::from(args.arms), args.arms));
}

fn effect(args: &Power, block: Block, Probability(to): Probability) -> Result<(), StatsError> {
    let (rate, power) = (args.rate.0, args.power.0);
    let needed = session_planning::sessions_needed(rate, to, block, ALPHA, power)?;
    row(
        "question",
        &format!(
            "{} against {}, session-paired t test, two-sided 5%, power {}",
            percent(rate),
            percent(to),
            percent(power)
        ),
    );
    let sessions = needed.max(FEWEST_SESSIONS);
    study(args, sessions);
    if needed < FEWEST_SESSIONS {
        row("", &format!("{needed} would do for power; below {FEWEST_SESSIONS} a report gives no p-value"));
    }
    row("power there", &percent(session_planning::power(rate, to, sessions, block, ALPHA)?));
    let naive = planning::sample_size(rate, to, ALPHA, power)?;
    row("if independent", &format!("{} runs per arm would do, which is not this design", naive.n_ceil));
    Ok(())
}

fn detectable(args: &Power, block: Block, sessions: usize) -> Result<(), StatsError> {
    let (rate, power) = (args.rate.0, args.power.0);
    row("question", &format!("the smallest difference from {} found with power {}", percent(rate), percent(power)));
    study(args, sessions);
    for (name, direction) in [("down", Direction::Down), ("up", Direction::Up)] {
        let found = session_planning::minimum_detectable_effect(rate, sessions, block, ALPHA, power, direction);
        match found {
            Ok(effect) => {
                let text = format!("{:.1} points, to {}", 100.0 * effect.difference, percent(effect.p2));
                row(name, &text);
            }
            Err(StatsError::Unreachable) => row(name, "none: even the whole way is not found so surely"),
            Err(error) => return Err(error),
        }
    }
    if sessions < FEWEST_SESSIONS {
        row("", &format!("below {FEWEST_SESSIONS} sessions a report gives no p-value"));
    }
    Ok(())
}

/// Independent runs that a gate takes, as clustered runs and sessions.
fn clustered(args: &Power, block: Block, independent: usize) {
    let runs = (independent as f64 * block.design_effect()).ceil() as u64;
    let of_a_session = u64::from(args.models) * u64::from(args.repetitions);
    row("if independent", &several(independent as u64, "exposed run"));
    row("with that clustering", &format!("{} per arm", several(runs, "exposed run")));
    study(args, runs.div_ceil(of_a_session) as usize);
}

fn gate(args: &Power, block: Block, Share(limit): Share) -> Result<(), StatsError> {
    let runs = session_planning::runs_for_limit(args.rate.0, limit, ALPHA, args.power.0)?;
    row(
        "question",
        &format!(
            "a gate at {} passes an arm of {} with probability {}",
            percent(limit),
            percent(args.rate.0),
            percent(args.power.0)
        ),
    );
    clustered(args, block, runs);
    Ok(())
}

fn noninferiority(args: &Power, block: Block, Share(margin): Share) -> Result<(), StatsError> {
    let runs = session_planning::runs_for_margin(args.rate.0, margin, ALPHA, args.power.0)?;
    row(
        "question",
        &format!(
            "an arm is shown to be no worse than another by {:.1} points, both {}, with probability {}",
            100.0 * margin,
            percent(args.rate.0),
            percent(args.power.0)
        ),
    );
    clustered(args, block, runs);
    Ok(())
}
