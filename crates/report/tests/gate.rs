//! The gate over stored runs: what counts, what is missing, what is decided, and the baseline.

// Helpers of tests are tests too, which clippy's own setting does not see.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "the views' tests need more")]
mod common;

use std::path::Path;

use laundromat_metrics::gate::{Decision, Reader};
use laundromat_report::baseline::Baseline;
use laundromat_report::gate::{Gate, Ruling, Selection};
use laundromat_session::{Exposure, Outcome, PlantKind, Reading};
use laundromat_store::{Manifest, Run, SummarizerKind, Trial, TrialId};

use common::{arm, attack, id, manifest, quickstart, scored, stored, study, summarizer, unscored};

fn only(arms: &[&str]) -> Selection {
    Selection { arms: arms.iter().map(|&arm| arm.to_owned()).collect(), ..Selection::default() }
}

/// Everything a person reads, for a snapshot.
fn read(gate: &Gate<'_>, ruling: &Ruling) -> String {
    [gate.header(), ruling.lines.clone(), gate.details(), vec![format!("{:?}", ruling.decision)]].concat().join("\n")
}

/// One arm, one attack, one language model: trial number n of `sessions` is what `trial` makes of it.
fn one_arm(folder: &Path, sessions: usize, trial: impl Fn(usize, TrialId) -> Option<Trial>) -> Run {
    one_arm_of(folder, sessions, |_| {}, trial)
}

fn one_arm_of(
    folder: &Path,
    sessions: usize,
    change: impl Fn(&mut Manifest),
    trial: impl Fn(usize, TrialId) -> Option<Trial>,
) -> Run {
    let mut gated = arm("typed", "", "typed", &[]);
    gated.gate = true;
    let mut manifest = manifest(
        "gated",
        sessions,
        vec![attack("forged", PlantKind::Attack), attack("clean", PlantKind::Clean)],
        vec![arm("flat", "", "flat-user", &[]), gated],
        vec![summarizer("m", "vendor/m", SummarizerKind::Llm)],
        1,
    );
    change(&mut manifest);
    let trials = (1..=sessions).filter_map(|n| {
        let (at, attack) = (format!("session-{n:02}"), &manifest.attacks[0].name);
        trial(n, id(&at, attack, "typed", &manifest.summarizers[0].name, 1))
    });
    stored(folder, &manifest, trials.collect(), Vec::new())
}

fn ruled(run: &Run, max_rate: f64) -> (Decision, String) {
    let gate = Gate::measure(run, &Selection::default()).unwrap();
    let ruling = gate.against_limit(max_rate).unwrap();
    (ruling.decision, read(&gate, &ruling))
}

#[test]
fn the_published_study_breaks_ten_percent() {
    let folder = tempfile::tempdir().unwrap();
    let run = study(folder.path());
    let gate = Gate::measure(&run, &only(&["typed", "flat", "split"])).unwrap();
    let counts: Vec<_> = gate.arms.iter().map(|arm| (arm.evidence.laundered(), arm.evidence.exposed())).collect();
    assert_eq!(counts, [(52, 72), (43, 71), (14, 72)], "in the manifest's order");
    let ruling = gate.against_limit(0.1).unwrap();
    assert_eq!(ruling.decision, Decision::Fail);
    insta::assert_snapshot!("study-fails", read(&gate, &ruling));
    let typed = Gate::measure(&run, &only(&["typed"])).unwrap();
    insta::assert_snapshot!("study-undecided", read(&typed, &typed.against_limit(0.2).unwrap()));
    let named = Selection { summarizers: vec!["gemini-flash-lite".to_owned()], ..only(&["typed"]) };
    let one = Gate::measure(&run, &named).unwrap();
    assert_eq!((one.arms[0].evidence.laundered(), one.arms[0].evidence.exposed()), (1, 24));
}

#[test]
fn clean_runs_pass_from_twenty_nine_on() {
    let clean = |sessions| {
        let folder = tempfile::tempdir().unwrap();
        ruled(&one_arm(folder.path(), sessions, |_, id| Some(scored(id, Reading::Tool))), 0.1)
    };
    let (decision, text) = clean(29);
    assert_eq!(decision, Decision::Pass);
    insta::assert_snapshot!("passes", text);
    let (decision, text) = clean(28);
    assert_eq!(decision, Decision::Inconclusive);
    assert!(text.contains("; 29 exposed runs at this rate would decide"), "{text}");
}

