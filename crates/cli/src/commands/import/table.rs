//! What came out of an import: a row a session and a sum, or the same as JSON.

use std::path::Path;

use laundromat_import::{Losses, Redactions};
use laundromat_session::Counts;
use serde::Serialize;

use super::files::{FileReport, Row};
use crate::terminal::{json as print_json, line};

/// A session as JSON tells it.
#[derive(Serialize)]
struct SessionJson<'a> {
    file: &'a Path,
    session: &'a str,
    format: &'a str,
    #[serde(flatten)]
    counts: Counts,
    losses: &'a Losses,
    redactions: &'a Redactions,
}

/// All of an import as JSON.
#[derive(Serialize)]
struct ImportJson<'a> {
    sessions: Vec<SessionJson<'a>>,
    sum: Counts,
    losses: Losses,
    redactions: Redactions,
    passed_over: usize,
    errors: Vec<String>,
}

/// Prints one JSON object.
pub(super) fn json(reports: &[FileReport], passed_over: usize) {
    let sessions = rows(reports)
        .map(|(file, row)| SessionJson {
            file,
            session: &row.id,
            format: &row.format,
            counts: row.counts,
            losses: &row.losses,
            redactions: &row.redactions,
        })
        .collect();
    let (sum, losses) = sum(reports);
    let errors = reports.iter().flat_map(|report| &report.errors).map(ToString::to_string).collect();
    print_json(&ImportJson { sessions, sum, losses, redactions: all_redactions(reports), passed_over, errors });
}

/// Prints a table.
pub(super) fn print(reports: &[FileReport]) {
    print_row(
        &["turns", "system", "user", "synth", "assistant", "calls", "results", "orphans", "repaired", "skipped"]
            .map(str::to_owned),
        "session",
        "file",
    );
    let mut sessions = 0;
    for (file, row) in rows(reports) {
        sessions += 1;
        print_row(&cells(&row.counts, &row.losses), &row.id, &file.display().to_string());
    }
    let (sum, losses) = sum(reports);
    print_row(&cells(&sum, &losses), &format!("{sessions} sessions"), "");
}

/// What was replaced, in one line.
pub(super) fn redactions(reports: &[FileReport]) -> String {
    let all = all_redactions(reports);
    let kinds: Vec<String> = all.0.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    match kinds.is_empty() {
        true => "private things replaced: none found".to_owned(),
        false => format!(
            "private things replaced: {}; this finds most and not all, so look before you publish",
            kinds.join(", ")
        ),
    }
}

fn all_redactions(reports: &[FileReport]) -> Redactions {
    let mut all = Redactions::default();
    rows(reports).for_each(|(_, row)| all.absorb(&row.redactions));
    all
}

fn rows(reports: &[FileReport]) -> impl Iterator<Item = (&Path, &Row)> {
    reports.iter().flat_map(|report| report.rows.iter().map(|row| (report.path.as_path(), row)))
}

fn cells(counts: &Counts, losses: &Losses) -> [String; 10] {
    [
        counts.turns,
        counts.system,
        counts.user,
        counts.synthetic_user,
        counts.assistant,
        counts.calls,
        counts.results,
        counts.orphan_results,
        losses.repaired.count,
        losses.skipped_records,
    ]
    .map(|count| count.to_string())
}

fn print_row(cells: &[String; 10], session: &str, file: &str) {
    const WIDTHS: [usize; 10] = [6, 6, 5, 5, 9, 6, 7, 7, 8, 7];
    let cells: String = cells.iter().zip(WIDTHS).map(|(cell, width)| format!(" {cell:>width$}")).collect();
    line(format!("{session:<44}{cells}  {file}").trim_end());
}

fn sum(reports: &[FileReport]) -> (Counts, Losses) {
    let (mut sum, mut losses) = (Counts::default(), Losses::default());
    for (_, row) in rows(reports) {
        add(&mut sum, &row.counts);
        losses.absorb(row.losses.clone());
    }
    // A record number says nothing without its file.
    losses.forget_places();
    (sum, losses)
}

fn add(sum: &mut Counts, counts: &Counts) {
    sum.turns += counts.turns;
    sum.system += counts.system;
    sum.user += counts.user;
    sum.synthetic_user += counts.synthetic_user;
    sum.assistant += counts.assistant;
    sum.calls += counts.calls;
    sum.results += counts.results;
    sum.errors += counts.errors;
    sum.reasoning += counts.reasoning;
    sum.images += counts.images;
    sum.markers += counts.markers;
    sum.max_calls_per_turn = sum.max_calls_per_turn.max(counts.max_calls_per_turn);
    sum.unanswered_calls += counts.unanswered_calls;
    sum.orphan_results += counts.orphan_results;
    sum.reused_ids += counts.reused_ids;
}
