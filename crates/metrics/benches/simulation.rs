//! Whether the default analysis keeps what it promises: size and coverage by simulation, and early stopping.
//!
//! Studies of 12 sessions x 3 models x 2 repetitions without an effect, in the regimes that trials of sessions come in.
//! The printed table stands in `docs/statistics.md`. Every number is seeded: the table is the same on every machine up to
//! how it rounds.

use laundromat_metrics::betting::capital;
use laundromat_metrics::cluster::{cluster_mean, paired_sessions, session_differences};
use laundromat_metrics::difference::z_pooled;
use laundromat_metrics::interval::{wilson, wilson_effective_n};
use laundromat_metrics::paired::{Observation, match_pairs, mcnemar};
use laundromat_metrics::random::Stream;
use laundromat_metrics::{Alpha, Counts, StatsError};
use rayon::prelude::*;
use statrs::distribution::{Beta, ContinuousCDF, Normal};

const MODELS: usize = 3;
const REPETITIONS: usize = 2;
const STUDIES: u64 = 4_000;
const SEED: u64 = 20_261_130;
const A: Alpha = Alpha::FIVE_PERCENT;

/// Steps of a tabulated quantile function.
const TABLE: usize = 4_096;

/// How trials come about.
#[derive(Clone, Copy)]
struct Regime {
    name: &'static str,
    rates: [f64; 2],
    icc: f64,
    /// Correlation of a session's propensities in the two arms.
    shared: f64,
    /// The share of second repetitions that copy the first.
    copies: f64,
    /// Rates of the models, in place of propensities of sessions.
    models: Option<[f64; MODELS]>,
}

const NULL: Regime =
    Regime { name: "independent runs", rates: [0.5, 0.5], icc: 0.0, shared: 0.0, copies: 0.0, models: None };

const REGIMES: [Regime; 14] = [
    NULL,
    Regime { name: "arm-specific session effects", icc: 0.05, ..NULL },
    Regime { name: "same", icc: 0.1, ..NULL },
    Regime { name: "same", icc: 0.2, ..NULL },
    Regime { name: "same", icc: 0.3, ..NULL },
    Regime { name: "same", icc: 0.5, ..NULL },
    Regime { name: "effect fully shared by arms", icc: 0.2, shared: 1.0, ..NULL },
    Regime { name: "same", icc: 0.5, shared: 1.0, ..NULL },
    Regime { name: "shared with correlation .5", icc: 0.5, shared: 0.5, ..NULL },
    Regime { name: "rate .2, arm-specific", rates: [0.2, 0.2], icc: 0.3, ..NULL },
    Regime { name: "repetitions 90% copies", copies: 0.9, ..NULL },
    Regime { name: "repetitions identical", copies: 1.0, ..NULL },
    Regime { name: "copies and shared effect", icc: 0.2, shared: 1.0, copies: 0.9, ..NULL },
    Regime { name: "only models differ (.95/.5/.65)", rates: [0.7, 0.7], models: Some([0.95, 0.5, 0.65]), ..NULL },
];

/// A trial: session, model, repetition, outcome.
type Run = ((usize, usize, usize), bool);

/// A study: the trials of both arms.
struct Study([Vec<Run>; 2]);

/// The quantile function of the propensities of sessions, one table an arm; none where sessions do not differ.
struct Propensities([Option<Vec<f64>>; 2]);

impl Propensities {
    fn of(regime: &Regime) -> Self {
        Self(regime.rates.map(|rate| {
            let k = 1.0 / regime.icc - 1.0;
            let beta = (regime.icc > 0.0).then(|| Beta::new(rate * k, (1.0 - rate) * k).ok()).flatten()?;
            Some((0..TABLE).map(|i| quantile(&beta, (i as f64 + 0.5) / TABLE as f64)).collect())
        }))
    }

    fn at(&self, arm: usize, u: f64, rate: f64) -> f64 {
        self.0[arm].as_ref().map_or(rate, |table| table[((u * TABLE as f64) as usize).min(TABLE - 1)])
    }
}

fn quantile(beta: &Beta, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if beta.cdf(middle) < p { low = middle } else { high = middle }
    }
    low
}

fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * stream.unit()).cos()
}

fn study(regime: &Regime, propensities: &Propensities, sessions: usize, stream: &mut Stream) -> Study {
    let phi = |z: f64| Normal::standard().cdf(z);
    let mut arms = [Vec::new(), Vec::new()];
    for session in 0..sessions {
        let z = normal(stream);
        let other = regime.shared * z + (1.0 - regime.shared * regime.shared).sqrt() * normal(stream);
        for (arm, z) in [z, other].into_iter().enumerate() {
            let propensity = propensities.at(arm, phi(z), regime.rates[arm]);
            for model in 0..MODELS {
                let p = regime.models.map_or(propensity, |models| models[model]);
                let mut first = false;
                for rep in 0..REPETITIONS {
                    let drawn = stream.unit() < p;
                    let event = if rep > 0 && stream.unit() < regime.copies { first } else { drawn };
                    first = if rep == 0 { event } else { first };
                    arms[arm].push(((session, model, rep), event));
                }
            }
        }
    }
    Study(arms)
}

fn counts(runs: &[Run]) -> Result<Counts, StatsError> {
    Counts::new(runs.iter().filter(|(_, event)| *event).count() as u64, runs.len() as u64)
}

