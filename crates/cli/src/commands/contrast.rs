//! `contrast`: two rates from counts alone.

use laundromat_metrics::rate::{render_rate, render_z};
use laundromat_metrics::{Alpha, StatsError, difference, interval};

use crate::args::Contrast;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

pub(crate) fn run(args: &Contrast) -> Result<ExitCode, CliError> {
    let (first, second) = (args.first.counts()?, args.second.counts()?);
    let alpha = Alpha::new(0.05)?;
    for (name, counts) in [("first", first), ("second", second)] {
        let wilson = interval::wilson(counts, alpha);
        line(&format!(
            "{name:<10} {:<18} Wilson 95% {:.1}% to {:.1}%",
            render_rate(counts),
            100.0 * wilson.low,
            100.0 * wilson.high
        ));
    }
    let newcombe = difference::newcombe(first, second, alpha);
    let points = 100.0 * difference::rate_difference(first, second);
    line(&format!(
        "{:<10} {points:+.1} points, Newcombe 95% {:+.1} to {:+.1}",
        "difference",
        100.0 * newcombe.low,
        100.0 * newcombe.high
    ));
    match difference::z_pooled(first, second) {
        Ok(test) => line(&format!(
            "{:<10} {}, p = {:.2e} (pooled two-proportion test, two-sided)",
            "test",
            render_z(first, second),
            test.p_two_sided
        )),
        Err(StatsError::DegenerateVariance) => {
            line(&format!("{:<10} no variance: both rates are 0% or both are 100%", "test"))
        }
        Err(error) => return Err(error.into()),
    }
    line("           assumes independent runs; runs that share sessions are not");
    Ok(ExitCode::Pass)
}
