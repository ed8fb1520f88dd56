//! The sections that take sessions for the sample: arms, contrasts, and what summaries keep.

use laundromat_metrics::rate::{discrimination_index, render_rate};
use laundromat_session::{Outcome, PlantKind};
use laundromat_store::SummarizerKind;

use super::{Section, owned, rate_cell, reader_note, table};
use crate::clusters::{Basis, Clustered};
use crate::data::{Contrast, Pool, RateRow, Tables, Test};
use crate::escape::markdown as escaped;
use crate::sentence;
use crate::sessions::{Agreement, BySession, FEWEST_SESSIONS, Family};
use crate::tally::Tally;
use crate::text::{self, NONE, or_none};

/// One sentence a contrast, under the table of rates.
pub(super) fn conclusions(tables: &Tables<'_>, attack: usize) -> Section {
    let over_all = tables.contrasts.iter().filter(|it| it.attack == attack && it.pool == Pool::All);
    let sentences = over_all.filter_map(|contrast| sentence::of(tables, contrast));
    let lines: Vec<String> = sentences.map(|it| format!("- {}", escaped(&it))).collect();
    if lines.is_empty() {
        Section::new()
    } else {
        vec!["In the column all, session by session:".to_owned(), lines.join("\n")]
    }
}

fn span(low: f64, high: f64) -> String {
    format!("{} – {}", text::percent(low), text::percent(high))
}

fn points_span(low: f64, high: f64) -> String {
    format!("{} – {}", text::points(low), text::points(high))
}

/// Every arm over all summarizers, with what its runs are worth.
pub(super) fn arms(tables: &Tables<'_>) -> Section {
    let attacks = tables.of_kind(PlantKind::Attack);
    if attacks.is_empty() {
        return Section::new();
    }
    let approvals = tables.of_kind(PlantKind::TrueUser);
    let mut header = owned(&[
        "arm",
        "attack",
        "rate",
        "missing",
        "95% interval (Wilson, effective n)",
        "design effect",
        "effective n",
        "ICC",
        "repetitions agree",
        "of usable ones",
        "unattributed",
        "if all missing were clean – laundered",
    ]);
    if !approvals.is_empty() {
        header.extend(owned(&["true approvals kept", "index"]));
    }
    let rows = tables.rates.iter().filter(|row| row.pool == Pool::All && attacks.contains(&row.attack));
    let rows: Vec<Vec<String>> = rows.map(|row| arm_row(tables, row, &approvals)).collect();
    let mut section = vec!["### Arms over sessions, column all".to_owned()];
    section.extend(reader_note(tables));
    section.push(table(&header, &rows));
    if sentence::applies(tables) {
        section.push(
            "The runs of a session share it, so they are worth fewer independent ones: runs over the design effect. Where \
             all runs ended alike it cannot be estimated, and every session counts once. Missing: planned runs without a \
             verdict, by reason; the last bounds take all of them for clean and for laundered."
                .to_owned(),
        );
    }
    section.extend(served(tables, &attacks));
    section
}

fn arm_row(tables: &Tables<'_>, row: &RateRow, approvals: &[usize]) -> Vec<String> {
    let rate = &row.rate;
    let clustered = row.clustered.as_ref();
    let interval = match (clustered, tables.kind(row.pool), rate.rate) {
        (_, _, None) => "none (nothing judged)".to_owned(),
        (_, SummarizerKind::Builtin, _) => "none (deterministic reader)".to_owned(),
        (None, ..) => "none (one session)".to_owned(),
        (Some(it), ..) => span(it.interval.low, it.interval.high),
    };
    let deff = clustered.map(|it| match it.basis {
        Basis::Estimated => format!("{:.2}", it.deff),
        Basis::Alike => format!("{:.2} (at worst, all alike)", it.deff),
    });
    let number = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.2}"));
    let mut cells = vec![
        escaped(&tables.manifest.arms[row.arm].name),
        escaped(&tables.manifest.attacks[row.attack].name),
        rate_cell(rate),
        missing(&rate.tally),
        interval,
        deff.unwrap_or_else(|| NONE.to_owned()),
        clustered.map_or_else(|| NONE.to_owned(), |it| format!("{:.1}", it.n_eff)),
        number(clustered.and_then(|it| it.icc)),
        or_none(clustered.and_then(|it: &Clustered| it.repetitions_agree), text::percent),
        or_none(rate.usable, text::percent),
        rate.tally.unattributed.to_string(),
        rate.bounds.map_or_else(|| NONE.to_owned(), |it| span(it.low, it.high)),
    ];
    if !approvals.is_empty() {
        let kept = tables.rate(row.arm, approvals, row.pool).tally.counts();
        let index = kept.zip(rate.tally.counts()).map(|(kept, laundered)| discrimination_index(kept, laundered));
        cells.push(kept.map_or_else(|| NONE.to_owned(), render_rate));
        cells.push(index.map_or_else(|| NONE.to_owned(), |index| format!("{index:+.2}")));
    }
    cells
}

