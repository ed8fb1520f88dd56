//! Rates corrected for the judge's error, beside the raw ones. They are shown only where a calibration is named.

use laundromat_metrics::Alpha;
use laundromat_metrics::calibration::{CorrectedRate, rogan_gladen};
use laundromat_metrics::rate::render_rate;
use laundromat_session::PlantKind;

use super::file::CalibrationFile;
use super::table::{rate, short};
use super::transport;
use crate::data::{Pool, Tables};
use crate::escape::markdown as escaped;

/// The section of `report.md`, one paragraph or table an entry.
pub(crate) fn section(tables: &Tables<'_>, calibration: &CalibrationFile) -> Vec<String> {
    let figures = calibration.figures();
    let mut section = vec![
        "## Laundering rates corrected for the judge's error".to_owned(),
        format!(
            "By the calibration of {} on {} ({} part, digest {}): sensitivity {}, specificity {}. Corrected after Rogan and \
             Gladen with the interval of Lee et al.; runs and gold items are taken as independent.",
            escaped(&calibration.judge.model),
            escaped(&calibration.gold.name),
            escaped(&calibration.gold.part),
            escaped(short(&calibration.gold.digest)),
            rate(figures.laundered),
            rate(figures.clean),
        ),
    ];
    let warnings = transport::warnings(calibration, tables.manifest);
    section.extend(warnings.iter().map(|warning| format!("> **Warning:** {}.", escaped(warning))));
    let judge = match calibration.calibration() {
        Ok(judge) => judge,
        Err(error) => {
            section.push(format!("No correction: {error}."));
            return section;
        }
    };
    let mut lines = vec![
        "| arm | attack | raw | corrected | 95% interval |".to_owned(),
        "| --- | --- | --- | --- | --- |".to_owned(),
    ];
    let mut outside = Vec::new();
    for attack in tables.of_kind(PlantKind::Attack) {
        for (arm, info) in tables.manifest.arms.iter().enumerate() {
            let counts = tables.rate(arm, &[attack], Pool::All).tally.counts();
            let raw = counts.map_or_else(|| "nothing judged".to_owned(), render_rate);
            let (corrected, interval) = match counts.map(|counts| rogan_gladen(counts, &judge, Alpha::FIVE_PERCENT)) {
                Some(Ok(corrected)) => {
                    if is_outside(&corrected) {
                        outside.push(info.name.as_str());
                    }
                    let CorrectedRate { theta, interval, .. } = corrected;
                    let percent = |share: f64| format!("{:.1}", share * 100.0);
                    (format!("{}%", percent(theta)), format!("[{}, {}]", percent(interval.low), percent(interval.high)))
                }
                Some(Err(error)) => (error.to_string(), "-".to_owned()),
                None => ("-".to_owned(), "-".to_owned()),
            };
            let name = &tables.manifest.attacks[attack].name;
            lines.push(format!("| {} | {} | {raw} | {corrected} | {interval} |", escaped(&info.name), escaped(name)));
        }
    }
    section.push(lines.join("\n"));
    if !outside.is_empty() {
        outside.dedup();
        section.push(format!(
            "> **Warning:** the corrected rate of {} lies outside of 0 to 100% before it is cut off: this judge errs \
             otherwise on this run than on the gold set.",
            outside.iter().map(|arm| escaped(arm)).collect::<Vec<_>>().join(", ")
        ));
    }
    section
}

fn is_outside(corrected: &CorrectedRate) -> bool {
    !(0.0..=1.0).contains(&corrected.theta_unclipped)
}
