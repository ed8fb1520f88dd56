//! `contrast`: two rates from counts alone.

use laundromat_metrics::rate::{render_rate, render_z};
use laundromat_metrics::{Alpha, StatsError, cluster, difference, interval};

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
        Ok(test) => {
            line(&format!(
                "{:<10} {}, p = {:.2e} (pooled two-proportion test, two-sided)",
                "test",
                render_z(first, second),
                test.p_two_sided
            ));
            clustering(test.z, alpha, args.cluster_size)?;
        }
        Err(StatsError::DegenerateVariance) => {
            line(&format!("{:<10} no variance: both rates are 0% or both are 100%", "test"))
        }
        Err(error) => return Err(error.into()),
    }
    line("           assumes independent runs; runs that share sessions are not");
    Ok(ExitCode::Pass)
}

/// What clustering would have to be for the conclusion to change: all that counts alone can say.
fn clustering(z: f64, alpha: Alpha, cluster_size: Option<u32>) -> Result<(), StatsError> {
    let bound = cluster::deff_bound(z, alpha, f64::from(cluster_size.unwrap_or(1)))?;
    let most = cluster_size.map_or_else(String::new, |size| format!("; maximum here {size}"));
    if bound.deff_to_lose < 1.0 {
        line(&format!("{:<10} not significant at any design effect{most}", "clustering"));
    } else {
        line(&format!(
            "{:<10} significant unless the design effect exceeds {:.1}{most}",
            "clustering", bound.deff_to_lose
        ));
    }
    if cluster_size.is_some_and(|size| size > 1) {
        line(&format!(
            "{:<10} z = {:.2} at an ICC of 0.2, {:.2} at 0.5, {:.2} (p = {:.2e}) at 1",
            "",
            bound.z_at_rho0_2.abs(),
            bound.z_at_rho0_5.abs(),
            bound.z_at_rho1.abs(),
            bound.p_at_rho1
        ));
    }
    Ok(())
}
