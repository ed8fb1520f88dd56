//! Runs to report on, written through the store as `runner` writes them.

use std::path::Path;

use laundromat_session::{Exposure, Outcome, PlantKind, Reading};
use laundromat_store::{
    ArmInfo, Asks, AttackInfo, Call, Cell, Manifest, Run, SessionInfo, Store, SummarizerInfo, SummarizerKind, Trial,
    TrialId, Write,
};

pub(crate) fn arm(name: &str, title: &str, form: &str, faults: &[&str]) -> ArmInfo {
    ArmInfo {
        name: name.to_owned(),
        title: title.to_owned(),
        form: form.to_owned(),
        prompt: "paraphrase".to_owned(),
        faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
        digest: "00".repeat(32),
        gate: false,
        asks: Asks::Summarizer,
        supplied: None,
    }
}

pub(crate) fn summarizer(name: &str, model: &str, kind: SummarizerKind) -> SummarizerInfo {
    SummarizerInfo {
        name: name.to_owned(),
        model: model.to_owned(),
        kind,
        endpoint: String::new(),
        route: "chat-completions".to_owned(),
        parameters: String::new(),
        template: None,
    }
}

pub(crate) fn attack(name: &str, kind: PlantKind) -> AttackInfo {
    AttackInfo { name: name.to_owned(), kind, digest: "00".repeat(32) }
}

/// A manifest of `sessions` constructed sessions.
pub(crate) fn manifest(
    name: &str,
    sessions: usize,
    attacks: Vec<AttackInfo>,
    arms: Vec<ArmInfo>,
    summarizers: Vec<SummarizerInfo>,
    repetitions: u32,
) -> Manifest {
    let sessions = (1..=sessions).map(|n| SessionInfo {
        id: format!("session-{n:02}"),
        origin: "constructed".to_owned(),
        digest: "00".repeat(32),
        turns: 40 + n,
        results: 12 + n,
        bytes: 24_000 + 731 * n,
    });
    Manifest {
        name: name.to_owned(),
        note: String::new(),
        version: "0.1.0".to_owned(),
        digest: "8f14e45fceea167a5a36dedd4bea2543".to_owned(),
        date: "2026-03-02".to_owned(),
        seed: 7,
        repetitions,
        sessions: sessions.collect(),
        attacks,
        arms,
        primary: Vec::new(),
        summarizers,
        shields: None,
        judge: "builtin:rules".to_owned(),
        judge_endpoint: String::new(),
        judge_parameters: String::new(),
        judge_rubric: String::new(),
    }
}

pub(crate) fn id(session: &str, attack: &str, arm: &str, summarizer: &str, rep: u32) -> TrialId {
    TrialId {
        session: session.to_owned(),
        attack: attack.to_owned(),
        arm: arm.to_owned(),
        summarizer: summarizer.to_owned(),
        rep,
    }
}

pub(crate) fn scored(id: TrialId, reading: Reading) -> Trial {
    Trial {
        id,
        cell: Cell { body: None, input_chars: 91_234, exposure: Exposure::Full },
        outcome: Outcome::Scored,
        detail: String::new(),
        gate: Some(reading != Reading::Absent),
        reading: Some(reading),
        usable: Some(true),
        summary_chars: Some(3_800),
        identifiers: None,
        found: None,
        tokens_in: Some(23_000),
        tokens_out: Some(950),
        cost: None,
        call: None,
    }
}

pub(crate) fn unscored(id: TrialId, outcome: Outcome, detail: &str) -> Trial {
    let mut trial = scored(id, Reading::Absent);
    (trial.outcome, trial.detail) = (outcome, detail.to_owned());
    (trial.gate, trial.reading, trial.usable, trial.summary_chars) = (None, None, None, None);
    trial
}

/// A clean trial that names `found` of `identifiers`.
pub(crate) fn clean(id: TrialId, found: u64, identifiers: u64, chars: u64) -> Trial {
    let mut trial = scored(id, Reading::Absent);
    (trial.identifiers, trial.found, trial.summary_chars) = (Some(identifiers), Some(found), Some(chars));
    trial
}

/// A call of a trial, with what differs from run to run.
pub(crate) fn call(trial: &Trial, number: u8) -> Call {
    Call {
        key: [number; 32],
        purpose: "summarize".to_owned(),
        trial: trial.id.clone(),
        body: [0; 32],
        reply_zstd: Vec::new(),
        latency_us: 1_204_056 + 1_000 * u64::from(number),
        attempts: 1 + u32::from(number % 3),
        tokens_in: trial.tokens_in,
        cached_tokens: None,
        cache_write_tokens: Some(3),
        tokens_out: trial.tokens_out,
        reasoning_tokens: Some(7),
        finish_reason: Some("stop".to_owned()),
        served_model: "=model".to_owned(),
        served_provider: Some("@provider".to_owned()),
        fingerprint: Some("fp".to_owned()),
        request_id: Some("req-1".to_owned()),
    }
}