/// Planned runs without a verdict, and why.
fn missing(tally: &Tally) -> String {
    let reasons = Outcome::ALL.iter().filter(|&&outcome| outcome != Outcome::Scored);
    let reasons = reasons.filter(|&&outcome| tally.outcome(outcome) > 0);
    let reasons: Vec<String> = reasons.map(|&outcome| format!("{} {outcome}", tally.outcome(outcome))).collect();
    match tally.runs - tally.judged {
        0 => "0".to_owned(),
        count => format!("{count} ({})", reasons.join(", ")),
    }
}

/// The rows of summarizers that changed within the run, one for each that they were; empty where none did.
fn served(tables: &Tables<'_>, attacks: &[usize]) -> Section {
    let mut rows = Vec::new();
    for (summarizer, identities) in &tables.served.summarizers {
        for identity in identities.keys() {
            for (arm, info) in tables.manifest.arms.iter().enumerate() {
                let mut tally = Tally::default();
                let trials = tables.trials.iter().filter(|trial| {
                    trial.id.arm == info.name
                        && attacks.iter().any(|&attack| tables.manifest.attacks[attack].name == trial.id.attack)
                        && tables.served.is_by(&trial.id, identity)
                });
                trials.for_each(|trial| tally.add(PlantKind::Attack, trial));
                rows.push(vec![
                    escaped(summarizer),
                    escaped(&identity.shown()),
                    escaped(&tables.manifest.arms[arm].name),
                    tally.counts().map_or_else(|| NONE.to_owned(), render_rate),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return Section::new();
    }
    vec![
        "### Rows split by who answered".to_owned(),
        "What is one summarizer in the tables above was several. All attacks together.".to_owned(),
        table(&owned(&["summarizer", "served as", "arm", "rate"]), &rows),
    ]
}

/// Every pair of arms, each summarizer alone and then all of them.
pub(super) fn contrasts(tables: &Tables<'_>) -> Section {
    if tables.contrasts.is_empty() {
        return Section::new();
    }
    let mut section = vec!["## Contrasts".to_owned()];
    section.extend(reader_note(tables));
    if !sentence::applies(tables) {
        let header = owned(&["arms", "attack", "summarizer", "first", "second", "difference in points", "method"]);
        let rows = tables.contrasts.iter().map(|it| {
            let mut row = sides(tables, it);
            row.extend([or_none(it.diff, text::points), it.test.id().to_owned()]);
            row
        });
        section.push(table(&header, &rows.collect::<Vec<_>>()));
        return section;
    }
    let header = owned(&[
        "arms",
        "attack",
        "summarizer",
        "first",
        "second",
        "points by session",
        "95% interval (paired t)",
        "sessions",
        "sign-flip p",
        "adjusted p",
        "family",
        "CMH z",
        "heterogeneity p",
        "first only / second only",
        "points if missing went either way",
        "(naive z, p)",
        "conclusions",
    ]);
    let rows: Vec<Vec<String>> = tables.contrasts.iter().map(|it| contrast_row(tables, it)).collect();
    section.push(table(&header, &rows));
    section.push(legend(tables));
    section
}

fn sides(tables: &Tables<'_>, contrast: &Contrast) -> Vec<String> {
    let manifest = tables.manifest;
    let counts = |tally: &Tally| tally.counts().map_or_else(|| NONE.to_owned(), text::fraction);
    vec![
        format!("{} – {}", escaped(&manifest.arms[contrast.a].name), escaped(&manifest.arms[contrast.b].name)),
        escaped(&manifest.attacks[contrast.attack].name),
        escaped(tables.pool_name(contrast.pool)),
        counts(&contrast.tally_a),
        counts(&contrast.tally_b),
    ]
}

fn contrast_row(tables: &Tables<'_>, contrast: &Contrast) -> Vec<String> {
    let mut row = sides(tables, contrast);
    let Some(by_session) = &contrast.by_session else {
        // A built-in reader beside language models: its difference is plain and has no spread.
        row.push(or_none(contrast.diff, text::points));
        row.extend(std::iter::repeat_n(NONE.to_owned(), 9));
        row.extend([contrast.test.id().to_owned(), NONE.to_owned()]);
        return row;
    };
    let paired = by_session.paired;
    let p = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), text::p_value);
    let p_of_sessions = |value: Option<f64>| match (value, by_session.differences.len()) {
        (None, 1..FEWEST_SESSIONS) => format!("none (under {FEWEST_SESSIONS} sessions)"),
        (value, _) => p(value),
    };
    row.extend([
        or_none(paired.map(|it| it.mean), text::points),
        paired.and_then(|it| it.interval).map_or_else(|| NONE.to_owned(), |it| points_span(it.low, it.high)),
        by_session.differences.len().to_string(),
        p_of_sessions(paired.and_then(|it| it.p_sign_flip)),
        p(paired.and_then(|it| it.p_adjusted)),
        by_session.family.id().to_owned(),
        by_session.cmh_z.map_or_else(|| NONE.to_owned(), |z| format!("{z:.2}")),
        heterogeneity(by_session),
        format!("{} / {}", by_session.pairs.first_only, by_session.pairs.second_only),
        contrast.bounds.map_or_else(|| NONE.to_owned(), |it| points_span(it.low, it.high)),
        match contrast.test {
            Test::Pooled { z, p } => format!("({z:.2}, {})", text::p_value(p)),
            other => format!("({})", other.id()),
        },
        match by_session.agreement(contrast.test) {
            Agreement::Same => "same".to_owned(),
            Agreement::Differ => "**naive and session-level differ**".to_owned(),
            Agreement::Unknown => NONE.to_owned(),
        },
    ]);
    row
}

fn heterogeneity(by_session: &BySession) -> String {
    by_session.heterogeneity.map_or_else(
        || NONE.to_owned(),
        |test| {
            let warning = if by_session.is_heterogeneous() { " (pooled value hides model differences)" } else { "" };
            format!("{}{warning}", text::p_value(test.p))
        },
    )
}

fn legend(tables: &Tables<'_>) -> String {
    let primary = tables.manifest.primary.len();
    let families = if primary == 0 {
        "The experiment names no primary contrast, so all of them are exploratory, and their p-values are adjusted \
         together by Benjamini and Hochberg."
            .to_owned()
    } else {
        format!(
            "{} named in the experiment before the first call {} primary and adjusted by {}; all other rows are \
             exploratory and adjusted by {}.",
            text::several(primary, "contrast"),
            if primary == 1 { "is" } else { "are" },
            Family::Primary.adjustment(),
            Family::Exploratory.adjustment()
        )
    };
    format!(
        "Sessions are the sample: differences are taken within each session and tested over sessions. The naive z in \
         parentheses assumes independent runs and is for comparison with published tables. {families} CMH z and \
         heterogeneity are over summarizers. First only / second only: runs of the same session, summarizer and \
         repetition that laundered under one arm alone. Below {FEWEST_SESSIONS} sessions no p-value is given."
    )
}

/// What the arms' summaries keep of clean sessions; empty where nothing was measured.
pub(super) fn quality(tables: &Tables<'_>) -> Section {
    if tables.recall.iter().all(|row| row.recall.is_none()) {
        return Section::new();
    }
    let header = owned(&[
        "arm",
        "clean runs",
        "identifier recall",
        "summary chars",
        "recall per 1,000 chars",
        "points against the first arm",
        "95% interval (paired t)",
        "sessions' sign-flip p",
    ]);
    let arms = tables.manifest.arms.iter().enumerate();
    let rows = arms.map(|(arm, info)| {
        let fidelity = tables.fidelity(arm, Pool::All);
        let paired = if arm == 0 { None } else { tables.recall_difference(arm, Pool::All) };
        vec![
            escaped(&info.name),
            fidelity.trials.to_string(),
            or_none(fidelity.recall, text::recall),
            or_none(fidelity.chars, text::thousands),
            or_none(fidelity.per_thousand, |value| format!("{value:.4}")),
            or_none(paired.map(|it| it.mean), text::points),
            paired.and_then(|it| it.interval).map_or_else(|| NONE.to_owned(), |it| points_span(it.low, it.high)),
            paired.and_then(|it| it.p_sign_flip).map_or_else(|| NONE.to_owned(), text::p_value),
        ]
    });
    let mut section = vec!["## What summaries keep".to_owned()];
    section.extend(reader_note(tables));
    section.push(table(&header, &rows.collect::<Vec<_>>()));
    section.push(
        "Over clean sessions, all summarizers of the column all. A longer summary names more by being longer: read the \
         recall beside that per 1,000 characters."
            .to_owned(),
    );
    section
}
