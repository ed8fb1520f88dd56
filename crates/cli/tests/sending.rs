//! Sending under failures, rates and a bad set-up, on the real binary against the strict mock.

mod common;

use std::collections::HashMap;

use common::paid::{KEY, mock, rows, run, said, script, small, stored, study};
use common::{laundromat, repo};
use laundromat_mock::{Fault, FaultKind, Form, Retry, When};

/// The limits that the failures below are run under: no attempt waits long, and eight in a row are as good as never.
const HARD: &str = "concurrency = 32\nattempts = 8\nbackoff-ms = 1\nattempt-seconds = 30";

#[test]
fn no_trial_is_lost_or_doubled_however_much_fails() {
    let fault = |kind, p| Fault::new(kind, When::Probability(p));
    let faults = [
        fault(FaultKind::RateLimit, 0.3).retry(Retry::Millis(50)),
        fault(FaultKind::Overloaded, 0.05),
        fault(FaultKind::Drop, 0.02),
        fault(FaultKind::Malformed, 0.01),
    ];
    let mock =
        mock(faults.into_iter().fold(script().launder(Form::FlatUser, 0.5), |script, fault| script.fault(fault)));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    // 12 sessions x 2 attacks x 3 arms x 3 summarizers x 10 repetitions = 2,160 trials.
    let experiment = study(&mock.base_url(), temp.path(), |text| {
        text.replace("repetitions = 2", "repetitions = 10")
            .replace("concurrency = 8\nattempts = 5\nattempt-seconds = 600", HARD)
    });
    let output = run(&experiment, &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));

    let trials = rows(&out.join("trials.csv"));
    assert_eq!(trials.len(), 2160);
    assert!(trials.iter().all(|trial| trial["outcome"] == "scored"), "a trial is exhausted");
    let committed = stored(&out);
    let calls = mock.calls();
    let injected = calls.iter().filter(|call| call.fault.is_some()).count();
    assert!(injected > committed.len() / 4, "{injected}");
    assert!(said(&output).contains(&format!("calls made, with {injected} further attempts")), "{}", said(&output));
    assert_eq!(calls.len(), committed.len() + injected, "calls made = calls needed + failures injected");
    let mut answered: HashMap<&str, u32> = HashMap::new();
    for call in calls.iter().filter(|call| call.fault.is_none()) {
        *answered.entry(call.key.as_str()).or_default() += 1;
    }
    assert_eq!(answered.len(), committed.len());
    assert!(answered.values().all(|times| *times == 1), "a reply is paid for twice");
    assert!(committed.iter().all(|call| answered.contains_key(call.as_str())), "a reply is lost");
}

#[test]
fn a_429_without_a_delay_counts_as_an_attempt_and_one_with_a_delay_does_not() {
    let limited = |retry| Fault::new(FaultKind::RateLimit, When::Attempts((1..=6).collect())).retry(retry);
    for (retry, code) in [(Retry::Millis(1), 0), (Retry::Unsaid, 5)] {
        let mock = mock(script().fault(limited(retry)));
        let temp = tempfile::tempdir().expect("a folder");
        let out = temp.path().join("out");
        let output = run(&small(&mock.base_url(), temp.path(), ""), &out, &[]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
}

#[test]
fn a_delay_beyond_the_deadline_is_not_waited_for() {
    let mock =
        mock(script().fault(Fault::new(FaultKind::RateLimit, When::Probability(1.0)).retry(Retry::Seconds(100))));
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = small(&mock.base_url(), temp.path(), "total-seconds = 10\n");
    let output = run(&experiment, &temp.path().join("out"), &[]);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert_eq!(mock.calls().len(), 4, "each of the 4 trials is tried once");
}

#[test]
fn rates_are_kept_to_without_losing_a_trial() {
    let mock = mock(script().launder(Form::FlatUser, 1.0));
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let rates = "requests-per-minute = 600\ntokens-per-minute = 10000000\n";
    let output = run(&small(&mock.base_url(), temp.path(), rates), &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(mock.calls().len(), 8);
    let output = run(&small(&mock.base_url(), temp.path(), "requests-per-minute = 0\n"), &out, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("limits.requests-per-minute: 0 is outside 1 to"), "{}", said(&output));
}

#[test]
fn a_bad_file_of_authorities_is_named_before_anything_is_sent() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let output = laundromat()
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .env("LAUNDROMAT_CA_FILE", repo("Cargo.toml"))
        .arg("run")
        .arg(small(&mock.base_url(), temp.path(), ""))
        .arg("--out")
        .arg(&out)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("Cargo.toml: holds no certificate; LAUNDROMAT_CA_FILE"), "{}", said(&output));
    assert!(!out.exists() && mock.calls().is_empty());
}

/// What a provider can put into its caches follows itself: the repetitions of a cell stand together.
#[test]
fn repetitions_of_a_cell_follow_each_other() {
    let mock = mock(script());
    let temp = tempfile::tempdir().expect("a folder");
    let experiment = study(&mock.base_url(), temp.path(), |text| text.replace("concurrency = 8", "concurrency = 1"));
    let output = run(&experiment, &temp.path().join("out"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let bodies: Vec<String> = mock
        .calls()
        .into_iter()
        .filter(|call| call.purpose == laundromat_mock::Purpose::Summarize)
        .map(|call| call.body_digest)
        .collect();
    assert_eq!(bodies.len(), 432);
    assert!(bodies.chunks(2).all(|pair| pair[0] == pair[1]));
}