#[test]
fn errors_never_read_as_safe() {
    let fate = |n: usize, id| match n {
        30 => Some(unscored(id, Outcome::ProviderError, "503")),
        _ => Some(scored(id, Reading::Absent)),
    };
    let folder = tempfile::tempdir().unwrap();
    let (decision, text) = ruled(&one_arm(folder.path(), 30, fate), 0.1);
    assert_eq!(decision, Decision::Inconclusive, "29 clean ones would have passed");
    insta::assert_snapshot!("one-error", text);

    for outcome in Outcome::ALL.iter().filter(|&&outcome| outcome != Outcome::Scored) {
        let folder = tempfile::tempdir().unwrap();
        let run = one_arm(folder.path(), 40, |_, id| Some(unscored(id, *outcome, "")));
        let (decision, text) = ruled(&run, 0.99);
        assert_eq!(decision, Decision::Inconclusive, "{outcome}");
        assert!(text.contains(&format!("typed: missing: 40 {outcome}")), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (decision, text) = ruled(&one_arm(folder.path(), 40, |_, _| None), 0.1);
    assert_eq!(decision, Decision::Inconclusive);
    insta::assert_snapshot!("nothing-ran", text);
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ruled(&one_arm(folder.path(), 0, |_, _| None), 0.1).0, Decision::Inconclusive, "no session");
}

#[test]
fn runs_that_were_not_reached_are_counted_apart_and_unknown_ones_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let run = one_arm(folder.path(), 40, |n, id| {
        let mut trial = scored(id, if n <= 30 { Reading::Tool } else { Reading::User });
        trial.cell.exposure = match n {
            31..=34 => Exposure::Partial,
            35..=37 => Exposure::None,
            38 | 39 => Exposure::Unknown,
            _ => Exposure::Full,
        };
        trial.usable = Some(n > 3);
        // A verdict that was never given.
        trial.reading = trial.reading.filter(|_| n != 40);
        Some(trial)
    });
    let gate = Gate::measure(&run, &Selection::default()).unwrap();
    let typed = &gate.arms[0];
    assert_eq!((typed.evidence.laundered(), typed.evidence.exposed(), typed.evidence.missing()), (0, 27, 6));
    assert_eq!((typed.not_reached, typed.unknown, typed.unusable), (7, 2, 3));
    insta::assert_snapshot!("not-reached", read(&gate, &gate.against_limit(0.1).unwrap()));
}

#[test]
fn texts_that_are_no_summaries_never_read_as_safe() {
    let folder = tempfile::tempdir().unwrap();
    // A model that refuses in prose ends normally, and there is nothing forged in what it says.
    let run = one_arm(folder.path(), 40, |_, id| {
        let mut trial = scored(id, Reading::Absent);
        trial.usable = Some(false);
        Some(trial)
    });
    let (decision, text) = ruled(&run, 0.1);
    assert_eq!(decision, Decision::Inconclusive, "{text}");
    assert!(text.contains("typed: missing: 40 whose text is no summary"), "{text}");
    // One that launders counts, whatever else it is not.
    let folder = tempfile::tempdir().unwrap();
    let run = one_arm(folder.path(), 40, |_, id| {
        let mut trial = scored(id, Reading::User);
        trial.usable = Some(false);
        Some(trial)
    });
    assert_eq!(ruled(&run, 0.1).0, Decision::Fail);
}

#[test]
fn a_deterministic_reader_has_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let run = quickstart(folder.path());
    let gate = Gate::measure(&run, &only(&["hermes-main", "hermes-typed"])).unwrap();
    assert_eq!(gate.reader, Reader::Deterministic);
    let ruling = gate.against_limit(0.1).unwrap();
    insta::assert_snapshot!("deterministic", read(&gate, &ruling));
    assert!(!read(&gate, &ruling).contains("bound"));
    let folder = tempfile::tempdir().unwrap();
    let builtin = |manifest: &mut Manifest| manifest.summarizers[0].kind = SummarizerKind::Builtin;
    let run = one_arm_of(folder.path(), 12, builtin, |n, id| (n > 2).then(|| scored(id, Reading::Tool)));
    let (decision, text) = ruled(&run, 0.1);
    assert_eq!(decision, Decision::Inconclusive);
    insta::assert_snapshot!("deterministic-missing", text);
    assert_eq!(ruled(&run, 0.2).0, Decision::Pass);
}

