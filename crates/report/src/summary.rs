//! A run in a few lines, for a terminal that is 80 columns wide.

use laundromat_metrics::rate::render_rate;
use laundromat_session::PlantKind;
use laundromat_store::SummarizerKind;

use crate::data::{Pool, Tables};
use crate::tally::counted_as;

/// One line an arm for each attack and control, and what to know about them.
pub(crate) fn lines(tables: &Tables<'_>) -> Vec<String> {
    let manifest = tables.manifest;
    let width = manifest.arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or_default();
    let mut lines: Vec<String> = (!manifest.note.is_empty()).then(|| manifest.note.clone()).into_iter().collect();
    for (index, attack) in manifest.attacks.iter().enumerate() {
        lines.push(format!("{} ({}), {} of exposed runs:", attack.name, attack.kind, counted_as(attack.kind)));
        for (arm, info) in manifest.arms.iter().enumerate() {
            let rate = tables.rate(arm, &[index], Pool::All);
            let share = rate.tally.counts().map_or_else(|| "nothing judged".to_owned(), render_rate);
            let missing = rate.tally.runs - rate.tally.exposed;
            let missing =
                if missing == 0 { String::new() } else { format!(", {missing} of {} left out", rate.tally.runs) };
            let recall = match attack.kind {
                PlantKind::Clean => {
                    tables.fidelity(arm, Pool::All).recall.map(|recall| format!(", recall {recall:.3}"))
                }
                _ => None,
            };
            lines.push(format!("  {:<width$}  {share}{}{missing}", info.name, recall.unwrap_or_default()));
        }
    }
    lines.extend(tables.mostly_unusable());
    if manifest.summarizers.iter().any(|summarizer| summarizer.kind == SummarizerKind::Builtin) {
        lines.push("The built-in reader is no LLM: it shows what the form lets a trusting reader believe.".to_owned());
    }
    lines
}
