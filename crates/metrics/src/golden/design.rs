//! Evaluators for several tests, for planning, and for looking early.

use serde_json::json;

use super::Evaluated;
use super::input::{Input, fault};
use crate::counts::Alpha;
use crate::multiple::{self, Adjusted, Decision};
use crate::paired::Observation;
use crate::planning::{self, Direction};
use crate::sequential::{self, Design, SprtDecision};

pub(super) fn adjust(input: &Input<'_>) -> Evaluated {
    let adjusted = multiple::adjust(&input.numbers("p")?)?;
    let alpha = input.alpha()?;
    let rejected =
        |list: &[f64]| -> Vec<bool> { Adjusted::decide(list, alpha).iter().map(|d| *d == Decision::Reject).collect() };
    Ok(json!({"holm": adjusted.holm, "bh": adjusted.bh, "by": adjusted.by, "bonferroni": adjusted.bonferroni,
        "reject_holm": rejected(&adjusted.holm), "reject_bh": rejected(&adjusted.bh)}))
}

pub(super) fn sample_size(input: &Input<'_>) -> Evaluated {
    let (p1, p2, power) = (input.number("p1")?, input.number("p2")?, input.number("power")?);
    let s = planning::sample_size(p1, p2, input.alpha()?, power)?;
    Ok(json!({"n_per_arm": s.n_per_arm, "n_ceil": s.n_ceil, "n_cc": s.n_corrected,
        "n_cc_ceil": s.n_corrected_ceil}))
}

pub(super) fn power(input: &Input<'_>) -> Evaluated {
    let (p1, p2, n) = (input.number("p1")?, input.number("p2")?, input.number("n_per_arm")?);
    let p = planning::power(p1, p2, n, input.alpha()?)?;
    Ok(json!({"power": p.power, "power_arcsine": p.power_arcsine}))
}

pub(super) fn minimum_detectable_effect(input: &Input<'_>) -> Evaluated {
    let direction = match input.text("direction")? {
        "down" => Direction::Down,
        "up" => Direction::Up,
        _ => return Err(fault("direction", "\"down\" or \"up\"")),
    };
    let (p1, n, power) = (input.number("p1")?, input.number("n_per_arm")?, input.number("power")?);
    let effect = planning::minimum_detectable_effect(p1, n, input.alpha()?, power, direction)?;
    Ok(json!({"mde": effect.difference, "p2": effect.p2}))
}

pub(super) fn group_sequential(input: &Input<'_>) -> Evaluated {
    let design = match input.text("design")? {
        "obrien_fleming" => Design::OBrienFleming,
        "pocock" => Design::Pocock,
        _ => return Err(fault("design", "\"obrien_fleming\" or \"pocock\"")),
    };
    let looks = usize::try_from(input.count("looks")?).map_err(|_| fault("looks", "a small count"))?;
    let g = sequential::group_sequential(design, looks, input.alpha()?)?;
    Ok(json!({"constant": g.constant, "bounds": g.bounds}))
}

pub(super) fn spend_obrien_fleming(input: &Input<'_>) -> Evaluated {
    Ok(json!({"spent": sequential::spend_obrien_fleming(input.number("t")?, input.alpha()?)?}))
}

pub(super) fn spend_pocock(input: &Input<'_>) -> Evaluated {
    Ok(json!({"spent": sequential::spend_pocock(input.number("t")?, input.alpha()?)?}))
}

pub(super) fn e_value(input: &Input<'_>) -> Evaluated {
    let (x, n, p0) = (input.count("x")?, input.count("n")?, input.number("p0")?);
    let e = sequential::e_value(x, n, p0, input.number("a")?, input.number("b")?)?;
    Ok(json!({"log_e": e.log_e, "e": e.e, "p_anytime": e.p_anytime}))
}

pub(super) fn mixture_sprt(input: &Input<'_>) -> Evaluated {
    let (n, diff, tau) = (input.number("n_per_arm")?, input.number("diff")?, input.number("tau")?);
    let m = sequential::mixture_sprt(n, diff, input.number("p1")?, input.number("p2")?, tau)?;
    Ok(json!({"log_lambda": m.log_lambda, "p_always_valid": m.p_always_valid}))
}

pub(super) fn wald_sprt(input: &Input<'_>) -> Evaluated {
    let outcomes: Vec<Observation> = input
        .counts_list("seq")?
        .iter()
        .map(|y| if *y > 0 { Observation::Event } else { Observation::NoEvent })
        .collect();
    let beta = Alpha::new(input.number("beta")?)?;
    let s = sequential::wald_sprt(&outcomes, input.number("p0")?, input.number("p1")?, input.alpha()?, beta)?;
    let decision = match s.decision {
        SprtDecision::AcceptP0 => "accept_p0",
        SprtDecision::AcceptP1 => "accept_p1",
        SprtDecision::Continue => "continue",
    };
    Ok(json!({"llr": s.llr, "upper": s.upper, "lower": s.lower, "decision": decision}))
}
