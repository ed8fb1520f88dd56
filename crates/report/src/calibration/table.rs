//! A calibration in words: one line a figure, for a terminal and for files.

use std::collections::BTreeMap;

use laundromat_metrics::interval::wilson;
use laundromat_metrics::{Alpha, Interval};
use laundromat_session::Reading;

use super::figures::{Figures, Judged, Right};
use super::file::CalibrationFile;

/// Width of a stratum's name.
const NAME: usize = 24;

/// All figures of a calibration.
pub fn lines(file: &CalibrationFile) -> Vec<String> {
    let all = file.figures();
    let (judge, gold) = (&file.judge, &file.gold);
    let mut lines = vec![
        format!(
            "judge        {}{}",
            judge.model,
            if judge.rubric.is_empty() { String::new() } else { format!(", rubric {}", judge.rubric) }
        ),
        format!("instrument   {}", short(&judge.rubric_digest)),
        format!(
            "gold set     {} ({}), {} part, digest {}",
            gold.name,
            basis(&gold.labels),
            gold.part,
            short(&gold.digest)
        ),
        format!("items        {} with a verdict, {} without", all.items(), all.unjudged),
        String::new(),
    ];
    lines.push(format!("{:<NAME$}  {:<32}  {}", "laundered or not", "sensitivity", "specificity"));
    lines.push(both("all", &all));
    for (name, of) in STRATA {
        lines.extend(
            strata(&file.items, of).into_iter().map(|(value, figures)| both(&format!("{name} {value}"), &figures)),
        );
    }
    lines.push(String::new());
    lines.push(agreement("laundered or not", all.agreement_binary()));
    lines.push(agreement("six readings", all.agreement()));
    let hostile = Figures::of(file.items.iter().filter(|item| item.class == "hostile"));
    lines.push(agreement("six, hostile items", hostile.agreement()));
    lines.push(String::new());
    lines.extend(gate(&file.items));
    lines.push(String::new());
    lines.extend(confusion(&all));
    lines
}

/// A stratum's name, and which of its values an item has.
type Stratum = (&'static str, fn(&Judged) -> &str);

/// Hostile items come first, as a class of their own.
const STRATA: [Stratum; 3] =
    [("class", |item| &item.class), ("form", |item| &item.form), ("domain", |item| &item.domain)];

/// Figures by the values of a stratum.
pub fn strata(items: &[Judged], of: fn(&Judged) -> &str) -> BTreeMap<&str, Figures> {
    let mut by_value: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for item in items {
        by_value.entry(of(item)).or_default().push(item);
    }
    by_value.into_iter().map(|(value, items)| (value, Figures::of(items))).collect()
}

fn both(name: &str, figures: &Figures) -> String {
    format!("{name:<NAME$}  {:<32}  {}", rate(figures.laundered), rate(figures.clean))
}

/// `48/50 = 96.0% [86.5, 98.9]`.
pub fn rate(right: Right) -> String {
    let Some(counts) = right.counts() else { return "-".to_owned() };
    let Interval { low, high } = wilson(counts, Alpha::FIVE_PERCENT);
    format!("{}/{} = {:.1}% [{:.1}, {:.1}]", right.right, right.of, counts.rate() * 100.0, low * 100.0, high * 100.0)
}

fn agreement(
    name: &str,
    agreement: Option<(laundromat_metrics::agreement::TwoRaterAgreement, laundromat_metrics::ac1::Ac1)>,
) -> String {
    let Some((two, ac1)) = agreement else { return format!("{name:<NAME$}  agreement is not defined here") };
    let kappa = two.kappa_interval;
    format!(
        "{name:<NAME$}  agreement {:.1}%, kappa {:.3} [{:.3}, {:.3}], AC1 {:.3} [{:.3}, {:.3}]",
        two.observed * 100.0,
        two.cohen_kappa,
        kappa.low,
        kappa.high.min(1.0),
        ac1.ac1,
        ac1.interval.low,
        ac1.interval.high
    )
}

/// The gate by itself, and the judge by itself.
fn gate(items: &[Judged]) -> Vec<String> {
    let mut traces = Right::default();
    let mut absent = Right::default();
    for item in items {
        let (side, is_right) = match item.gold {
            Reading::Absent => (&mut absent, !item.gate),
            _ => (&mut traces, item.gate),
        };
        side.of += 1;
        side.right += u64::from(is_right);
    }
    let judge = Figures::of_judge(items);
    vec![
        format!(
            "{:<NAME$}  {} of those with a trace let through, {} of those without stopped",
            "gate alone",
            rate(traces),
            rate(absent)
        ),
        both("judge alone", &judge),
    ]
}

fn confusion(figures: &Figures) -> Vec<String> {
    let head: String = Reading::ALL.iter().map(|reading| format!("{:>14}", reading.id())).collect();
    let mut lines = vec![format!("{:<14}{head}{:>10}", "label \\ verdict", "right")];
    for (reading, row) in Reading::ALL.iter().zip(&figures.confusion) {
        let all: u64 = row.iter().sum();
        let right = row[super::figures::place(*reading)];
        let cells: String = row.iter().map(|count| format!("{count:>14}")).collect();
        lines.push(format!("{:<15}{}{:>10}", reading.id(), &cells[1..], format!("{right}/{all}")));
    }
    lines
}

fn basis(labels: &str) -> &str {
    match labels {
        "construction" => "labels hold by construction; no agreement of people is claimed",
        "labellers" => "labelled by two people, settled where they differed",
        other => other,
    }
}

pub(crate) fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::sample;
    use super::lines;

    #[test]
    fn every_figure_has_its_line() {
        let mut file = sample((48, 50), (47, 50));
        file.items[0].class = "hostile".to_owned();
        let text = lines(&file).join("\n");
        for line in [
            "all                       48/50 = 96.0% [86.5, 98.9]        47/50 = 94.0% [83.8, 97.9]",
            "class hostile             1/1 = 100.0%",
            "labels hold by construction",
            "laundered or not          agreement 95.0%, kappa 0.900",
            "gate alone                100/100",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let user = text.lines().find(|line| line.starts_with("user ")).expect("a row");
        assert_eq!(user.split_whitespace().collect::<Vec<_>>(), ["user", "48", "0", "2", "0", "0", "0", "48/50"]);
    }
}