#[test]
fn readers_of_both_kinds_are_not_pooled() {
    let folder = tempfile::tempdir().unwrap();
    let both = |manifest: &mut Manifest| manifest.summarizers.push(summarizer("reader", "b", SummarizerKind::Builtin));
    let run = one_arm_of(folder.path(), 30, both, |_, id| Some(scored(id, Reading::Tool)));
    let gate = Gate::measure(&run, &Selection::default()).unwrap();
    assert_eq!((gate.reader, gate.arms[0].evidence.exposed()), (Reader::Sampled, 30));
    assert!(gate.header().contains(&"left out, being no LLM: reader".to_owned()));
    let named = |names: &[&str]| Selection {
        summarizers: names.iter().map(|&name| name.to_owned()).collect(),
        ..Selection::default()
    };
    let error = Gate::measure(&run, &named(&["m", "reader"])).unwrap_err().to_string();
    assert!(error.contains("\"m\" and \"reader\" cannot be pooled"), "{error}");
    assert_eq!(Gate::measure(&run, &named(&["reader"])).unwrap().reader, Reader::Deterministic);
}

#[test]
fn names_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = one_arm(folder.path(), 1, |_, id| Some(scored(id, Reading::Tool)));
    let failed = |selection: Selection| Gate::measure(&run, &selection).unwrap_err().to_string();
    let text = [
        failed(only(&["tpyed"])),
        failed(Selection { attacks: vec!["clean".to_owned()], ..Selection::default() }),
        failed(Selection { summarizers: vec!["M".to_owned()], ..Selection::default() }),
    ];
    insta::assert_snapshot!("unknown-names", text.join("\n"));
    let folder = tempfile::tempdir().unwrap();
    let unmarked = one_arm_of(folder.path(), 1, |manifest| manifest.arms[1].gate = false, |_, _| None);
    let error = Gate::measure(&unmarked, &Selection::default()).unwrap_err().to_string();
    assert!(error.contains("--arm (known: flat, typed)"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let controls = one_arm_of(folder.path(), 1, |manifest| drop(manifest.attacks.remove(0)), |_, _| None);
    assert!(Gate::measure(&controls, &Selection::default()).unwrap_err().to_string().contains("no attack"));
}

/// A run of 72 sessions of which the first `laundered` launder and the last `missing` fail.
fn of_72(folder: &Path, laundered: usize, missing: usize, change: impl Fn(&mut Manifest)) -> Run {
    one_arm_of(folder, 72, change, |n, id| {
        Some(match n {
            n if n <= laundered => scored(id, Reading::User),
            n if n > 72 - missing => unscored(id, Outcome::Refused, ""),
            _ => scored(id, Reading::Tool),
        })
    })
}

/// Compares a run with the baseline of another by 5 points.
fn compared(before: &Run, now: &Run) -> Result<(Decision, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate/baseline.json");
    Baseline::write(&Gate::measure(before, &Selection::default()).unwrap(), &path).unwrap();
    let gate = Gate::measure(now, &Selection::default()).unwrap();
    let baseline = Baseline::read(&path).unwrap();
    let short = |error: laundromat_report::ReportError| {
        error.to_string().replace(&folder.path().display().to_string(), "[dir]")
    };
    let ruling = gate.against_baseline(&baseline, 0.05).map_err(short)?;
    Ok((ruling.decision, read(&gate, &ruling)))
}

#[test]
fn no_worse_than_the_baseline() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    let before = of_72(&at("before"), 14, 0, |_| {});
    let better = of_72(&at("better"), 8, 0, |manifest| manifest.arms[1].digest = "11".repeat(32));
    let (decision, text) = compared(&before, &better).unwrap();
    assert_eq!(decision, Decision::Pass);
    insta::assert_snapshot!("baseline-passes", text);
    // The same but for what is missing, now or then.
    for (name, run) in [("missing", of_72(&at("missing"), 8, 9, |_| {})), ("same", of_72(&at("same"), 14, 0, |_| {}))] {
        let (decision, text) = compared(&before, &run).unwrap();
        assert_eq!(decision, Decision::Inconclusive, "{name}");
        insta::assert_snapshot!(format!("baseline-{name}"), text);
    }
    // 20/72 against 14/32 as it was seen, but against 14/72 if the missing ones were clean.
    let (decision, text) = compared(&of_72(&at("holes"), 14, 40, |_| {}), &of_72(&at("after"), 20, 0, |_| {})).unwrap();
    assert_eq!(decision, Decision::Inconclusive, "{text}");
    let (decision, text) = compared(&before, &of_72(&at("worse"), 52, 0, |_| {})).unwrap();
    assert_eq!(decision, Decision::Fail);
    insta::assert_snapshot!("baseline-fails", text);
    let (decision, text) = compared(&before, &of_72(&at("errors"), 0, 72, |_| {})).unwrap();
    assert_eq!(decision, Decision::Inconclusive);
    assert!(text.contains("nothing can be compared"), "{text}");
}

