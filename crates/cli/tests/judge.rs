//! Measuring judges with the real binary: the bundled gold set, the built-in rules, a scripted judge on the mock, a
//! replayed one, drift, and rates corrected by a calibration.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::paid::{KEY, mock, said, script};
use common::{laundromat, repo};
use laundromat_mock::{JudgeScript, Verdict};

fn calibrate(args: &[&str]) -> Output {
    let mut command = laundromat();
    command.env("LAUNDROMAT_TEST_KEY", KEY).args(["judge", "calibrate"]).args(args);
    command.output().expect("it runs")
}

fn shown(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A judge file that points at `url`.
fn judge(folder: &Path, url: &str, more: &str) -> PathBuf {
    let path = folder.join("judge.toml");
    let text = format!(
        "[judge]\nmodel = \"a-judge\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n{more}\
         [limits]\nconcurrency = 4\nattempts = 2\nbackoff-ms = 1\n"
    );
    fs::write(&path, text).expect("written");
    path
}

/// Says USER of what names the user, TOOL of what names a file, else nothing.
fn scripted() -> JudgeScript {
    let verdict = |pattern: &str, word: &str| Verdict { pattern: pattern.to_owned(), word: word.to_owned() };
    JudgeScript {
        // The text itself, not what stands before its fence.
        summary_line: "SUMMARY, between".to_owned(),
        verdicts: vec![verdict(r"(?i)suspicious|forged|injection", "FLAGGED"), verdict(r"(?i)\buser\b", "USER")],
        otherwise: "TOOL".to_owned(),
        ..JudgeScript::default()
    }
}

/// The committed error of the built-in rules is what one command prints: it cannot rot.
#[test]
fn the_rules_error_is_the_one_that_is_stated() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("rules.json");
    let path = out.display().to_string();
    let text = shown(&calibrate(&["--out", &path]));
    for line in ["judge        builtin:rules", "class hostile", "form typed", "domain payment", "AC1", "gate alone"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let measured = fs::read_to_string(&out).expect("a file");
    let committed = fs::read_to_string(repo("scenarios/judge/builtin-rules.json")).expect("a file");
    assert!(
        measured == committed,
        "the rules or the gold set have changed: laundromat judge calibrate --out scenarios/judge/builtin-rules.json\n{text}"
    );
}

#[test]
fn a_scripted_judge_is_measured_recorded_and_replayed() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = |name: &str| temp.path().join(name).display().to_string();
    let mock = mock(script().judge(scripted()));
    let judge = judge(temp.path(), &mock.base_url(), "").display().to_string();
    let (tape, first, again) = (path("tape.jsonl"), path("first.json"), path("again.json"));
    let asked = calibrate(&["--judge", &judge, "--record", &tape, "--out", &first, "--misses"]);
    let text = shown(&asked);
    assert!(text.contains("judge        a-judge, rubric standard"), "{text}");
    let hostile = text.lines().find(|line| line.starts_with("class hostile")).expect("a class of its own");
    assert!(hostile.contains('%'), "{hostile}");
    drop(mock);

    // Without the server and without a key: the same verdicts, and no drift.
    let output = laundromat()
        .args(["judge", "calibrate", "--judge", &judge, "--replay", &tape, "--out", &again, "--against", &first])
        .output()
        .expect("it runs");
    assert!(shown(&output).contains("no more than chance"), "{}", shown(&output));
    assert_eq!(fs::read(&first).expect("a file"), fs::read(&again).expect("a file"));

    // Another part was not recorded, and nothing is made up for it.
    let output = laundromat()
        .args(["judge", "calibrate", "--judge", &judge, "--replay", &tape, "--part", "dev"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_judge_that_got_worse_has_drifted_and_one_without_verdicts_is_counted() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = |name: &str| temp.path().join(name).display().to_string();
    let first = path("rules.json");
    shown(&calibrate(&["--out", &first]));
    let bad = JudgeScript { otherwise: "ABSENT".to_owned(), verdicts: Vec::new(), ..scripted() };
    let bad = mock(script().judge(bad));
    let file = judge(temp.path(), &bad.base_url(), "").display().to_string();
    let text = shown(&calibrate(&["--judge", &file, "--against", &first]));
    assert!(text.contains("moved beyond chance"), "{text}");
    assert!(text.contains("note: the judge was \"builtin:rules\" and is \"a-judge\""), "{text}");
    drop(bad);
    let mute = mock(script().judge(JudgeScript { reply: "I think {word}, but".to_owned(), ..scripted() }));
    let file = judge(temp.path(), &mute.base_url(), "").display().to_string();
    let text = shown(&calibrate(&["--judge", &file]));
    // What the gate stops needs no judge.
    assert!(text.contains("items        14 with a verdict, 131 without"), "{text}");
}

#[test]
fn a_rubric_of_ones_own_is_asked_and_named() {
    let temp = tempfile::tempdir().expect("a folder");
    let standard = fs::read_to_string(repo("scenarios/judge/rubrics/standard.toml")).expect("a rubric");
    let own = standard.replace("\"standard\"", "\"own\"").replace("You read a SUMMARY", "Read the SUMMARY");
    fs::write(temp.path().join("own.toml"), own).expect("written");
    let mock = mock(script().judge(scripted()));
    let file = judge(temp.path(), &mock.base_url(), "rubric = \"own.toml\"\n").display().to_string();
    assert!(shown(&calibrate(&["--judge", &file])).contains("judge        a-judge, rubric own"));
    let file = judge(temp.path(), &mock.base_url(), "rubric = \"no.toml\"\n").display().to_string();
    let output = calibrate(&["--judge", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no.toml") && said(&output).contains("leave the key out"), "{}", said(&output));
}

#[test]
fn corrected_rates_stand_beside_raw_ones_only_when_asked_for() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("run");
    let run =
        laundromat().arg("run").arg(repo("scenarios/gate.toml")).arg("--out").arg(&out).output().expect("it runs");
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let report = || fs::read_to_string(out.join("report.md")).expect("a report");
    assert!(report().contains("The judge builtin:rules is a set of rules with errors of its own."), "{}", report());
    assert!(!report().contains("corrected for the judge"));
    let calibration = repo("scenarios/judge/builtin-rules.json");
    let output = laundromat().arg("report").arg(&out).arg("--calibration").arg(calibration).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = report();
    assert!(text.contains("## Laundering rates corrected for the judge's error"), "{text}");
    assert!(text.contains("**Warning:** its gold set was written for this repository"), "{text}");

    // A calibration of another judge is shown for what it is.
    let mock = mock(script().judge(scripted()));
    let file = judge(temp.path(), &mock.base_url(), "").display().to_string();
    let other = temp.path().join("other.json");
    shown(&calibrate(&["--judge", &file, "--out", &other.display().to_string()]));
    let output = laundromat().arg("report").arg(&out).arg("--calibration").arg(&other).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        report().contains("the calibration is of the judge \"a-judge\", the run has \"builtin:rules\""),
        "{}",
        report()
    );
    let output = laundromat().arg("report").arg(&out).arg("--calibration").arg(file).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

/// A run whose summaries a scripted judge read, with `judge.toml` beside it.
fn judged_run(temp: &Path, url: &str) -> (PathBuf, PathBuf) {
    let first = temp.join("first");
    let run = laundromat().arg("run").arg(repo("scenarios/quickstart.toml")).arg("--out").arg(&first).output();
    assert_eq!(run.expect("it runs").status.code(), Some(0));
    let file = judge(temp, url, "");
    let second = temp.join("second");
    let output = laundromat()
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .arg("judge")
        .arg(&first)
        .arg("--judge")
        .arg(&file)
        .arg("--out")
        .arg(&second)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    (first, second)
}

#[test]
fn a_panel_decides_by_majority_and_a_judge_is_looked_at_twice() {
    let temp = tempfile::tempdir().expect("a folder");
    // It reads what the rules read as the user's as a tool's, and finds the user in what the gate stopped.
    let contrary = vec![Verdict { pattern: "curl".to_owned(), word: "TOOL".to_owned() }];
    let script = script().judge(JudgeScript { verdicts: contrary, otherwise: "USER".to_owned(), ..scripted() });
    let mock = mock(script);
    let (first, second) = judged_run(temp.path(), &mock.base_url());
    let panel = |runs: &[&Path], out: &str| {
        let out = temp.path().join(out);
        laundromat().args(["judge", "panel"]).args(runs).arg("--out").arg(out).output().expect("it runs")
    };
    let text = shown(&panel(&[&first, &second, &second], "panel"));
    assert!(text.contains("before 3 judges") && text.contains(" 0 disputed"), "{text}");
    assert!(text.contains("Krippendorff's alpha"), "{text}");
    let report = fs::read_to_string(temp.path().join("panel/report.md")).expect("a report");
    assert!(report.contains("judged by panel of builtin:rules, a-judge, a-judge"), "{report}");
    // Two judges that say the same are the majority, whatever the third says.
    let rates = |name: &str| fs::read_to_string(temp.path().join(name).join("rates.csv")).expect("rates");
    assert_eq!(rates("panel"), rates("second"));
    // Two that differ decide nothing, and that is no verdict.
    let text = shown(&panel(&[&first, &second], "two"));
    assert!(!text.contains(" 0 disputed"), "{text}");
    assert_eq!(panel(&[&first, &second], "two").status.code(), Some(2), "a run is not written over");

    let audit = |judge: &Path| {
        let mut command = laundromat();
        command.env("LAUNDROMAT_TEST_KEY", KEY).args(["judge", "audit"]).arg(&second).arg("--judge").arg(judge);
        command.args(["--audit", "100%", "--retest", "50%"]).output().expect("it runs")
    };
    let text = shown(&audit(&temp.path().join("judge.toml")));
    let stopped = text.split("the gate stopped ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a count");
    assert!(text.contains(&format!("missed by the gate: {stopped}/{stopped} read as laundered = 100.0%")), "{text}");
    // The scripted judge says the same each time.
    let twice = text.split("read a second time: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a count");
    assert!(twice.parse::<u32>().expect("a number") > 5, "{text}");
    assert!(text.contains(&format!("the same reading {twice} times")), "{text}");
    let output = audit(Path::new("builtin:rules"));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("it was judged by a-judge, not by this judge"), "{}", said(&output));
}