fn clustered(runs: &[Run]) -> impl Iterator<Item = (usize, f64)> + '_ {
    runs.iter().map(|((session, _, _), event)| (*session, f64::from(u8::from(*event))))
}

/// What one study says.
#[derive(Clone, Copy, Default)]
struct Said {
    z: f64,
    naive: bool,
    t: bool,
    sign_flip: bool,
    mcnemar: bool,
    wilson_covers: bool,
    effective_covers: bool,
}

fn analysed(Study([first, second]): &Study, rate: f64) -> Result<Said, StatsError> {
    let level = A.value();
    let (one, two) = (counts(first)?, counts(second)?);
    let z = z_pooled(one, two).ok();
    let differences = session_differences(clustered(first), clustered(second))?;
    let paired = paired_sessions(&differences, A).ok();
    let observed = |runs: &[Run]| {
        let side = |event: bool| if event { Observation::Event } else { Observation::NoEvent };
        runs.iter().map(|(cell, event)| (*cell, side(*event))).collect()
    };
    let pairs = match_pairs(&observed(first), &observed(second));
    // As the report has it: where all runs ended alike, every session counts once.
    let deff = match cluster_mean(clustered(first)) {
        Ok(mean) => mean.deff,
        Err(StatsError::DegenerateVariance) => (MODELS * REPETITIONS) as f64,
        Err(error) => return Err(error),
    };
    Ok(Said {
        z: z.map_or(0.0, |test| test.z),
        naive: z.is_some_and(|test| test.p_two_sided <= level),
        t: paired.is_some_and(|test| test.p_t <= level),
        sign_flip: laundromat_metrics::signflip::sign_flip(&differences)? <= level,
        mcnemar: mcnemar(pairs.first_only, pairs.second_only)?.p_exact <= level,
        wilson_covers: wilson(one, A).contains(rate),
        effective_covers: wilson_effective_n(one, deff, A)?.interval.contains(rate),
    })
}

fn table() -> Result<(), StatsError> {
    println!(
        "| regime | ICC | naive z rejects | sd(z) | session t | sign-flip | McNemar cells | Wilson covers | Wilson n_eff covers | t interval covers |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let (mut size, mut coverage) = (0.0_f64, 1.0_f64);
    for (number, regime) in REGIMES.iter().enumerate() {
        let propensities = Propensities::of(regime);
        let said: Vec<Said> = (0..STUDIES)
            .into_par_iter()
            .map(|at| {
                let mut stream = Stream::new(SEED + number as u64, at);
                analysed(&study(regime, &propensities, 12, &mut stream), regime.rates[0])
            })
            .collect::<Result<_, _>>()?;
        let share = |of: fn(&Said) -> bool| said.iter().filter(|it| of(it)).count() as f64 / STUDIES as f64;
        let sd = (said.iter().map(|it| it.z * it.z).sum::<f64>() / STUDIES as f64).sqrt();
        let (t, sign_flip, effective) = (share(|it| it.t), share(|it| it.sign_flip), share(|it| it.effective_covers));
        size = size.max(t).max(sign_flip);
        coverage = coverage.min(effective).min(1.0 - t);
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        println!(
            "| {} | {} | {} | {sd:.2} | {} | {} | {} | {} | {} | {} |",
            regime.name,
            regime.icc,
            percent(share(|it| it.naive)),
            percent(t),
            percent(sign_flip),
            percent(share(|it| it.mcnemar)),
            percent(share(|it| it.wilson_covers)),
            percent(effective),
            percent(1.0 - t),
        );
    }
    println!("\ndefault analysis: size at most {:.1}%, coverage at least {:.1}%\n", 100.0 * size, 100.0 * coverage);
    Ok(())
}

/// Sessions after which betting stops; all of them where it does not.
fn stopping() -> Result<(), StatsError> {
    const LOOKED_AT: u64 = 2_000;
    const SESSIONS: usize = 24;
    const BET: f64 = 0.8;
    println!("| early stopping, {SESSIONS} sessions, bet {BET}, capital 20 | ICC | decided | mean sessions | saved |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let effect = Regime { name: "0.72 against 0.19", rates: [0.72, 0.19], shared: 0.7, ..NULL };
    let effects = [effect, Regime { icc: 0.2, ..effect }];
    for (number, regime) in REGIMES.iter().chain(&effects).enumerate() {
        let propensities = Propensities::of(regime);
        let stops: Vec<Option<usize>> = (0..LOOKED_AT)
            .into_par_iter()
            .map(|at| {
                let mut stream = Stream::new(SEED + 100 + number as u64, at);
                let Study([first, second]) = study(regime, &propensities, SESSIONS, &mut stream);
                let differences = session_differences(clustered(&first), clustered(&second))?;
                Ok(capital(&differences, BET, A)?.stopped_after)
            })
            .collect::<Result<_, StatsError>>()?;
        let decided = stops.iter().flatten().count() as f64 / LOOKED_AT as f64;
        let mean = stops.iter().map(|stop| stop.unwrap_or(SESSIONS) as f64).sum::<f64>() / LOOKED_AT as f64;
        println!(
            "| {} | {} | {:.1}% | {mean:.1} | {:.0}% |",
            regime.name,
            regime.icc,
            100.0 * decided,
            100.0 * (1.0 - mean / SESSIONS as f64)
        );
    }
    Ok(())
}

fn main() -> Result<(), StatsError> {
    table()?;
    stopping()
}
