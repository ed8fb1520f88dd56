//! Whether a calibration says anything about a run: the same judge, told the same, over summaries of the same kinds.

use std::collections::BTreeSet;

use laundromat_metrics::Counts;
use laundromat_metrics::exact::fisher;
use laundromat_store::Manifest;

use super::file::CalibrationFile;
use super::table::strata;

/// Fewest items on either side for a correction that is worth its interval.
const FEWEST: u64 = 50;

/// What speaks against applying `calibration` to the run, one sentence each.
pub fn warnings(calibration: &CalibrationFile, manifest: &Manifest) -> Vec<String> {
    let mut out = Vec::new();
    let mut differs = |what: &str, run: &str, measured: &str| {
        if run != measured {
            out.push(format!("the calibration is of the {what} \"{measured}\", the run has \"{run}\""));
        }
    };
    let judge = &calibration.judge;
    differs("judge", &manifest.judge, &judge.model);
    differs("endpoint", &manifest.judge_endpoint, &judge.endpoint);
    differs("parameters", &manifest.judge_parameters, &judge.parameters);
    if judge.rubric.is_empty() {
        differs("version of laundromat", &manifest.version, &calibration.version);
    } else {
        let standard = |rubric: &str| if rubric.is_empty() { "standard".to_owned() } else { rubric.to_owned() };
        differs("rubric", &standard(&manifest.judge_rubric), &rubric_of(calibration));
    }
    if calibration.gold.part != "test" && calibration.gold.labels == "construction" {
        out.push(format!(
            "it was measured on the {} part of the gold set, on which rules may have been tuned",
            calibration.gold.part
        ));
    }
    if calibration.gold.labels == "construction" {
        out.push(
            "its gold set was written for this repository: the judge's error on this run's summaries may be another; label a sample of them with laundromat judge label"
                .to_owned(),
        );
    }
    let known: BTreeSet<&str> = calibration.items.iter().map(|item| item.form.as_str()).collect();
    let unknown: BTreeSet<&str> =
        manifest.arms.iter().map(|arm| arm.form.as_str()).filter(|form| !known.contains(form)).collect();
    if !unknown.is_empty() {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        out.push(format!("it holds no summary of the form {}, which the run has", unknown.join(", ")));
    }
    let figures = calibration.figures();
    if figures.laundered.of < FEWEST || figures.clean.of < FEWEST {
        out.push(format!(
            "it rests on {} laundered and {} other items; {FEWEST} of each are the fewest to rely on",
            figures.laundered.of, figures.clean.of
        ));
    }
    if figures.unjudged > 0 {
        out.push(format!("{} of its items got no verdict and are left out", figures.unjudged));
    }
    out.extend(unequal(calibration));
    out
}

/// The rubric as manifests name it.
fn rubric_of(calibration: &CalibrationFile) -> String {
    match calibration.judge.rubric.as_str() {
        "standard" => "standard".to_owned(),
        name => format!("{name} {}", super::table::short(&calibration.judge.rubric_digest)),
    }
}

/// One correction for all arms presumes that the judge errs alike under all forms.
fn unequal(calibration: &CalibrationFile) -> Vec<String> {
    let by_form: Vec<_> = strata(&calibration.items, |item| &item.form).into_iter().collect();
    let mut out = Vec::new();
    for (at, (form, figures)) in by_form.iter().enumerate() {
        for (other, others) in &by_form[at + 1..] {
            for (what, a, b) in
                [("sensitivity", figures.laundered, others.laundered), ("specificity", figures.clean, others.clean)]
            {
                let counts = Counts::new(a.right, a.of).ok().zip(Counts::new(b.right, b.of).ok());
                let p = counts.and_then(|(a, b)| fisher(a, b).ok()).map(|test| test.p_two_sided);
                if p.is_some_and(|p| p < 0.05) {
                    out.push(format!(
                        "its {what} is not the same under {form} ({}/{}) and {other} ({}/{}): one correction for all arms can make or hide a difference",
                        a.right, a.of, b.right, b.of
                    ));
                }
            }
        }
    }
    out
}
