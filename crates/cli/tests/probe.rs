//! `probe` and `template check`: what is told, and how it ends.

mod common;

use std::fs;

use common::{laundromat, repo};

/// Standard output, standard error and exit code.
fn told(arguments: &[&str]) -> (String, String, i32) {
    let output = laundromat().args(arguments).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr), output.status.code().expect("a code"))
}

#[test]
fn every_preset_breaks_only_what_it_declares() {
    let temp = tempfile::tempdir().expect("a folder");
    let csv = temp.path().join("probes.csv");
    let (table, summary, code) = told(&["probe", "--csv", csv.to_str().expect("a path")]);
    assert_eq!(code, 0, "{summary}");
    assert!(summary.contains(", 0 of them not declared"), "{summary}");
    let csv = fs::read_to_string(csv).expect("written");
    assert!(csv.starts_with("arm,session,probe,invariant,verdict,declared,detail\n"));
    assert_eq!(csv.lines().count(), table.lines().count());
    assert!(csv.contains("adk-2.13-token,probe,current-request,current-request,breaks,declared,lost from 1 calls"));
}

#[test]
fn an_undeclared_fault_fails() {
    let temp = tempfile::tempdir().expect("a folder");
    let arm = temp.path().join("own.toml");
    let text = fs::read_to_string(repo("scenarios/arms/adk-2.13-token.toml")).expect("an arm");
    fs::write(&arm, text.replace("\"current-request\", ", "")).expect("written");
    let arm = arm.to_str().expect("a path");
    let (table, summary, code) = told(&["probe", "--arm", arm, "--probe", "current-request"]);
    assert_eq!((code, table.lines().count()), (100, 2), "{table}");
    assert!(table.contains("undeclared") && summary.contains("1 of them not declared"));
    // The same answer is no failure where no such thing is asked.
    assert_eq!(told(&["probe", "--arm", arm, "--probe", "role-gain"]).2, 0);
    let (_, error, code) = told(&["probe", "--probe", "rolegain"]);
    assert_eq!(code, 2);
    assert!(error.contains("unknown probe \"rolegain\"; did you mean \"role-gain\"?"), "{error}");
}

#[test]
fn an_experiment_names_arms_and_sessions() {
    let experiment = repo("scenarios/quickstart.toml");
    let (table, summary, code) = told(&["probe", experiment.to_str().expect("a path"), "--probe", "conservation"]);
    assert_eq!(code, 0, "{summary}");
    assert!(table.lines().any(|line| line.contains("hermes-main") && line.contains(" 0 lost")), "{table}");
}

#[test]
fn a_template_can_undo_roles() {
    let temp = tempfile::tempdir().expect("a folder");
    let turn = "{{ '<|im_start|>' ~ ROLE ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}";
    let write = |name: &str, role: &str| {
        let path = temp.path().join(name);
        fs::write(&path, format!("{{% for m in messages %}}{}{{% endfor %}}", turn.replace("ROLE", role)))
            .expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let keeps = write("keeps.jinja", "m.role");
    let undoes = write("undoes.jinja", "('user' if m.role == 'tool' else m.role)");
    let plain = temp.path().join("plain.jinja");
    fs::write(&plain, "{% for m in messages %}{{ m.content }}{% endfor %}").expect("written");
    let session = repo("sessions/ferry-booking-incident.json");
    let session = session.to_str().expect("a path");
    let check = |template: &str, arm: &str| {
        let from = ["--session", session, "--attack", "standing-approval"];
        told(&[&["template", "check", "--template", template, "--arm", arm], &from[..]].concat())
    };
    let (shown, _, code) = check(&keeps, "hermes-typed");
    assert!(
        code == 0 && shown.contains("(tool on the wire)") && shown.contains("in a turn of tool, by the template"),
        "{shown}"
    );
    let (shown, _, code) = check(&undoes, "hermes-typed");
    assert!(code == 100 && shown.contains("in a turn of user, by the template"), "{shown}");
    // In a flattened arm it is in a user's message on the wire already.
    let (shown, _, code) = check(&keeps, "hermes-main");
    assert!(code == 0 && shown.contains("(user on the wire)"), "{shown}");
    let (shown, _, code) = check(plain.to_str().expect("a path"), "hermes-typed");
    assert!(code == 3 && shown.contains("none that are known"), "{shown}");
    let (_, error, code) = check(session, "hermes-typed");
    assert!(code == 2 && error.contains("holds no chat template"), "{error}");
}

#[test]
fn the_scenarios_for_probes_are_sound() {
    for scenario in ["scenarios/retention.toml", "scenarios/redaction.toml"] {
        let (table, summary, code) = told(&["probe", repo(scenario).to_str().expect("a path")]);
        assert_eq!(code, 0, "{scenario}: {summary}\n{table}");
    }
}
