//! A run in a few lines, for a terminal that is 80 columns wide.

use laundromat_metrics::rate::render_rate;
use laundromat_session::PlantKind;
use laundromat_store::SummarizerKind;

use crate::data::{Pool, Tables};
use crate::tally::counted_as;

const COLUMNS: usize = 80;

/// `text` in lines of a terminal, broken at spaces; none where there is nothing to say.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// One line an arm for each attack and control, and what to know about them.
pub(crate) fn lines(tables: &Tables<'_>) -> Vec<String> {
    let manifest = tables.manifest;
    let width = manifest.arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or_default();
    let mut lines = wrapped(&manifest.note);
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
    lines.extend(tables.mostly_unusable().iter().flat_map(|sentence| wrapped(sentence)));
    if manifest.summarizers.iter().any(|summarizer| summarizer.kind == SummarizerKind::Builtin) {
        lines.push("The built-in reader is no LLM: it shows what the form lets a trusting reader believe.".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, wrapped};

    #[test]
    fn long_sentences_are_broken_at_spaces_and_nothing_is_lost() {
        assert_eq!(wrapped(""), Vec::<String>::new());
        let text = "word ".repeat(50) + &"x".repeat(COLUMNS + 1);
        let lines = wrapped(&text);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS || !line.contains(' ')));
        assert_eq!(lines[0].chars().count(), COLUMNS - 1);
    }
}
