//! The gate's decisions in words, one line an arm: what was seen, the bound that decides, and what would decide.

use laundromat_metrics::Interval;
use laundromat_metrics::gate::{Assessment, Comparison, Decision, Evidence, MOST_RUNS, Reader, Wanted};
use laundromat_store::SummarizerKind;

use super::{Gate, GatedArm};
use crate::text::{fraction, several, thousands};

/// The most decimals of a number that has to be told from a limit.
const MOST_DECIMALS: usize = 6;

pub(super) fn header(gate: &Gate<'_>) -> Vec<String> {
    let manifest = gate.manifest;
    let attacks: Vec<&str> = gate.attacks.iter().map(|&place| manifest.attacks[place].name.as_str()).collect();
    let readers: Vec<&str> = gate.summarizers.iter().map(|&place| manifest.summarizers[place].name.as_str()).collect();
    let mut lines = vec![format!(
        "laundered runs among exposed ones, pooled over {} ({}), {} ({}) and {}",
        several(attacks.len(), "attack"),
        attacks.join(", "),
        several(readers.len(), "summarizer"),
        readers.join(", "),
        several(manifest.sessions.len(), "session")
    )];
    match gate.reader {
        Reader::Sampled => lines.push(
            "bounds count what runs of one session are worth together, by the design effect; missing runs count against the arm"
                .to_owned(),
        ),
        Reader::Deterministic => lines
            .push("a built-in reader is no LLM: it shows what the form lets a trusting reader believe".to_owned()),
    }
    let left_out: Vec<&str> = manifest
        .summarizers
        .iter()
        .enumerate()
        .filter(|(place, info)| info.kind == SummarizerKind::Builtin && !gate.summarizers.contains(place))
        .map(|(_, info)| info.name.as_str())
        .collect();
    if !left_out.is_empty() && gate.reader == Reader::Sampled {
        lines.push(format!("left out, being no LLM: {}", left_out.join(", ")));
    }
    lines
}

pub(super) fn details(arm: &GatedArm<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |text: String| lines.push(format!("{}: {text}", arm.info.name));
    if arm.by_summarizer.len() > 1 {
        let rates = arm.by_summarizer.iter().map(|(name, counts)| match counts {
            Some(counts) => format!("{name} {}", fraction(*counts)),
            None => format!("{name} nothing exposed"),
        });
        say(format!("by summarizer: {}", rates.collect::<Vec<_>>().join(", ")));
    }
    let deff = arm.evidence.design_effect();
    // Below this it would be shown as none.
    if deff >= 1.005 {
        let worth = arm.evidence.exposed() as f64 / deff;
        say(format!("design effect {deff:.2}: {} are worth {worth:.1} independent ones", runs(arm.evidence.exposed())));
    }
    let mut reasons: Vec<String> = arm.reasons.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    if arm.unknown > 0 {
        reasons.push(format!("{} judged with unknown exposure", arm.unknown));
    }
    if arm.unusable > 0 {
        reasons.push(format!("{} whose text is no summary", arm.unusable));
    }
    let explained = arm.reasons.iter().map(|(_, count)| count).sum::<u64>() + arm.unknown + arm.unusable;
    if arm.evidence.missing() > explained {
        reasons.push(format!("{} without a reading", arm.evidence.missing() - explained));
    }
    if arm.evidence.missing() > 0 {
        say(format!("missing: {}", reasons.join(", ")));
    }
    if arm.not_reached > 0 {
        say(format!("not reached: {} judged without the whole plant in the request, left out", runs(arm.not_reached)));
    }
    lines
}

/// The decision on an arm against a limit.
pub(super) fn limit(arm: &GatedArm<'_>, assessed: Assessment, max_rate: f64, reader: Reader) -> String {
    let evidence = arm.evidence;
    let start = format!("{} {}: ", word(assessed.decision), arm.info.name);
    let most = limit_text(max_rate);
    let (Some(counts), Some(bounds)) = (evidence.observed(), assessed.bounds) else {
        let wanted = wanted(assessed.wanted, evidence, max_rate);
        return format!("{start}{}; {wanted}", nothing(evidence));
    };
    let seen = format!("{} laundered", fraction(counts));
    let [low, high] = [bounds.low, bounds.high].map(|bound| format!("{:.*}%", apart(bound, max_rate), 100.0 * bound));
    let names = names(reader, evidence);
    match assessed.decision {
        Decision::Pass => {
            let basis = basis(reader, evidence, "counted as laundered");
            format!("{start}{seen}, {} {high} <= {most} ({basis})", names.upper)
        }
        Decision::Fail => {
            let basis = basis(reader, evidence, "counted as clean");
            format!("{start}{seen}, {} {low} > {most} ({basis})", names.lower)
        }
        Decision::Inconclusive => {
            let basis = basis(reader, evidence, "counted against it");
            let wanted = wanted(assessed.wanted, evidence, max_rate);
            format!("{start}{seen}, {most} lies between {} {low} and {high} ({basis}); {wanted}", names.both)
        }
    }
}

