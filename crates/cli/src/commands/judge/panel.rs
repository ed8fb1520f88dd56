//! `judge panel`: the majority of several judges, and how far they agree.

use laundromat_judge::panel::Ruling;
use laundromat_metrics::agreement::krippendorff_alpha;
use laundromat_report::calibration::figures::agreement;
use laundromat_runner::panel::Votes;
use laundromat_session::Reading;

use crate::args::PanelArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

pub(crate) fn run(args: &PanelArgs) -> Result<ExitCode, CliError> {
    let votes = laundromat_runner::panel(&args.runs, &args.out)?;
    super::super::report::write(&args.out)?;
    line("");
    let of = |is: fn(&Ruling) -> bool| votes.iter().filter(|vote| is(&vote.ruling)).count();
    line(&format!(
        "{} summaries before {} judges: {} read alike by all, {} by a majority, {} disputed (no verdict)",
        votes.len(),
        args.runs.len(),
        of(|ruling| matches!(ruling, Ruling::Decided { dissenting: 0, .. })),
        of(|ruling| matches!(ruling, Ruling::Decided { dissenting: 1.., .. })),
        of(|ruling| matches!(ruling, Ruling::Disputed)),
    ));
    let seats = |seat: usize| votes.iter().map(|vote| vote.votes[seat]).collect::<Vec<_>>();
    let raters: Vec<Vec<Option<Reading>>> = (0..args.runs.len()).map(seats).collect();
    match krippendorff_alpha(&raters) {
        Ok(alpha) => line(&format!("Krippendorff's alpha over all judges {alpha:.3}")),
        Err(error) => line(&format!("Krippendorff's alpha is not defined: {error}")),
    }
    for (first, a) in args.runs.iter().enumerate() {
        for (second, b) in args.runs.iter().enumerate().skip(first + 1) {
            let told = match agreement(&table(&votes, first, second)) {
                Some((two, ac1)) => format!(
                    "agreement {:.1}%, kappa {:.3}, AC1 {:.3} [{:.3}, {:.3}]",
                    two.observed * 100.0,
                    two.cohen_kappa,
                    ac1.ac1,
                    ac1.interval.low,
                    ac1.interval.high
                ),
                None => "agreement is not defined: all in one class".to_owned(),
            };
            line(&format!("{} and {}: {told}", a.display(), b.display()));
        }
    }
    Ok(ExitCode::Pass)
}

/// Two judges' readings, the first's by row.
fn table(votes: &[Votes], first: usize, second: usize) -> Vec<Vec<u64>> {
    let place = |reading: Reading| Reading::ALL.iter().position(|other| *other == reading).unwrap_or_default();
    let mut table = vec![vec![0; Reading::ALL.len()]; Reading::ALL.len()];
    for (a, b) in votes.iter().filter_map(|vote| vote.votes[first].zip(vote.votes[second])) {
        table[place(a)][place(b)] += 1;
    }
    table
}
