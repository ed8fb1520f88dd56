//! Every preset over real material: bundled sessions and, where they are at hand, published ones. Each request stays
//! within its arm's bound and is one that every destination takes.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laundromat_compactor::arm::Invariant;
use laundromat_compactor::{Arm, Compactor, Given, Next, Refusal, Request, View, presets};
use laundromat_provider::{Endpoint, Model, Profile, Route, Settings};
use laundromat_runner::walk::Walk;
use laundromat_session::{Message, Session, canonical};

const DATE: &str = "2026-03-04";
/// Characters that instructions, labels and what roles cost may come to beside the turns that a bound counts.
const AROUND: usize = 40_000;

fn repo(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn presets_of_all() -> Vec<Arc<Compactor>> {
    let arm = |name| Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    presets::arm_names().into_iter().map(|name| Arc::new(Compactor::new(arm(name)).expect("no faults"))).collect()
}

fn corpus() -> Vec<Session> {
    ["deploy-tidepool-staging", "ferry-booking-incident", "fix-region-rollup-test"]
        .map(|name| fs::read_to_string(repo(&format!("sessions/{name}.json"))).expect("a session"))
        .map(|text| canonical::read(&text).expect("a session"))
        .into()
}

/// One session of each of three published collections; those that are not at hand are told and passed over.
fn published() -> Vec<Session> {
    let mut sessions = Vec::new();
    for format in ["claude-code", "openai-chat", "openai-chat"] {
        let folder = repo("../shared/sessions-real").join(format);
        if !folder.is_dir() {
            println!("skipped: {} not found", folder.display());
            continue;
        }
        let files = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let known = |path: &PathBuf| path.is_file() && laundromat_import::detect(path).is_ok();
        let mut files: Vec<PathBuf> = files.filter(known).collect();
        files.sort();
        let taken = sessions.iter().filter(|(known, _)| *known == format).count();
        let read = laundromat_import::read_path(&files[taken], None).expect("reads");
        sessions.push((format, read.into_iter().next().expect("a session").session));
    }
    sessions.into_iter().map(|(_, session)| session).collect()
}

/// What an arm sends, or puts in place of the turns.
fn requests(compactor: &Arc<Compactor>, view: &View) -> Result<Vec<Request>, Refusal> {
    let foreseen = Walk::new(Arc::clone(compactor), view.clone(), DATE).foreseen()?;
    if !foreseen.is_empty() {
        return Ok(foreseen.into_iter().map(|call| call.request).collect());
    }
    match compactor.next(view, Given { date: DATE, previous: None }, &[])? {
        Next::Replace(request) => Ok(vec![request]),
        other => panic!("{} asks nothing and leaves nothing: {other:?}", compactor.arm().name),
    }
}

/// Why a destination would refuse the request: the rules of every profile there is.
fn refused(messages: &[Message], arm: &Arm) -> Vec<String> {
    let mut refused = Vec::new();
    for profile in Profile::all() {
        let endpoint = Endpoint::new(profile, "m".to_owned(), "http://h".to_owned(), &Settings::default());
        if let Err(broken) = Model::Chat(endpoint).body(messages) {
            refused.push(format!("{} as {}: {broken}", arm.name, profile.id));
        }
    }
    refused
}

/// Harnesses that put their instructions into a system message and nothing behind the turns, with the rules that they
/// break so where the last turn is the agent's: many routes want a user's message last. A run over such a route ends
/// these trials as invalid requests and sends nothing.
const KNOWN: [(&str, &[&str]); 3] = [
    ("agent-framework-net", &["last_assistant", "prefill", "ends_with_model"]),
    ("semantic-kernel", &["prefill", "ends_with_model", "alternation"]),
    ("semantic-kernel-tools", &["prefill", "ends_with_model", "alternation", "user_after_tool"]),
];

/// Whether a refusal is of the `rule` that `arm` breaks by its own design.
fn is_of(refusal: &str, arm: &str, rule: &str) -> bool {
    refusal.starts_with(&format!("{arm} as ")) && refusal.contains(&format!(": rule {rule}:"))
}

/// All that is wrong and not known.
fn unknown(wrong: &[String]) -> Vec<&String> {
    let is_known = |refusal: &str| KNOWN.iter().any(|(arm, rules)| rules.iter().any(|it| is_of(refusal, arm, it)));
    wrong.iter().filter(|refusal| !is_known(refusal)).collect()
}

fn check(sessions: &[Session]) -> Vec<String> {
    let mut wrong = Vec::new();
    for compactor in presets_of_all() {
        let arm = compactor.arm();
        for session in sessions {
            let view = compactor.view(compactor.records(session));
            let requests = match requests(&compactor, &view) {
                Ok(requests) => requests,
                // Its one refusal that a session can bring about.
                Err(Refusal::Delimiter { .. }) => continue,
                Err(refusal) => {
                    wrong.push(format!("{} refuses {}: {refusal}", arm.name, session.id));
                    continue;
                }
            };
            let bound = arm.caps.total.as_ref().filter(|_| !arm.faults.contains(&Invariant::BoundedInput));
            for request in &requests {
                if let Some(total) = bound
                    && request.chars() > total.limit + AROUND
                {
                    wrong.push(format!("{} sends {} characters of {}", arm.name, request.chars(), session.id));
                }
                if arm.form.asks_model() {
                    let found = refused(&request.messages, arm).into_iter();
                    wrong.extend(found.map(|refusal| format!("{refusal} ({})", session.id)));
                }
            }
        }
    }
    wrong
}

#[test]
fn every_preset_renders_bundled_sessions_within_bounds_and_by_all_rules() {
    let wrong = check(&corpus());
    assert!(unknown(&wrong).is_empty(), "{:#?}", unknown(&wrong));
    // What is known is still so.
    for (arm, rules) in KNOWN {
        let breaks = |refusal: &String| rules.iter().any(|rule| is_of(refusal, arm, rule));
        assert!(wrong.iter().any(breaks), "{arm} breaks none of {rules:?} any more");
    }
}

#[test]
fn every_preset_renders_published_sessions_within_bounds_and_by_all_rules() {
    let wrong = check(&published());
    assert!(unknown(&wrong).is_empty(), "{:#?}", unknown(&wrong));
}

#[test]
fn all_routes_are_among_the_rules() {
    let routes = |route: Route| Profile::all().iter().any(|profile| profile.route == route);
    let all = [Route::ChatCompletions, Route::Responses, Route::Anthropic, Route::Gemini, Route::BedrockConverse];
    assert!(all.into_iter().all(routes));
}

/// What is sent for bundled sessions, by digest: a change of any byte is to be meant. The small session of
/// `compactor/tests/presets.rs` has the full texts.
#[test]
fn digests_of_what_is_sent() {
    let mut table = String::new();
    for compactor in presets_of_all() {
        for session in corpus() {
            let view = compactor.view(compactor.records(&session));
            let mut hasher = blake3::Hasher::new();
            let requests = requests(&compactor, &view).expect("requests");
            for message in requests.iter().flat_map(|request| &request.messages) {
                hasher.update(format!("{message:?}\n").as_bytes());
            }
            let chars: usize = requests.iter().map(Request::chars).sum();
            let digest = &hasher.finalize().to_hex()[..16];
            let (arm, calls) = (&compactor.arm().name, requests.len());
            let _ = writeln!(table, "{arm} {} {calls} {chars} {digest}", session.id);
        }
    }
    insta::assert_snapshot!(table);
}
