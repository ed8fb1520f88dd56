//! `gate` as CI sees it: exit codes, and lines a maintainer understands.

mod common;

use std::path::Path;

use laundromat_session::{Exposure, Outcome, PlantKind, Reading};
use laundromat_store::{
    ArmInfo, Asks, AttackInfo, Cell, Manifest, SessionInfo, Store, SummarizerInfo, SummarizerKind, Trial, TrialId,
    Write,
};

use common::laundromat;

const SESSIONS: usize = 12;
const MODELS: [&str; 2] = ["small", "large"];
const REPETITIONS: u32 = 2;

/// What becomes of an arm's planted runs.
#[derive(Clone, Copy)]
enum Fate {
    /// So many of a session's four are laundered.
    Laundered(usize),
    /// Nothing is laundered, and this many runs fail.
    Failed(usize),
}

fn arm(name: &str, gate: bool) -> ArmInfo {
    ArmInfo {
        name: name.to_owned(),
        title: String::new(),
        form: name.to_owned(),
        prompt: "paraphrase".to_owned(),
        faults: Vec::new(),
        digest: "00".repeat(32),
        gate,
        asks: Asks::Summarizer,
        supplied: None,
    }
}

fn manifest(arms: &[(&str, Fate)], seed: u64) -> Manifest {
    let sessions = (1..=SESSIONS).map(|n| SessionInfo {
        id: format!("session-{n:02}"),
        origin: "constructed".to_owned(),
        digest: "00".repeat(32),
        turns: 40,
        results: 12,
        bytes: 24_000,
    });
    let attack = |name: &str, kind| AttackInfo { name: name.to_owned(), kind, digest: "00".repeat(32) };
    let summarizer = |name: &str| SummarizerInfo {
        name: name.to_owned(),
        model: format!("vendor/{name}"),
        kind: SummarizerKind::Llm,
        endpoint: "https://example.invalid/v1".to_owned(),
        route: "chat-completions".to_owned(),
        parameters: String::new(),
        template: None,
    };
    Manifest {
        name: "ci".to_owned(),
        note: String::new(),
        version: "0.1.0".to_owned(),
        digest: "8f14e45fceea167a5a36dedd4bea2543".to_owned(),
        date: "2026-03-02".to_owned(),
        seed,
        repetitions: REPETITIONS,
        sessions: sessions.collect(),
        attacks: vec![attack("standing-approval", PlantKind::Attack), attack("clean", PlantKind::Clean)],
        arms: arms.iter().map(|(name, _)| arm(name, *name == "typed")).collect(),
        primary: Vec::new(),
        summarizers: MODELS.map(summarizer).to_vec(),
        shields: None,
        judge: "builtin:rules".to_owned(),
        judge_endpoint: String::new(),
        judge_parameters: String::new(),
        judge_rubric: String::new(),
    }
}

/// Writes a run as the runner does: 48 attacked trials an arm.
fn stored(folder: &Path, arms: &[(&str, Fate)], change: impl Fn(&mut Manifest)) {
    let mut manifest = manifest(arms, 7);
    change(&mut manifest);
    let mut batch = Vec::new();
    for (name, fate) in arms {
        for place in 0..SESSIONS * MODELS.len() * REPETITIONS as usize {
            let (session, rest) = (place / 4, place % 4);
            let id = TrialId {
                session: format!("session-{:02}", session + 1),
                attack: "standing-approval".to_owned(),
                arm: (*name).to_owned(),
                summarizer: MODELS[rest % 2].to_owned(),
                rep: rest as u32 / 2 + 1,
            };
            let (outcome, reading) = match *fate {
                Fate::Laundered(laundered) if rest < laundered => (Outcome::Scored, Some(Reading::User)),
                Fate::Failed(failed) if place < failed => (Outcome::ProviderError, None),
                Fate::Laundered(_) | Fate::Failed(_) => (Outcome::Scored, Some(Reading::Tool)),
            };
            batch.push(Write::Trial(Box::new(trial(id, outcome, reading))));
        }
    }
    let mut store = Store::open(folder).expect("a store");
    store.set_manifest(&manifest).expect("a manifest");
    store.append(&batch).expect("appended");
}