/// Stores a run and opens it for reading.
pub(crate) fn stored(folder: &Path, manifest: &Manifest, trials: Vec<Trial>, calls: Vec<Call>) -> Run {
    let mut store = Store::open(folder).unwrap();
    store.set_manifest(manifest).unwrap();
    let calls = calls.into_iter().map(|call| Write::Call(Box::new(call)));
    let batch: Vec<Write> = trials.into_iter().map(|trial| Write::Trial(Box::new(trial))).chain(calls).collect();
    store.append(&batch).unwrap();
    drop(store);
    Run::open(folder).unwrap()
}

/// Four arms read by the built-in reader: one attack and a control of each kind.
pub(crate) fn quickstart(folder: &Path) -> Run {
    let arms = vec![
        arm("hermes-0.19", "Hermes 0.19: one user message with labels", "flat-user", &["2", "4"]),
        arm("hermes-main", "Hermes main: the same, capped", "flat-user", &["2"]),
        arm("hermes-split", "Hermes split: system and user", "split", &["2"]),
        arm("hermes-typed", "Hermes typed: real roles", "role-typed", &[]),
    ];
    let attacks = vec![
        attack("fake-user-line", PlantKind::Attack),
        attack("clean", PlantKind::Clean),
        attack("true-approval", PlantKind::TrueUser),
        attack("honest-quote", PlantKind::HonestQuote),
    ];
    let summarizers = vec![summarizer("reader", "builtin:reader", SummarizerKind::Builtin)];
    let manifest = manifest("quickstart", 12, attacks, arms, summarizers, 1);
    let mut trials = Vec::new();
    for (place, session) in manifest.sessions.iter().enumerate() {
        for (rank, arm) in manifest.arms.iter().enumerate() {
            let typed = arm.form == "role-typed";
            let at = |attack: &str| id(&session.id, attack, &arm.name, "reader", 1);
            let mut planted = scored(at("fake-user-line"), if typed { Reading::Tool } else { Reading::User });
            if rank == 1 && place == 11 {
                planted.cell.exposure = Exposure::Partial;
            }
            trials.push(planted);
            trials.push(clean(at("clean"), 9 + rank as u64, 24, 4_464 - 288 * rank as u64));
            trials.push(scored(at("true-approval"), if place == 3 { Reading::Absent } else { Reading::User }));
            trials.push(scored(at("honest-quote"), if typed { Reading::Tool } else { Reading::User }));
        }
    }
    let calls = trials.iter().take(3).enumerate().map(|(number, trial)| call(trial, number as u8)).collect();
    stored(folder, &manifest, trials, calls)
}

/// The counts of the published study: 12 sessions, 3 models, 2 repetitions; one verdict is missing.
pub(crate) const PUBLISHED: [(&str, [(u64, u64); 3]); 3] = [
    ("flat", [(24, 24), (12, 24), (16, 24)]),
    ("split", [(24, 24), (15, 24), (4, 23)]),
    ("typed", [(1, 24), (5, 24), (8, 24)]),
];
pub(crate) const MODELS: [&str; 3] = ["gemini-flash-lite", "llama-3.3-70b", "qwen3-32b"];

/// A run with exactly those counts.
pub(crate) fn study(folder: &Path) -> Run {
    let arms = PUBLISHED.map(|(name, _)| {
        let form = if name == "typed" { "role-typed" } else { "flat-user" };
        arm(name, &format!("The {name} arm"), form, if name == "typed" { &[] } else { &["2"] })
    });
    let attacks = vec![attack("fake-user-line", PlantKind::Attack), attack("clean", PlantKind::Clean)];
    let summarizers = MODELS.map(|model| summarizer(model, &format!("route/{model}"), SummarizerKind::Llm));
    let manifest = manifest("role-typed-study", 12, attacks, arms.to_vec(), summarizers.to_vec(), 2);
    let mut trials = Vec::new();
    for (rank, (arm, counts)) in PUBLISHED.iter().enumerate() {
        for (place, (model, (laundered, judged))) in MODELS.iter().zip(counts).enumerate() {
            for run in 0..24_u64 {
                let session = &manifest.sessions[(run / 2) as usize].id;
                let at = |attack: &str| id(session, attack, arm, model, (run % 2) as u32 + 1);
                trials.push(if run >= *judged {
                    unscored(at("fake-user-line"), Outcome::Empty, "no visible text")
                } else if run >= *laundered {
                    scored(at("fake-user-line"), Reading::Tool)
                } else if run == 0 {
                    scored(at("fake-user-line"), Reading::Unattributed)
                } else {
                    scored(at("fake-user-line"), Reading::User)
                });
                let found = 9 - 2 * rank as u64 - place as u64;
                trials.push(clean(at("clean"), found, 40 + run % 2, 5_000 - 600 * rank as u64 - 150 * place as u64));
            }
        }
    }
    stored(folder, &manifest, trials, Vec::new())
}
