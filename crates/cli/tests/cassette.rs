//! Recording and replaying on the real binary: no mock runs and no key is set where a cassette answers.

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::laundromat;
use common::paid::{KEY, mock, run, said, script, small, study};
use laundromat_mock::{AppliesTo, Fault, FaultKind, Form, When};

fn replay(experiment: &Path, out: &Path, cassette: &Path) -> Output {
    laundromat()
        .env_remove("OPENROUTER_API_KEY")
        .env_remove("LAUNDROMAT_TEST_KEY")
        .arg("run")
        .arg(experiment)
        .arg("--out")
        .arg(out)
        .arg("--replay")
        .arg(cassette)
        .output()
        .expect("it runs")
}

fn assert_same_report(one: &Path, other: &Path) {
    for entry in fs::read_dir(one).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        // The store holds pages, not a report, and the lock nothing.
        if path.is_file() && !name.to_string_lossy().starts_with("run.") {
            let (one, other) = (fs::read(&path).expect("bytes"), fs::read(other.join(name)).expect("bytes"));
            assert!(one == other, "{} differs", name.display());
        }
    }
}

#[test]
fn a_replay_gives_the_recorded_report_without_network_and_keys() {
    // Replies of every kind, and calls that the provider refuses for good.
    let refused = Fault::new(FaultKind::ContextOverflow, When::Probability(0.1)).applies_to(AppliesTo::Summarize);
    let cut = Fault::new(FaultKind::Truncated, When::Probability(0.1)).applies_to(AppliesTo::Summarize);
    let mock = mock(script().launder(Form::FlatUser, 0.7).fault(refused).fault(cut));
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path();
    let experiment = study(&mock.base_url(), folder, |text| text.replace("repetitions = 2", "repetitions = 1"));
    let recorded = folder.join("recorded");
    let tape = folder.join("study.jsonl.zst");
    let output = run(&experiment, &recorded, &["--date", "2026-03-04", "--record", &tape.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let trials = fs::read_to_string(recorded.join("trials.csv")).expect("a table");
    assert!(trials.contains(",context-overflow,") && trials.contains(",truncated,"));

    // A finished run is recorded by starting it once more: nobody is asked.
    let calls = mock.calls().len();
    let plain = folder.join("study.jsonl");
    assert_eq!(run(&experiment, &recorded, &["--record", &plain.display().to_string()]).status.code(), Some(0));
    assert_eq!(mock.calls().len(), calls);
    drop(mock);
    let text = fs::read_to_string(&plain).expect("a cassette");
    assert!(!text.contains(KEY) && !text.contains("Bearer"));
    assert!(fs::metadata(&tape).expect("a file").len() * 2 < text.len() as u64);

    for cassette in [&tape, &plain] {
        let out = folder.join(format!("replayed-{}", cassette.extension().expect("one").display()));
        let output = replay(&experiment, &out, cassette);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_same_report(&recorded, &out);
    }
}

#[test]
fn a_call_that_is_not_recorded_is_an_error_that_names_it() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = small(&mock.base_url(), temp.path(), "");
    let tape = temp.path().join("small.jsonl");
    let recorded = run(&experiment, &temp.path().join("recorded"), &["--record", &tape.display().to_string()]);
    assert_eq!(recorded.status.code(), Some(0), "{}", said(&recorded));
    let text = fs::read_to_string(&experiment).expect("text").replace("repetitions = 4", "repetitions = 5");
    fs::write(&experiment, text).expect("written");
    let calls = mock.calls().len();
    let output = replay(&experiment, &temp.path().join("out"), &tape);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    assert!(said.contains("the summarize call of fix-region-rollup-test/standing-approval/hermes-main/m/5"), "{said}");
    assert!(said.contains("is not in this cassette, which was recorded of \"small\" by laundromat 0"), "{said}");
    assert_eq!(mock.calls().len(), calls, "nobody is asked instead");
}

#[test]
fn a_judge_is_recorded_and_replayed_too() {
    let mock = mock(script().launder(Form::FlatUser, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    assert_eq!(run(&small(&mock.base_url(), temp.path(), ""), &out, &[]).status.code(), Some(0));
    let judge = temp.path().join("judge.toml");
    let url = mock.base_url();
    fs::write(&judge, format!("[judge]\nmodel = \"another\"\nbase-url = {url:?}\nkey-env = \"LAUNDROMAT_TEST_KEY\"\n"))
        .expect("written");
    let tape = temp.path().join("judge.jsonl");
    let again = |folder: &str, flag: &str, key: &str| {
        let mut command = laundromat();
        command.env("LAUNDROMAT_TEST_KEY", key).arg("judge").arg(&out).arg("--judge").arg(&judge);
        command.arg("--out").arg(temp.path().join(folder)).arg(flag).arg(&tape);
        command.output().expect("it runs")
    };
    let output = again("recorded", "--record", KEY);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    drop(mock);
    let text = fs::read_to_string(&tape).expect("a cassette");
    assert_eq!(text.lines().count(), 1 + 4, "the judge's calls alone");
    let output = again("replayed", "--replay", "");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_same_report(&temp.path().join("recorded"), &temp.path().join("replayed"));
}

#[test]
fn flags_that_contradict_each_other_and_files_that_are_none_are_refused() {
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = small("http://127.0.0.1:9/v1", temp.path(), "");
    let out = temp.path().join("out");
    for flags in [
        ["--replay", "a", "--record", "b"],
        ["--replay", "a", "--max-cost", "1"],
        ["--replay", "a", "--date", "2026-01-01"],
    ] {
        let output = run(&experiment, &out, &flags);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("cannot be used with"), "{}", said(&output));
    }
    let experiment_path = experiment.display().to_string();
    for flag in ["--replay", "--record"] {
        let output = run(&experiment, &out, &[flag, &experiment_path]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("cassette"), "{}", said(&output));
    }
    assert!(!out.exists());
}

#[test]
fn a_damaged_cassette_and_one_of_something_else_are_named_with_what_to_do() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = small(&mock.base_url(), temp.path(), "");
    let tape = temp.path().join("small.jsonl.zst");
    let recorded = run(&experiment, &temp.path().join("recorded"), &["--record", &tape.display().to_string()]);
    assert_eq!(recorded.status.code(), Some(0), "{}", said(&recorded));
    let plain = temp.path().join("small.jsonl");
    assert_eq!(
        run(&experiment, &temp.path().join("recorded"), &["--record", &plain.display().to_string()]).status.code(),
        Some(0)
    );
    drop(mock);
    let (packed, text) = (fs::read(&tape).expect("bytes"), fs::read(&plain).expect("bytes"));
    let first_line = text.iter().position(|byte| *byte == b'\n').expect("a line") + 1;

    // Which of the trials is missed first is nobody's business.
    for (name, bytes, parts) in [
        ("cut.jsonl.zst", &packed[..packed.len() / 2], ["cut short or damaged", "record it again"]),
        ("cut.jsonl", &text[..text.len() - 20], ["cut.jsonl:5: not a line of a cassette", "record it again"]),
        ("header-alone.jsonl", &text[..first_line], ["is not in this cassette", "--record in place of --replay"]),
        ("empty.jsonl.zst", b"".as_slice(), ["it is empty", "record it again"]),
        ("binary.jsonl.zst", b"\x00\xff\xfe\n\x80".as_slice(), ["cut short or damaged", "copy it again"]),
        ("other.json", b"{\"a\": 1}\n".as_slice(), [".json:1: not a line of a cassette", "a file that --record wrote"]),
    ] {
        let path = temp.path().join(name);
        fs::write(&path, bytes).expect("written");
        let output = replay(&experiment, &temp.path().join(format!("out-{name}")), &path);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(name) && parts.iter().all(|part| said.contains(part)), "{name}: {said}");
    }

    // Packed or not is read from the bytes, since files are unpacked and renamed.
    for (name, bytes) in [("unpacked.jsonl.zst", &text), ("packed.jsonl", &packed)] {
        let path = temp.path().join(name);
        fs::write(&path, bytes).expect("written");
        let output = replay(&experiment, &temp.path().join(format!("out-{name}")), &path);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", said(&output));
    }

    // Another request under the same trial is told from a trial that was never run.
    let changed = fs::read_to_string(&experiment).expect("text").replace("max_tokens = 1000", "max_tokens = 999");
    fs::write(&experiment, changed).expect("written");
    let output = replay(&experiment, &temp.path().join("changed"), &tape);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("what is sent now differs from what was sent"), "{}", said(&output));
}