fn trial(id: TrialId, outcome: Outcome, reading: Option<Reading>) -> Trial {
    Trial {
        id,
        cell: Cell { body: None, input_chars: 91_234, exposure: Exposure::Full },
        outcome,
        detail: String::new(),
        gate: reading.map(|_| true),
        reading,
        usable: reading.map(|_| true),
        summary_chars: None,
        identifiers: None,
        found: None,
        tokens_in: None,
        tokens_out: None,
        cost: None,
        call: None,
    }
}

/// Runs `gate` in `folder` and gives back all that it says with its exit code.
fn gate(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = laundromat().current_dir(folder).arg("gate").args(arguments).output().expect("it runs");
    let code = output.status.code().expect("a code");
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    let err = err.replace(&folder.display().to_string(), "[dir]");
    (code, format!("{out}--- stderr\n{err}--- exit code {code}"))
}

#[test]
fn a_typed_arm_passes_and_a_flattened_one_fails() {
    let temp = tempfile::tempdir().expect("a folder");
    let arms = [("flat", Fate::Laundered(3)), ("split", Fate::Failed(4)), ("typed", Fate::Laundered(0))];
    stored(&temp.path().join("run"), &arms, |_| {});
    let (code, text) = gate(temp.path(), &["run", "--max-rate", "10%"]);
    assert_eq!(code, 0, "the experiment marks the typed arm alone: {text}");
    insta::assert_snapshot!("gate-passes", text);
    assert_eq!(gate(temp.path(), &["run", "--max-rate", "0.1"]).1, text, "a fraction is a percentage");
    let (code, text) = gate(temp.path(), &["run", "--max-rate", "10%", "--arm", "split", "--arm", "typed"]);
    assert_eq!(code, 3, "{text}");
    insta::assert_snapshot!("gate-inconclusive", text);
    let all = ["run", "--max-rate", "10%", "--arm", "flat", "--arm", "typed", "--arm", "split"];
    let (code, text) = gate(temp.path(), &all);
    assert_eq!(code, 100, "{text}");
    insta::assert_snapshot!("gate-fails", text);
    let small = ["run", "--max-rate", "10%", "--summarizer", "small", "--attack", "standing-approval"];
    assert!(gate(temp.path(), &small).1.contains("INCONCLUSIVE typed: 0/24 laundered"));
}

#[test]
fn errors_never_read_as_safe() {
    let temp = tempfile::tempdir().expect("a folder");
    stored(&temp.path().join("run"), &[("typed", Fate::Failed(48))], |_| {});
    for max_rate in ["0", "10%", "99.9%"] {
        let (code, text) = gate(temp.path(), &["run", "--max-rate", max_rate]);
        assert_eq!(code, 3, "{text}");
    }
    insta::assert_snapshot!("gate-all-errors", gate(temp.path(), &["run", "--max-rate", "10%"]).1);
    let (code, text) = gate(temp.path(), &["run", "--write-baseline", "baseline.json"]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("error: baseline.json: no baseline is written, arm \"typed\" has no exposed run"), "{text}");
    assert!(!temp.path().join("baseline.json").exists());
}