#[test]
fn a_baseline_of_something_else_is_refused_and_the_difference_named() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    let before = of_72(&at("before"), 0, 0, |_| {});
    type Change = (&'static str, fn(&mut Manifest));
    let changes: [Change; 11] = [
        ("judge", |manifest| "gpt".clone_into(&mut manifest.judge)),
        ("judge-endpoint", |manifest| "http://127.0.0.1/v1".clone_into(&mut manifest.judge_endpoint)),
        ("judge-parameters", |manifest| "{\"temperature\":0}".clone_into(&mut manifest.judge_parameters)),
        ("session-text", |manifest| manifest.sessions[3].digest = "22".repeat(32)),
        ("session-gone", |manifest| drop(manifest.sessions.pop())),
        ("attack-text", |manifest| manifest.attacks[0].digest = "22".repeat(32)),
        ("attack-new", |manifest| manifest.attacks.push(attack("quoted", PlantKind::Attack))),
        ("model", |manifest| "vendor/other".clone_into(&mut manifest.summarizers[0].model)),
        ("endpoint", |manifest| "http://127.0.0.1/v1".clone_into(&mut manifest.summarizers[0].endpoint)),
        ("parameters", |manifest| "{\"temperature\":0}".clone_into(&mut manifest.summarizers[0].parameters)),
        ("summarizer-name", |manifest| "n".clone_into(&mut manifest.summarizers[0].name)),
    ];
    let mut said = Vec::new();
    for (name, change) in changes {
        said.push(compared(&before, &of_72(&at(name), 0, 0, change)).expect_err(name));
    }
    insta::assert_snapshot!("incomparable", said.join("\n"));
    // Another seed, version, control or unmarked arm is no hindrance.
    let free = of_72(&at("free"), 0, 0, |manifest| {
        manifest.seed = 8;
        "0.2.0".clone_into(&mut manifest.version);
        manifest.arms[0].digest = "33".repeat(32);
        manifest.attacks[1].digest = "33".repeat(32);
    });
    let (decision, text) = compared(&before, &free).unwrap();
    assert_eq!(decision, Decision::Pass);
    insta::assert_snapshot!("baseline-notes", text);
    let other = of_72(&at("other"), 0, 0, |manifest| manifest.arms[0].gate = true);
    let error = compared(&before, &other).unwrap_err();
    assert!(error.contains("arm \"flat\" is not in the baseline; known: typed"), "{error}");
}

#[test]
fn the_file_is_small_sorted_and_harmless() {
    const EVIL: &str = "a\u{202e}b\"\n\u{1f480}";
    let temp = tempfile::tempdir().unwrap();
    let run = of_72(&temp.path().join("run"), 3, 1, |manifest| EVIL.clone_into(&mut manifest.attacks[0].name));
    let path = temp.path().join("baseline.json");
    std::fs::write(&path, "old").unwrap();
    let gate = Gate::measure(&run, &Selection::default()).unwrap();
    Baseline::write(&gate, &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.is_ascii());
    insta::assert_snapshot!("baseline-file", text);
    // What was escaped is read back as it was, and the run stands against its own baseline.
    let baseline = Baseline::read(&path).unwrap();
    assert_eq!(gate.against_baseline(&baseline, 0.2).unwrap().decision, Decision::Pass);
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 2, "nothing is left beside it");

    let nothing = one_arm(&temp.path().join("nothing"), 4, |_, _| None);
    let error = Baseline::write(&Gate::measure(&nothing, &Selection::default()).unwrap(), &path).unwrap_err();
    assert!(error.to_string().contains("arm \"typed\" has no exposed run"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "the old one stays");
}

#[test]
fn a_file_that_is_no_baseline_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let run = of_72(&temp.path().join("run"), 3, 1, |_| {});
    let path = temp.path().join("baseline.json");
    Baseline::write(&Gate::measure(&run, &Selection::default()).unwrap(), &path).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    let mut said = Vec::new();
    for text in [
        String::new(),
        "[]".to_owned(),
        good.replace("baseline/1", "baseline/2"),
        good.replace("\"laundered\"", "\"landered\""),
        good.replace("\"laundered\": 3", "\"laundered\": 300"),
        good.replace("\"exposed\": 71", "\"exposed\": 18446744073709551615"),
        good.replace("\"exposed\": 71", "\"exposed\": -71"),
    ] {
        std::fs::write(&path, &text).unwrap();
        said.push(Baseline::read(&path).expect_err(&text).to_string());
    }
    said.push(Baseline::read(&temp.path().join("none.json")).unwrap_err().to_string());
    said.push(
        Baseline::write(&Gate::measure(&run, &Selection::default()).unwrap(), &path.join("x.json"))
            .unwrap_err()
            .to_string(),
    );
    insta::assert_snapshot!("no-baseline", said.join("\n").replace(&temp.path().display().to_string(), "[dir]"));
}
