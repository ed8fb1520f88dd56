//! Evaluators for judges, recall and the printed table.

use serde_json::{Map, Value, json};

use super::input::{Input, fault};
use super::{EvalError, Evaluated};
use crate::calibration::{self, Calibration, PpiData};
use crate::counts::Counts;
use crate::rate::{self, ModelMean, TableArm};
use crate::{Alpha, agreement};

pub(super) fn rogan_gladen(input: &Input<'_>) -> Evaluated {
    let judge =
        Calibration::new(input.count("true_neg")?, input.count("m0")?, input.count("true_pos")?, input.count("m1")?)?;
    let c = calibration::rogan_gladen(input.counts("x", "n")?, &judge, input.alpha()?)?;
    Ok(json!({"naive": c.naive, "specificity": judge.specificity(), "sensitivity": judge.sensitivity(),
        "theta": c.theta, "theta_unclipped": c.theta_unclipped, "se_delta": c.se_delta,
        "lee_low": c.interval.low, "lee_high": c.interval.high}))
}

pub(super) fn rogan_gladen_difference(input: &Input<'_>) -> Evaluated {
    let diff = calibration::rogan_gladen_difference(
        input.number("p1")?,
        input.number("p2")?,
        input.number("specificity")?,
        input.number("sensitivity")?,
    )?;
    Ok(json!({"diff": diff}))
}

/// Runs `with` on the three lists of a prediction-powered estimate.
fn with_ppi<T>(input: &Input<'_>, with: impl Fn(&PpiData<'_>) -> Result<T, EvalError>) -> Result<T, EvalError> {
    let (gold, on_gold) = (input.numbers("gold")?, input.numbers("judge_on_gold")?);
    let unlabeled = input.numbers("judge_unlabeled")?;
    with(&PpiData::new(&gold, &on_gold, &unlabeled)?)
}

fn ppi_fields(data: &PpiData<'_>, lambda: f64, alpha: Alpha) -> Evaluated {
    let m = calibration::ppi_mean(data, lambda, alpha)?;
    Ok(json!({"lam": lambda, "theta": m.theta, "se": m.se, "low": m.interval.low, "high": m.interval.high}))
}

pub(super) fn ppi_mean(input: &Input<'_>) -> Evaluated {
    let (lambda, alpha) = (input.number("lam")?, input.alpha()?);
    with_ppi(input, |data| ppi_fields(data, lambda, alpha))
}

pub(super) fn ppi_mean_tuned(input: &Input<'_>) -> Evaluated {
    let alpha = input.alpha()?;
    with_ppi(input, |data| ppi_fields(data, calibration::ppi_lambda(data)?, alpha))
}

pub(super) fn two_raters(input: &Input<'_>) -> Evaluated {
    let a = agreement::two_raters(&input.table("table")?, input.alpha()?)?;
    Ok(json!({"observed": a.observed, "expected": a.expected, "cohen_kappa": a.cohen_kappa, "kappa_se": a.kappa_se,
        "kappa_low": a.kappa_interval.low, "kappa_high": a.kappa_interval.high,
        "krippendorff_alpha": a.krippendorff_alpha, "gwet_ac1": a.gwet_ac1}))
}

pub(super) fn krippendorff_alpha(input: &Input<'_>) -> Evaluated {
    Ok(json!({"alpha": agreement::krippendorff_alpha(&input.labels("raters")?)?}))
}

pub(super) fn fleiss_kappa(input: &Input<'_>) -> Evaluated {
    Ok(json!({"kappa": agreement::fleiss_kappa(&input.table("counts")?)?}))
}

/// An arm of `{model: [x, n]}`, summed over its models.
fn table_arm(name: &str, models: &Value) -> Result<TableArm, EvalError> {
    let bad = || fault("arms", "models with [events, trials]");
    let (mut events, mut trials) = (0, 0);
    for cell in models.as_object().ok_or_else(bad)?.values() {
        let part = |i: usize| cell.get(i).and_then(Value::as_u64).ok_or_else(bad);
        // A model without trials is no reason to lose the arm.
        events += part(0)?;
        trials += part(1)?;
    }
    Ok(TableArm { name: name.to_owned(), counts: Counts::new(events, trials)? })
}

pub(super) fn render_table(input: &Input<'_>) -> Evaluated {
    let arms = input.get("arms").and_then(Value::as_object).ok_or_else(|| fault("arms", "an object"))?;
    let mut arms = arms.iter().map(|(name, models)| table_arm(name, models)).collect::<Result<Vec<_>, _>>()?;
    if input.get("baseline").is_some() {
        let baseline = input.text("baseline")?;
        // The baseline comes first, the others keep their order.
        arms.sort_by_key(|arm| arm.name != baseline);
    }
    let lines = rate::render_table(&arms);
    Ok(Value::Object(lines.into_iter().map(|l| (l.name, Value::String(l.text))).collect::<Map<_, _>>()))
}

pub(super) fn pooled_recall(input: &Input<'_>) -> Evaluated {
    let (means, runs) = (input.numbers("model_means")?, input.counts_list("n_runs")?);
    if means.len() != runs.len() {
        return Err(fault("n_runs", "one entry for each of model_means"));
    }
    let means: Vec<ModelMean> = means.into_iter().zip(runs).map(|(mean, runs)| ModelMean { mean, runs }).collect();
    let p = rate::pool_means(&means)?;
    Ok(json!({"pooled": p.pooled, "unweighted": p.unweighted}))
}