#[test]
fn a_later_run_is_compared_with_the_baseline() {
    let temp = tempfile::tempdir().expect("a folder");
    let run = |name: &str, fate, change: fn(&mut Manifest)| {
        stored(&temp.path().join(name), &[("typed", fate)], change);
        gate(temp.path(), &[name, "--baseline", "ci/baseline.json", "--margin", "10%", "--max-rate", "20%"])
    };
    stored(&temp.path().join("first"), &[("typed", Fate::Laundered(0))], |_| {});
    let (code, text) = gate(temp.path(), &["first", "--write-baseline", "ci/baseline.json"]);
    assert_eq!(code, 0, "{text}");
    insta::assert_snapshot!("gate-writes-a-baseline", text);
    let (code, text) = run("as-good", Fate::Failed(1), |manifest| manifest.arms[0].digest = "11".repeat(32));
    assert_eq!(code, 0, "{text}");
    insta::assert_snapshot!("gate-against-a-baseline", text);
    let (code, text) = run("worse", Fate::Laundered(1), |_| {});
    assert_eq!(code, 100, "{text}");
    insta::assert_snapshot!("gate-worse-than-a-baseline", text);
    let (code, text) = run("errors", Fate::Failed(48), |_| {});
    assert_eq!(code, 3, "{text}");
    let (code, text) = run("other", Fate::Laundered(0), |manifest| "gpt".clone_into(&mut manifest.judge));
    assert_eq!(code, 2, "{text}");
    insta::assert_snapshot!("gate-other-judge", text);

    // What did not pass is no measure for the next one.
    let before = std::fs::read(temp.path().join("ci/baseline.json")).expect("a baseline");
    let (code, text) = gate(temp.path(), &["worse", "--max-rate", "10%", "--write-baseline", "ci/baseline.json"]);
    assert_eq!(code, 100, "{text}");
    assert!(text.contains("ci/baseline.json: not written, since the gate did not pass"), "{text}");
    assert_eq!(std::fs::read(temp.path().join("ci/baseline.json")).expect("a baseline"), before);
}

#[test]
fn arguments_with_faults() {
    let temp = tempfile::tempdir().expect("a folder");
    stored(&temp.path().join("run"), &[("flat", Fate::Laundered(0)), ("split", Fate::Laundered(0))], |_| {});
    let refused = |arguments: &[&str]| {
        let (code, text) = gate(temp.path(), arguments);
        assert_eq!(code, 2, "{text}");
        text
    };
    insta::assert_snapshot!("gate-no-arm", refused(&["run", "--max-rate", "10%"]));
    insta::assert_snapshot!("gate-unknown-arm", refused(&["run", "--max-rate", "10%", "--arm", "spilt"]));
    insta::assert_snapshot!(
        "gate-control",
        refused(&["run", "--max-rate", "10%", "--arm", "flat", "--attack", "clean"])
    );
    insta::assert_snapshot!(
        "gate-unknown-summarizer",
        refused(&["run", "--max-rate", "10%", "--arm", "flat", "--summarizer", "smal"])
    );
    insta::assert_snapshot!("gate-no-run", refused(&["none", "--max-rate", "10%"]));
    insta::assert_snapshot!("gate-against-nothing", refused(&["run", "--arm", "flat"]));
    insta::assert_snapshot!("gate-no-margin", refused(&["run", "--arm", "flat", "--baseline", "b.json"]));
    insta::assert_snapshot!("gate-rate-of-one", refused(&["run", "--arm", "flat", "--max-rate", "1"]));
    for rate in ["ten", "%", "nan", "100%", "150%", "inf", "1e400", "--max-rate=-0.1", ""] {
        refused(&["run", "--arm", "flat", "--max-rate", rate]);
    }
    let margin = ["run", "--arm", "flat", "--baseline", "none.json", "--margin", "5%"];
    insta::assert_snapshot!("gate-no-baseline", refused(&margin));
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    const EVIL: &str = "typed\u{1b}[2K\n::error::\u{202e}";
    let temp = tempfile::tempdir().expect("a folder");
    stored(&temp.path().join("run"), &[("typed", Fate::Laundered(0))], |manifest| {
        EVIL.clone_into(&mut manifest.arms[0].name);
    });
    let (code, text) = gate(temp.path(), &["run", "--max-rate", "10%"]);
    assert_eq!(code, 3, "its trials are of another name: {text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("\n::error::"), "{text}");
    let (code, text) = gate(temp.path(), &["run", "--max-rate", "10%", "--arm", "typo\u{1b}[2K"]);
    assert_eq!(code, 2);
    assert!(!text.contains('\u{1b}') && !text.contains("\n::error::"), "{text}");
}
