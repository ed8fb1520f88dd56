//! The CSV views. Columns keep their place for good: a new one goes to the end.
//!
//! Text is escaped for spreadsheets; numbers are written as numbers. What is missing is an empty cell,
//! never a zero. Another table is one function here and one line in `lib.rs`.

use std::fmt::Display;
use std::fmt::Write as _;

use laundromat_session::Exposure;
use laundromat_store::{Run, TrialId};

use crate::data::{Tables, Test};
use crate::error::ReportError;
use crate::escape;
use crate::tally::{Spread, counted_as};

/// Cells of one row, as text.
type Row = Vec<String>;

fn text(value: &str) -> String {
    escape::csv(value)
}

fn optional(value: Option<&str>) -> String {
    value.map(text).unwrap_or_default()
}

fn number<T: Display>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A share or statistic to six decimals, without trailing zeros.
fn real(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    let shown = format!("{value:.6}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    // A difference that rounds to nothing has no sign.
    if shown == "-0" { "0".to_owned() } else { shown.to_owned() }
}

/// A p-value to six significant digits; six decimals would show a small one as zero.
fn p_value(p: f64) -> String {
    if p >= 1e-4 { real(Some(p)) } else { format!("{p:.5e}") }
}

fn encode(file: &'static str, header: &[&str], rows: impl IntoIterator<Item = Row>) -> Result<Vec<u8>, ReportError> {
    let failed = |what: String| ReportError::Table { file, what };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(|error| failed(error.to_string()))?;
    for row in rows {
        writer.write_record(&row).map_err(|error| failed(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| failed(error.to_string()))
}

/// `trials.csv`: every stored trial.
pub(crate) fn trials(tables: &Tables<'_>) -> Result<Vec<u8>, ReportError> {
    let header = [
        "trial",
        "session",
        "attack",
        "arm",
        "summarizer",
        "rep",
        "outcome",
        "verdict",
        "exposed",
        "usable",
        "input_chars",
        "summary_chars",
        "tokens_in",
        "tokens_out",
        "cost",
        "exposure",
        "reading",
        "gate",
        "plant",
        "detail",
    ];
    let rows = tables.trials.iter().map(|trial| {
        let TrialId { session, attack, arm, summarizer, rep } = &trial.id;
        vec![
            text(&format!("{session}/{attack}/{arm}/{summarizer}/{rep}")),
            text(session),
            text(attack),
            text(arm),
            text(summarizer),
            rep.to_string(),
            trial.outcome.to_string(),
            tables.verdict(trial).to_owned(),
            (trial.cell.exposure == Exposure::Full).to_string(),
            number(trial.usable),
            trial.cell.input_chars.to_string(),
            number(trial.summary_chars),
            number(trial.tokens_in),
            number(trial.tokens_out),
            number(trial.cost),
            trial.cell.exposure.to_string(),
            number(trial.reading),
            number(trial.gate),
            number(tables.plant(trial)),
            text(&trial.detail),
        ]
    });
    encode("trials.csv", &header, rows)
}

/// `rates.csv`: one row for each arm, attack and summarizer, and one for all together.
pub(crate) fn rates(tables: &Tables<'_>) -> Result<Vec<u8>, ReportError> {
    let header = [
        "arm",
        "attack",
        "summarizer",
        "runs",
        "exposed",
        "usable",
        "laundered",
        "rate",
        "ci_low",
        "ci_high",
        "interval",
        "excluded",
        "judged",
        "unattributed",
        "rate_usable",
        "rate_low",
        "rate_high",
        "counted",
        "sessions",
        "deff",
        "n_eff",
        "icc",
        "cluster_low",
        "cluster_high",
        "repetitions_agree",
    ];
    let rows = tables.rates.iter().map(|row| {
        let attack = &tables.manifest.attacks[row.attack];
        let (rate, tally) = (&row.rate, &row.rate.tally);
        let clustered = row.clustered.as_ref();
        let interval = match rate.spread {
            Spread::Wilson(interval) => Some(interval),
            Spread::Deterministic | Spread::NoModel | Spread::Nothing => None,
        };
        vec![
            text(&tables.manifest.arms[row.arm].name),
            text(&attack.name),
            text(tables.pool_name(row.pool)),
            tally.runs.to_string(),
            tally.exposed.to_string(),
            tally.usable.to_string(),
            tally.events.to_string(),
            real(rate.rate),
            real(interval.map(|interval| interval.low)),
            real(interval.map(|interval| interval.high)),
            rate.spread.id().to_owned(),
            (tally.runs - tally.exposed).to_string(),
            tally.judged.to_string(),
            tally.unattributed.to_string(),
            real(rate.usable),
            real(rate.bounds.map(|bounds| bounds.low)),
            real(rate.bounds.map(|bounds| bounds.high)),
            counted_as(attack.kind).to_owned(),
            number(clustered.map(|it| it.sessions)),
            real(clustered.map(|it| it.deff)),
            real(clustered.map(|it| it.n_eff)),
            real(clustered.and_then(|it| it.icc)),
            real(clustered.map(|it| it.interval.low)),
            real(clustered.map(|it| it.interval.high)),
            real(clustered.and_then(|it| it.repetitions_agree)),
        ]
    });
    encode("rates.csv", &header, rows)
}

/// `contrasts.csv`: every pair of arms, for each attack and summarizer.
pub(crate) fn contrasts(tables: &Tables<'_>) -> Result<Vec<u8>, ReportError> {
    let header = [
        "arm_a",
        "arm_b",
        "summarizer",
        "x_a",
        "n_a",
        "x_b",
        "n_b",
        "diff",
        "z",
        "p",
        "method",
        "attack",
        "sessions",
        "session_diff",
        "t_low",
        "t_high",
        "p_t",
        "p_sign_flip",
        "p_adjusted",
        "family",
        "cmh_z",
        "q",
        "p_heterogeneity",
        "first_only",
        "second_only",
        "p_mcnemar",
        "diff_low",
        "diff_high",
        "conclusions",
    ];
    let rows = tables.contrasts.iter().map(|contrast| {
        let (z, p) = match contrast.test {
            Test::Pooled { z, p } => (real(Some(z)), p_value(p)),
            Test::Deterministic | Test::NoModel | Test::NoVariance | Test::Nothing => (String::new(), String::new()),
        };
        let by_session = contrast.by_session.as_ref();
        let paired = by_session.and_then(|it| it.paired);
        let p_or_empty = |value: Option<f64>| value.map(p_value).unwrap_or_default();
        vec![
            text(&tables.manifest.arms[contrast.a].name),
            text(&tables.manifest.arms[contrast.b].name),
            text(tables.pool_name(contrast.pool)),
            contrast.tally_a.events.to_string(),
            contrast.tally_a.exposed.to_string(),
            contrast.tally_b.events.to_string(),
            contrast.tally_b.exposed.to_string(),
            real(contrast.diff),
            z,
            p,
            contrast.test.id().to_owned(),
            text(&tables.manifest.attacks[contrast.attack].name),
            number(by_session.map(|it| it.differences.len())),
            real(paired.map(|it| it.mean)),
            real(paired.and_then(|it| it.interval).map(|it| it.low)),
            real(paired.and_then(|it| it.interval).map(|it| it.high)),
            p_or_empty(paired.and_then(|it| it.p_t)),
            p_or_empty(paired.and_then(|it| it.p_sign_flip)),
            p_or_empty(paired.and_then(|it| it.p_adjusted)),
            by_session.map(|it| it.family.id().to_owned()).unwrap_or_default(),
            real(by_session.and_then(|it| it.cmh_z)),
            real(by_session.and_then(|it| it.heterogeneity).map(|it| it.q)),
            p_or_empty(by_session.and_then(|it| it.heterogeneity).map(|it| it.p)),
            number(by_session.map(|it| it.pairs.first_only)),
            number(by_session.map(|it| it.pairs.second_only)),
            p_or_empty(by_session.and_then(|it| it.mcnemar).map(|it| it.p_exact)),
            real(contrast.bounds.map(|it| it.low)),
            real(contrast.bounds.map(|it| it.high)),
            by_session.map(|it| it.agreement(contrast.test).id().to_owned()).unwrap_or_default(),
        ]
    });
    encode("contrasts.csv", &header, rows)
}

/// `recall.csv`: what each summary of a clean session still names.
pub(crate) fn recall(tables: &Tables<'_>) -> Result<Vec<u8>, ReportError> {
    let header = ["arm", "summarizer", "session", "attack", "rep", "identifiers", "found", "recall", "summary_chars"];
    let rows = tables.recall.iter().map(|row| {
        let trial = row.trial;
        vec![
            text(&trial.id.arm),
            text(&trial.id.summarizer),
            text(&trial.id.session),
            text(&trial.id.attack),
            trial.id.rep.to_string(),
            number(trial.identifiers),
            number(trial.found),
            real(row.recall),
            number(trial.summary_chars),
        ]
    });
    encode("recall.csv", &header, rows)
}

/// `calls.csv`: every call. The only view with latencies and attempts, which differ from run to run.
pub(crate) fn calls(run: &Run) -> Result<Vec<u8>, ReportError> {
    let header = [
        "purpose",
        "session",
        "attack",
        "arm",
        "summarizer",
        "rep",
        "latency_ms",
        "attempts",
        "tokens_in",
        "cached_tokens",
        "cache_write_tokens",
        "tokens_out",
        "reasoning_tokens",
        "finish_reason",
        "served_model",
        "served_provider",
        "fingerprint",
        "request_id",
        "key",
    ];
    let mut rows = Vec::new();
    run.each_call(|call| {
        rows.push(vec![
            text(&call.purpose),
            text(&call.trial.session),
            text(&call.trial.attack),
            text(&call.trial.arm),
            text(&call.trial.summarizer),
            call.trial.rep.to_string(),
            format!("{}.{:03}", call.latency_us / 1000, call.latency_us % 1000),
            call.attempts.to_string(),
            number(call.tokens_in),
            number(call.cached_tokens),
            number(call.cache_write_tokens),
            number(call.tokens_out),
            number(call.reasoning_tokens),
            optional(call.finish_reason.as_deref()),
            text(&call.served_model),
            optional(call.served_provider.as_deref()),
            optional(call.fingerprint.as_deref()),
            optional(call.request_id.as_deref()),
            hex(&call.key),
        ]);
    })?;
    encode("calls.csv", &header, rows)
}

/// `captured.csv`: every request of exec arms and of arms of several steps, in their order; `None` where there are none.
pub(crate) fn captured(run: &Run) -> Result<Option<Vec<u8>>, ReportError> {
    let header = [
        "session",
        "attack",
        "arm",
        "summarizer",
        "rep",
        "number",
        "shape",
        "model",
        "chars",
        "exposure",
        "role",
        "place",
        "outcome",
        "left_out",
        "key",
        "max_tokens",
    ];
    let captured = run.captured()?;
    if captured.is_empty() {
        return Ok(None);
    }
    let rows = captured.iter().map(|(trial, it)| {
        vec![
            text(&trial.session),
            text(&trial.attack),
            text(&trial.arm),
            text(&trial.summarizer),
            trial.rep.to_string(),
            it.number.to_string(),
            text(&it.shape),
            text(&it.model),
            it.chars.to_string(),
            it.exposure.to_string(),
            text(&it.role),
            text(&it.place),
            it.outcome.to_string(),
            text(&it.left_out),
            it.key.map(|key| hex(&key)).unwrap_or_default(),
            number(it.max_tokens),
        ]
    });
    encode("captured.csv", &header, rows).map(Some)
}

/// `contexts.csv`: what was judged where that is no single reply; `None` where there is nothing such.
pub(crate) fn contexts(run: &Run) -> Result<Option<Vec<u8>>, ReportError> {
    let header = ["session", "attack", "arm", "summarizer", "rep", "current_request", "summary_chars", "notes"];
    let returned = run.returned()?;
    if returned.is_empty() {
        return Ok(None);
    }
    let rows = returned.iter().map(|it| {
        vec![
            text(&it.trial.session),
            text(&it.trial.attack),
            text(&it.trial.arm),
            text(&it.trial.summarizer),
            it.trial.rep.to_string(),
            number(it.request),
            number(it.summary_chars),
            text(&it.notes),
        ]
    });
    encode("contexts.csv", &header, rows).map(Some)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::{hex, number, p_value, real};

    #[test]
    fn numbers_stay_numbers_and_nothing_stays_empty() {
        assert_eq!([Some(-0.527_777_8), Some(1.0), Some(-1e-9), None].map(real), ["-0.527778", "1", "0", ""]);
        assert_eq!([0.139_9, 2.077e-10].map(p_value), ["0.1399", "2.07700e-10"]);
        assert_eq!(number::<u64>(None), "");
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
