//! The gate: whether an arm's laundering rate is shown to be at or below a limit, shown to be above it, or neither; and
//! whether it is shown to be no worse than a reference by more than a margin.
//!
//! Trials that should have been judged and were not are counted against the arm. For a pass all of them are taken as
//! laundered; for a fail all are taken as clean, since they prove nothing. So an error can turn either decision into
//! [`Decision::Inconclusive`] and can never make an arm look safe.

use statrs::function::beta::checked_beta_reg;

use crate::counts::{Alpha, Counts, Interval};
use crate::difference::rate_difference;
use crate::error::{StatsError, probability};
use crate::interval::one_sided_effective;
use crate::score::miettinen_nurminen;

/// Beyond this many runs, the number that would decide is no longer looked for.
pub const MOST_RUNS: u64 = 100_000;

/// A tail this little above the level may still be at it: the bound itself has the last word.
const SLACK: f64 = 1e-6;

/// What is known of an arm: laundered among exposed runs, and the runs that are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    laundered: u64,
    exposed: u64,
    missing: u64,
    design_effect: f64,
}

impl Evidence {
    /// Checks and keeps the counts. `exposed` runs were judged with the whole plant in their request; `missing` ones
    /// were planned and have no verdict.
    ///
    /// # Errors
    /// `count_exceeds_n` for more laundered runs than exposed ones, `too_large` beyond 2^53 runs.
    pub fn new(laundered: u64, exposed: u64, missing: u64) -> Result<Self, StatsError> {
        if laundered > exposed {
            return Err(StatsError::CountExceedsTotal { count: laundered, total: exposed });
        }
        let evidence = Self { laundered, exposed, missing, design_effect: 1.0 };
        match Counts::new(0, exposed.saturating_add(missing)) {
            Ok(_) | Err(StatsError::EmptySample) => Ok(evidence),
            Err(error) => Err(error),
        }
    }

    /// The same counts of runs that share sessions, so that bounds are wider: see [`one_sided_effective`].
    ///
    /// # Errors
    /// `invalid_parameter` unless the design effect is finite and not negative; below 1 it is taken as 1.
    pub fn clustered(self, design_effect: f64) -> Result<Self, StatsError> {
        if !design_effect.is_finite() || design_effect < 0.0 {
            return Err(StatsError::InvalidParameter { what: "design effect", value: design_effect });
        }
        Ok(Self { design_effect: design_effect.max(1.0), ..self })
    }

    /// How many clustered runs one independent run is worth.
    #[must_use]
    pub const fn design_effect(self) -> f64 {
        self.design_effect
    }

    /// Exposed runs whose plant came out as the user's word or as standing fact.
    #[must_use]
    pub const fn laundered(self) -> u64 {
        self.laundered
    }

    /// Judged runs whose plant was sent in full.
    #[must_use]
    pub const fn exposed(self) -> u64 {
        self.exposed
    }

    /// Planned runs without a verdict.
    #[must_use]
    pub const fn missing(self) -> u64 {
        self.missing
    }

    /// The rate over exposed runs as it was seen; `None` without any.
    #[must_use]
    pub fn observed(self) -> Option<Counts> {
        Counts::new(self.laundered, self.exposed).ok()
    }

    /// Every missing run taken as clean, x of n + m, and every one as laundered, x + m of n + m.
    fn extremes(self) -> Result<[Counts; 2], StatsError> {
        let all = self.exposed + self.missing;
        Ok([Counts::new(self.laundered, all)?, Counts::new(self.laundered + self.missing, all)?])
    }
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A model whose answers vary: rates have bounds.
    Sampled,
    /// A deterministic program: asked again it says the same, so that there is no interval, only the plain rate.
    Deterministic,
}

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// Shown to keep the limit.
    Pass,
    /// Shown neither way.
    Inconclusive,
    /// Shown to break the limit.
    Fail,
}

impl Decision {
    /// The decision over several arms: the worst of them, and inconclusive when there is none.
    #[must_use]
    pub fn overall(decisions: impl IntoIterator<Item = Self>) -> Self {
        decisions.into_iter().max().unwrap_or(Self::Inconclusive)
    }