/// The decision on an arm against what it was.
pub(super) fn baseline(
    arm: &GatedArm<'_>,
    before: Evidence,
    compared: Comparison,
    margin: f64,
    reader: Reader,
) -> String {
    let evidence = arm.evidence;
    let start = format!("{} {} against its baseline: ", word(compared.decision), arm.info.name);
    let (Some(difference), Some(Interval { low, high })) = (compared.difference, compared.bounds) else {
        let which = if evidence.exposed() == 0 { nothing(evidence) } else { "the baseline has no exposed run".into() };
        return format!("{start}{which}; nothing can be compared");
    };
    let seen = format!(
        "{}/{} laundered, {}/{} then, difference {:+.1} points",
        evidence.laundered(),
        evidence.exposed(),
        before.laundered(),
        before.exposed(),
        100.0 * difference
    );
    let [low, high] = [low, high].map(|bound| format!("{:+.*}", apart(bound, margin), 100.0 * bound));
    let most = limit_text(margin);
    let most = most.trim_end_matches('%');
    let names = names(reader, evidence);
    let basis = basis(reader, evidence, "counted against it");
    let then = if before.missing() > 0 { format!(", {} missing then", before.missing()) } else { String::new() };
    match (compared.decision, reader) {
        (Decision::Pass, Reader::Sampled) => {
            format!("{start}{seen}, {} {high} < {most} points ({basis}{then})", names.upper)
        }
        (Decision::Pass, Reader::Deterministic) => format!("{start}{seen} <= {most} points ({basis}{then})"),
        (Decision::Fail, Reader::Sampled) => {
            format!("{start}{seen}, {} {low} > {most} points ({basis}{then})", names.lower)
        }
        (Decision::Fail, Reader::Deterministic) => format!("{start}{seen} > {most} points ({basis}{then})"),
        (Decision::Inconclusive, _) => format!(
            "{start}{seen}, the margin of {most} points lies between {} {low} and {high} ({basis}{then})",
            names.both
        ),
    }
}

/// The decision as the first word of a line.
fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "PASS",
        Decision::Fail => "FAIL",
        Decision::Inconclusive => "INCONCLUSIVE",
    }
}

fn nothing(evidence: Evidence) -> String {
    format!("no run was judged with its whole plant in the request ({} missing)", evidence.missing())
}

/// What a bound is called.
struct Names {
    upper: &'static str,
    lower: &'static str,
    both: &'static str,
}

fn names(reader: Reader, evidence: Evidence) -> Names {
    match reader {
        Reader::Sampled => Names { upper: "upper bound", lower: "lower bound", both: "the bounds" },
        Reader::Deterministic if evidence.missing() == 0 => Names { upper: "rate", lower: "rate", both: "the rates" },
        Reader::Deterministic => {
            Names { upper: "rate at most", lower: "rate at least", both: "the lowest and the highest possible rate," }
        }
    }
}

/// What the bounds rest on.
fn basis(reader: Reader, evidence: Evidence, counted: &str) -> String {
    let kind = match reader {
        Reader::Sampled => "one-sided 95%",
        Reader::Deterministic => "deterministic reader: no interval",
    };
    match evidence.missing() {
        0 => format!("{kind}, 0 missing"),
        missing => format!("{kind}, {missing} missing {counted}"),
    }
}

fn wanted(wanted: Wanted, evidence: Evidence, max_rate: f64) -> String {
    match wanted {
        // A decision needs nothing and asks for no words.
        Wanted::Nothing => String::new(),
        Wanted::Runs(runs) if runs <= evidence.exposed() => {
            format!("these {} exposed runs would decide if none were missing", number(runs))
        }
        Wanted::Runs(runs) if evidence.missing() > 0 => {
            format!("{} exposed runs at this rate would decide, with none missing", number(runs))
        }
        Wanted::Runs(runs) => format!("{} exposed runs at this rate would decide", number(runs)),
        Wanted::CleanRuns(1) => "1 exposed run would decide".to_owned(),
        Wanted::CleanRuns(runs) => format!("{} exposed runs would decide if none is laundered", number(runs)),
        Wanted::MissingRuns => "the missing runs would decide".to_owned(),
        Wanted::AtLimit if max_rate <= 0.0 => "no number of runs shows a rate of 0, allow more than that".to_owned(),
        Wanted::AtLimit => "the rate is the limit itself, which no number of runs can tell apart".to_owned(),
        Wanted::TooMany => format!("it would take more than {} exposed runs to decide", number(MOST_RUNS)),
    }
}

fn number(runs: u64) -> String {
    thousands(runs as f64)
}

fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{} runs", number(count)) }
}

/// A limit as it was given: `10%`, `12.5%`.
pub(super) fn limit_text(limit: f64) -> String {
    let digits = format!("{:.MOST_DECIMALS$}", 100.0 * limit);
    format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The decimals at which a share in percent reads differently from the limit beside it.
fn apart(value: f64, limit: f64) -> usize {
    let differs = |decimals: &usize| {
        let [a, b] = [value, limit].map(|share| format!("{:.*}", *decimals, 100.0 * share));
        a != b
    };
    if value == limit { 1 } else { (1..MOST_DECIMALS).find(differs).unwrap_or(MOST_DECIMALS) }
}

#[cfg(test)]
mod tests {
    use super::{apart, limit_text};

    #[test]
    fn a_bound_never_reads_like_the_limit_it_misses() {
        assert_eq!([apart(0.041, 0.1), apart(0.1, 0.1), apart(0.09998, 0.1), apart(0.1004, 0.1)], [1, 1, 3, 2]);
        assert_eq!([0.1, 0.125, 0.001, 0.0, 0.07].map(limit_text), ["10%", "12.5%", "0.1%", "0%", "7%"]);
    }
}
