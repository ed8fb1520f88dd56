//! Evaluators for one rate and for two.

use serde_json::json;

use super::Evaluated;
use super::input::Input;
use crate::counts::Interval;
use crate::score::Verdict;
use crate::{difference, exact, interval, score};

fn limits(interval: Interval) -> Evaluated {
    Ok(json!({"low": interval.low, "high": interval.high}))
}

pub(super) fn z_pooled(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let t = difference::z_pooled(s.first, s.second)?;
    Ok(json!({"diff": t.diff, "se": t.se, "z": t.z, "p_two_sided": t.p_two_sided, "p_greater": t.p_greater,
        "p_less": t.p_less}))
}

pub(super) fn z_unpooled(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let t = difference::z_unpooled(s.first, s.second)?;
    Ok(json!({"diff": t.diff, "se": t.se, "z": t.z, "p_two_sided": t.p_two_sided, "p_greater": t.p_greater,
        "p_less": t.p_less}))
}

pub(super) fn chi_square(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let t = difference::chi_square(s.first, s.second)?;
    Ok(json!({"chi2": t.chi2, "p": t.p, "chi2_yates": t.chi2_yates, "p_yates": t.p_yates}))
}

pub(super) fn wilson(input: &Input<'_>) -> Evaluated {
    limits(interval::wilson(input.counts("x", "n")?, input.alpha()?))
}

pub(super) fn clopper_pearson(input: &Input<'_>) -> Evaluated {
    limits(interval::clopper_pearson(input.counts("x", "n")?, input.alpha()?)?)
}

pub(super) fn jeffreys(input: &Input<'_>) -> Evaluated {
    let j = interval::jeffreys(input.counts("x", "n")?, input.alpha()?)?;
    Ok(json!({"low": j.interval.low, "high": j.interval.high, "raw_low": j.raw.low, "raw_high": j.raw.high}))
}

pub(super) fn wilson_continuity(input: &Input<'_>) -> Evaluated {
    limits(interval::wilson_continuity(input.counts("x", "n")?, input.alpha()?))
}

pub(super) fn agresti_coull(input: &Input<'_>) -> Evaluated {
    limits(interval::agresti_coull(input.counts("x", "n")?, input.alpha()?))
}

pub(super) fn upper_bound_zero_events(input: &Input<'_>) -> Evaluated {
    let b = interval::upper_bound_zero_events(input.count("n")?, input.alpha()?)?;
    Ok(json!({"upper_one_sided": b.upper_one_sided, "approx_3_over_n": b.rule_of_three}))
}

pub(super) fn wilson_effective_n(input: &Input<'_>) -> Evaluated {
    let e = interval::wilson_effective_n(input.counts("x", "n")?, input.number("deff")?, input.alpha()?)?;
    Ok(json!({"n_eff": e.n_eff, "low": e.interval.low, "high": e.interval.high}))
}

pub(super) fn newcombe(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let i = difference::newcombe(s.first, s.second, input.alpha()?);
    Ok(json!({"diff": difference::rate_difference(s.first, s.second), "low": i.low, "high": i.high}))
}

pub(super) fn miettinen_nurminen(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let i = score::miettinen_nurminen(s.first, s.second, input.alpha()?);
    Ok(json!({"diff": difference::rate_difference(s.first, s.second), "low": i.low, "high": i.high}))
}

pub(super) fn agresti_caffo(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    limits(difference::agresti_caffo(s.first, s.second, input.alpha()?))
}

pub(super) fn noninferiority(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let t = score::noninferiority_lower_better(s.first, s.second, input.number("margin")?, input.alpha()?)?;
    Ok(json!({"z_mn": t.z_mn, "p_one_sided": t.p_one_sided, "z_fm": t.z_fm, "upper_mn_90": t.upper_mn,
        "upper_newcombe_90": t.upper_newcombe, "pass_mn": t.score == Verdict::Pass,
        "pass_newcombe": t.newcombe == Verdict::Pass}))
}

pub(super) fn fisher(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    let t = exact::fisher(s.first, s.second)?;
    Ok(json!({"p_two_sided": t.p_two_sided, "p_greater": t.p_greater, "p_less": t.p_less,
        "mid_p_greater": t.mid_p_greater}))
}

pub(super) fn boschloo(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    Ok(json!({"p_two_sided": exact::boschloo(s.first, s.second)?.p_two_sided}))
}

pub(super) fn barnard(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    Ok(json!({"p_two_sided": exact::barnard(s.first, s.second)?.p_two_sided}))
}

pub(super) fn cohen_h(input: &Input<'_>) -> Evaluated {
    let s = input.samples()?;
    Ok(json!({"h": difference::cohen_h(s.first, s.second)}))
}