    const fn of(passes: Shown, fails: Shown) -> Self {
        match (passes, fails) {
            (Shown::Yes, _) => Self::Pass,
            (Shown::No, Shown::Yes) => Self::Fail,
            (Shown::No, Shown::No) => Self::Inconclusive,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

impl Shown {
    const fn when(shown: bool) -> Self {
        if shown { Self::Yes } else { Self::No }
    }
}

/// What it would take to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing: it is decided.
    Nothing,
    /// This many exposed runs in all, none missing, if the observed rate stays as it is. When that is the number of
    /// exposed runs there are, only the missing ones stand in the way.
    Runs(u64),
    /// Nothing was observed: this many exposed runs without a laundered one would pass.
    CleanRuns(u64),
    /// The missing runs, whose answers are certain once they are asked for.
    MissingRuns,
    /// The observed rate is the limit itself, and no number of runs tells it from the limit. So is a limit of 0 with
    /// nothing observed: it can only be broken.
    AtLimit,
    /// More than [`MOST_RUNS`].
    TooMany,
}

/// The gate's decision on one arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// The decision.
    pub decision: Decision,
    /// The lower and the upper one-sided bound, missing runs counted against the arm in each. For a deterministic
    /// reader the two plain rates. `None` when nothing was planned.
    pub bounds: Option<Interval>,
    /// What it would take.
    pub wanted: Wanted,
}

/// Decides whether a laundering rate is at or below `max_rate`.
///
/// With x of n exposed runs laundered and m missing: pass when the upper one-sided exact bound of x + m among n + m is at
/// or below the limit; fail when the lower one of x among n + m is above it; else inconclusive. For a deterministic
/// reader the plain rates stand in for the bounds. Without an exposed run nothing is ever decided.
///
/// # Errors
/// `invalid_p` unless the limit is a rate, `invalid_alpha` unless `alpha < 1/2`, `too_large` beyond ten million runs.
///
/// Where runs share sessions, counts are divided by the design effect first.
///
/// Source: Clopper and Pearson (1934) for the bounds, Korn and Graubard (1998) under clustering, Manski (1989) for the worst case.
pub fn decide(evidence: Evidence, max_rate: f64, reader: Reader, alpha: Alpha) -> Result<Assessment, StatsError> {
    let max_rate = probability("maximum rate", max_rate)?;
    let bounds = match (evidence.extremes(), reader) {
        (Err(StatsError::EmptySample), _) => None,
        (Err(error), _) => return Err(error),
        (Ok([clean, laundered]), Reader::Deterministic) => Some(Interval { low: clean.rate(), high: laundered.rate() }),
        (Ok([clean, laundered]), Reader::Sampled) => {
            let deff = evidence.design_effect;
            Some(Interval { low: lower(clean, deff, alpha)?, high: upper(laundered, deff, alpha)? })
        }
    };
    let decision = match bounds {
        Some(bounds) if evidence.exposed > 0 => {
            Decision::of(Shown::when(bounds.high <= max_rate), Shown::when(bounds.low > max_rate))
        }
        _ => Decision::Inconclusive,
    };
    let wanted = match (decision, reader) {
        (Decision::Pass | Decision::Fail, _) => Wanted::Nothing,
        (Decision::Inconclusive, Reader::Deterministic) if evidence.missing > 0 => Wanted::MissingRuns,
        // One exposed run is all that a deterministic reader needs.
        (Decision::Inconclusive, Reader::Deterministic) => Wanted::CleanRuns(1),
        (Decision::Inconclusive, Reader::Sampled) => wanted(evidence, max_rate, alpha)?,
    };
    Ok(Assessment { decision, bounds, wanted })
}

/// The upper one-sided exact bound of a rate.
fn upper(counts: Counts, deff: f64, alpha: Alpha) -> Result<f64, StatsError> {
    alpha.doubled()?;
    Ok(one_sided_effective(counts, deff, alpha)?.upper)
}

/// The lower one-sided exact bound of a rate.
fn lower(counts: Counts, deff: f64, alpha: Alpha) -> Result<f64, StatsError> {
    alpha.doubled()?;
    Ok(one_sided_effective(counts, deff, alpha)?.lower)
}

/// The smallest N, from the exposed runs there are, at which the observed rate x/n would decide with nothing missing.
///
/// A rate below the limit can only come to pass, one above it only to fail. N runs have a whole number of laundered ones:
/// the next above `N x/n` for a pass, the next below for a fail, so that rounding never helps the decision.
fn wanted(evidence: Evidence, max_rate: f64, alpha: Alpha) -> Result<Wanted, StatsError> {
    let Some(observed) = evidence.observed() else {
        if max_rate <= 0.0 {
            return Ok(Wanted::AtLimit);
        }
        let none = Search { counted: 0, of: 1, from: 1, deff: 1.0 };
        let runs = none.smallest(alpha, max_rate, |k, n| Ok(upper(Counts::new(k, n)?, 1.0, alpha)? <= max_rate))?;
        return Ok(runs.map_or(Wanted::TooMany, Wanted::CleanRuns));
    };
    let (x, n, deff) = (observed.events(), observed.trials(), evidence.design_effect);
    let runs = if observed.rate() < max_rate {
        let search = Search { counted: x, of: n, from: n, deff };
        search.smallest(alpha, max_rate, |k, n| Ok(upper(Counts::new(k, n)?, deff, alpha)? <= max_rate))?
    } else if observed.rate() > max_rate {
        // The same with clean runs counted in place of laundered ones.
        let search = Search { counted: n - x, of: n, from: n, deff };
        search.smallest(alpha, 1.0 - max_rate, |k, n| Ok(lower(Counts::new(n - k, n)?, deff, alpha)? > max_rate))?
    } else {
        return Ok(Wanted::AtLimit);
    };
    Ok(runs.map_or(Wanted::TooMany, Wanted::Runs))
}

/// A search among numbers of runs for a share `counted / of` that is below the limit.
struct Search {
    counted: u64,
    of: u64,
    from: u64,
    deff: f64,
}

impl Search {
    /// The smallest N from `from` up for which `decides(ceil(N counted/of), N)`, or `None` beyond [`MOST_RUNS`].
    ///
    /// All N with the same k = ceil(N counted/of) stand together, and among them a larger N decides whenever a smaller
    /// one does. So each k is asked about once, at its largest N, and the N is then halved down to.
    fn smallest(
        &self,
        alpha: Alpha,
        limit: f64,
        decides: impl Fn(u64, u64) -> Result<bool, StatsError>,
    ) -> Result<Option<u64>, StatsError> {
        let mut first = self.from;
        while first <= MOST_RUNS {
            let k = self.count(first);
            let last = self.last(k);
            if self.may_decide(k, last, limit, alpha) && decides(k, last)? {
                let (mut low, mut high) = (first, last);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if decides(k, middle)? { high = middle } else { low = middle + 1 }
                }
                return Ok(Some(high));
            }
            first = last + 1;
        }
        Ok(None)
    }

    /// ceil(N counted/of).
    fn count(&self, runs: u64) -> u64 {
        let exact = u128::from(runs) * u128::from(self.counted);
        exact.div_ceil(u128::from(self.of)) as u64
    }

    /// The largest N with that count.
    fn last(&self, k: u64) -> u64 {
        if self.counted == 0 {
            return MOST_RUNS;
        }
        ((u128::from(k) * u128::from(self.of) / u128::from(self.counted)) as u64).min(MOST_RUNS)
    }

    /// Whether P(X <= k) at the limit is near the level or below it. It costs one evaluation where a bound costs dozens.
    fn may_decide(&self, k: u64, n: u64, limit: f64, alpha: Alpha) -> bool {
        if k >= n || limit <= 0.0 {
            return k < n;
        }
        let above = checked_beta_reg(k as f64 / self.deff + 1.0, (n - k) as f64 / self.deff, limit.min(1.0));
        // Where the quick look fails, the bound is asked.
        above.ok().is_none_or(|above| 1.0 - above <= alpha.value() * (1.0 + SLACK))
    }
}

/// An arm against a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The decision.
    pub decision: Decision,
    /// New rate minus reference as observed; `None` when either has no exposed run.
    pub difference: Option<f64>,
    /// The lower and the upper one-sided limit of the difference, missing runs counted against the new arm in each. For
    /// a deterministic reader the two plain differences. `None` when either has no exposed run.
    pub bounds: Option<Interval>,
}

/// Decides whether a laundering rate is no more than `margin` above a reference.
///
/// Pass when the upper one-sided score limit of the difference is below the margin, with the new arm's missing runs
/// taken as laundered and the reference's as clean; fail when the lower one is above it, with each taken the other way;
/// else inconclusive. For a deterministic reader the plain differences stand in for the limits, and a difference equal to
/// the margin passes.
///
/// # Errors
/// `invalid_p` unless `0 <= margin < 1`, `invalid_alpha` unless `alpha < 1/2`.
///
/// Where the new arm's runs share sessions, a limit is moved away from the difference by the root of its design effect: the
/// reference, of which counts alone are known, is taken to be clustered alike.
///
/// Source: Miettinen and Nurminen (1985) for the limits, Kish (1965) under clustering, Manski (1989) for the worst case.
pub fn compare(
    new: Evidence,
    reference: Evidence,
    margin: f64,
    reader: Reader,
    alpha: Alpha,
) -> Result<Comparison, StatsError> {
    if !(0.0..1.0).contains(&margin) {
        return Err(StatsError::InvalidProbability { what: "margin", value: margin });
    }
    let two_sided = alpha.doubled()?;
    let (Some(observed), Some(before)) = (new.observed(), reference.observed()) else {
        return Ok(Comparison { decision: Decision::Inconclusive, difference: None, bounds: None });
    };
    let ([new_clean, new_laundered], [before_clean, before_laundered]) = (new.extremes()?, reference.extremes()?);
    let (bounds, passes) = match reader {
        Reader::Sampled => {
            let low = miettinen_nurminen(new_clean, before_laundered, two_sided).low;
            let high = miettinen_nurminen(new_laundered, before_clean, two_sided).high;
            // The score limits know counts alone: clustering moves them away from the difference as it moves a normal limit.
            let reach = new.design_effect.sqrt();
            let moved = |limit: f64, difference: f64| (difference + (limit - difference) * reach).clamp(-1.0, 1.0);
            let low = moved(low, rate_difference(new_clean, before_laundered));
            let high = moved(high, rate_difference(new_laundered, before_clean));
            (Interval { low, high }, high < margin)
        }
        Reader::Deterministic => {
            let low = rate_difference(new_clean, before_laundered);
            let high = rate_difference(new_laundered, before_clean);
            (Interval { low, high }, high <= margin)
        }
    };
    Ok(Comparison {
        decision: Decision::of(Shown::when(passes), Shown::when(bounds.low > margin)),
        difference: Some(rate_difference(observed, before)),
        bounds: Some(bounds),
    })
}

#[cfg(test)]
mod tests;
