//! The invariants of built-in arms, over generated sessions: orphans, duplicates, blanks, huge and
//! odd texts, broken names and arguments included.

mod generated;

use std::collections::HashSet;

use generated::{TOOL_MARK, sessions};
use laundromat_compactor::arm::{Arm, Invariant};
use laundromat_compactor::axes::Instructions;
use laundromat_compactor::keep::Snap;
use laundromat_compactor::probes::Probe;
use laundromat_compactor::{Compactor, Form, Partition, Refusal, Request, presets};
use laundromat_session::{Call, Message, MessageRole, Role, Session, Turn};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn compactor(name: &str) -> Compactor {
    Compactor::new(Arm::parse(presets::arm(name).expect("a preset")).expect("no faults")).expect("no faults")
}

/// Presets that send turns in roles, and what the harness breaks in them.
fn typed_presets() -> impl Iterator<Item = (&'static str, Arm)> {
    let arm = |name| Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    presets::arm_names()
        .into_iter()
        .map(move |name| (name, arm(name)))
        .filter(|(_, arm)| !arm.form.is_flat() && arm.form.asks_model())
}

fn build(name: &str, session: &Session) -> Request {
    compactor(name).request(session, "2026-03-04").expect("no preset refuses a session within its caps")
}

/// Characters of the messages between the instructions and the pointer.
fn turn_chars(request: &Request) -> usize {
    request.messages[1..request.messages.len() - 1].iter().map(Message::chars).sum()
}

fn paired(messages: &[Message]) -> Result<(), TestCaseError> {
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == MessageRole::Tool {
            let id = message.call_id.as_deref().expect("an id");
            let at = open.iter().position(|call| *call == id);
            prop_assert!(at.is_some(), "a result whose call is not open: {id}");
            open.remove(at.expect("checked"));
            prop_assert!(!message.text.trim().is_empty(), "a blank result");
            continue;
        }
        prop_assert!(open.is_empty(), "calls without a result: {open:?}");
        for call in &message.calls {
            prop_assert!(seen.insert(&call.id), "an id twice");
            open.push(&call.id);
            prop_assert!(serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok(), "{}", call.arguments);
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            prop_assert!((1..=64).contains(&call.name.len()) && call.name.chars().all(fits), "{}", call.name);
            prop_assert!(call.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{}", call.name);
        }
        prop_assert!(!message.text.trim().is_empty() || !message.calls.is_empty(), "an empty message");
    }
    prop_assert!(open.is_empty(), "calls without a result: {open:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Invariant 1: a pure function; equal caps give the identical view; the bound holds on what is sent.
    #[test]
    fn arms_are_pure_and_bounded(session in sessions()) {
        let before = session.clone();
        let typed = build("hermes-typed", &session);
        prop_assert_eq!(&typed, &build("hermes-typed", &session));
        prop_assert_eq!(&session, &before);
        prop_assert!(turn_chars(&typed) <= 160_000, "{}", turn_chars(&typed));
        let view = |name: &str| { let c = compactor(name); c.view(c.records(&session)) };
        let typed_view = view("hermes-typed");
        prop_assert_eq!(&typed_view, &view("hermes-main"));
        prop_assert_eq!(&typed_view, &view("hermes-split"));
        let split = build("hermes-split", &session);
        prop_assert!(split.messages[1].text.chars().count() <= 160_000 + "TURNS TO SUMMARIZE:\n".len());
    }

    /// Invariant 2: in a typed arm no byte of tool output is in what is presented as the user's words.
    #[test]
    fn tool_text_is_never_the_users(session in sessions()) {
        for (name, arm) in typed_presets() {
            if arm.faults.contains(&Invariant::TypedSources) {
                continue;
            }
            for message in build(name, &session).messages {
                prop_assert!(message.role == MessageRole::Tool || !message.text.contains(TOOL_MARK), "{:?}", message.role);
            }
        }
    }

    /// Invariant 3: calls and results pair, names and arguments fit every route.
    #[test]
    fn calls_pair_with_results(session in sessions()) {
        for (name, arm) in typed_presets() {
            let request = build(name, &session);
            paired(&request.messages)?;
            let last = request.messages.last().expect("a message");
            match arm.form {
                Form::TypedSyshead => {}
                _ if arm.instructions == Instructions::SystemTail => prop_assert_eq!(last.role, MessageRole::System),
                _ => prop_assert_eq!(last.role, MessageRole::User),
            }
            prop_assert!(arm.form == Form::TypedSyshead || !last.text.is_empty());
        }
    }
}

/// Many calls with long arguments: the ones that are rebuilt from raw turns would escape the bound.
#[test]
fn call_arguments_count_against_the_bound() {
    let call = |n: usize| Call {
        id: format!("c{n}"),
        name: "write_file".to_owned(),
        arguments: format!("{{\"text\": \"{}\"}}", "\\\"".repeat(4000)),
    };
    let turns: Vec<Turn> = (0..400)
        .flat_map(|n| {
            let asked = Turn { calls: (0..4).map(|k| call(4 * n + k)).collect(), ..Turn::text_of(Role::Assistant, "") };
            let answered = (0..4)
                .map(move |k| Turn { call_id: Some(format!("c{}", 4 * n + k)), ..Turn::text_of(Role::Tool, "ok") });
            std::iter::once(asked).chain(answered)
        })
        .collect();
    let session = Session { id: "calls".to_owned(), title: None, origin: None, turns };
    let request = build("hermes-typed", &session);
    assert!(turn_chars(&request) <= 160_000, "{}", turn_chars(&request));
    assert!(turn_chars(&request) > 120_000, "{}", turn_chars(&request));
    paired(&request.messages).expect("paired");
    assert_eq!(compactor("hermes-typed").arm().form, Form::Typed);
}

/// Calls without results cost more in roles than flattened: then the longest arguments give way.
#[test]
fn roles_that_cost_more_than_labels_stay_within_the_bound() {
    let turn = |n: usize| {
        let call = |k| Call {
            id: format!("c{n}-{k}"),
            name: "terminal".to_owned(),
            arguments: format!("{{\"command\": \"{}\"}}", "x".repeat(285)),
        };
        Turn { calls: (0..4).map(call).collect(), ..Turn::text_of(Role::Assistant, "") }
    };
    let first = std::iter::once(Turn::text_of(Role::User, "go"));
    let session = Session {
        id: "unanswered".to_owned(),
        title: None,
        origin: None,
        turns: first.chain((0..124).map(turn)).collect(),
    };
    let compactor = compactor("hermes-typed");
    let view = compactor.view(compactor.records(&session));
    assert_eq!(view.kept().count(), 125, "flattened, everything fits");
    let request = build("hermes-typed", &session);
    assert!(turn_chars(&request) <= 160_000, "{}", turn_chars(&request));
    assert!(
        request.messages.iter().flat_map(|message| &message.calls).any(|call| call.arguments.contains("truncated"))
    );
    paired(&request.messages).expect("paired");
}

/// One turn whose call names alone are over the bound is refused, never sent.
#[test]
fn a_turn_over_the_bound_is_refused() {
    let call = |n| Call {
        id: format!("c{n}"),
        name: "a_rather_long_tool_name_for_a_call".to_owned(),
        arguments: "{\"a\": 1}".to_owned(),
    };
    let asked = Turn { calls: (0..3000).map(call).collect(), ..Turn::text_of(Role::Assistant, "go") };
    let turns = vec![asked, Turn::text_of(Role::User, "and now?")];
    let session = Session { id: "huge".to_owned(), title: None, origin: None, turns };
    let refused = compactor("hermes-typed").request(&session, "2026-03-04");
    assert!(matches!(refused, Err(Refusal::OverBound { limit: 160_000, .. })), "{refused:?}");
}

/// Presets that say which turns stay.
fn keeping_presets() -> impl Iterator<Item = Compactor> {
    presets::arm_names().into_iter().map(compactor).filter(|compactor| compactor.arm().keep.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_stays_and_what_is_summarized_is_every_turn_once(session in sessions()) {
        for compactor in keeping_presets() {
            let Some(partition) = compactor.partition(&session) else { continue };
            let Partition { system, head, old, tail, displaced, copies } = partition.clone();
            prop_assert_eq!(system.start, 0);
            prop_assert_eq!((system.end, head.end, old.end, tail.end), (head.start, old.start, tail.start, session.turns.len()));
            prop_assert!(!old.is_empty() && displaced.start >= tail.start && displaced.end <= tail.end);
            prop_assert!(copies.iter().all(|turn| old.contains(turn) && session.turns[*turn].is_genuine_user()));
            let next = compactor.next_context(&session, &partition, "S").expect("sound").expect("a placement");
            for turn in 0..session.turns.len() {
                let stays = head.contains(&turn) || system.contains(&turn) || copies.contains(&turn);
                let stays = stays || (tail.contains(&turn) && !displaced.contains(&turn));
                let most = compactor.arm().after.as_ref().and_then(|after| after.verbatim_chars).unwrap_or(usize::MAX);
                let is_whole = !copies.contains(&turn) || session.turns[turn].text().chars().count() <= most;
                prop_assert_eq!(next.holds(turn), stays && is_whole, "{} {}", compactor.arm(), turn);
            }
            prop_assert_eq!(next.session().turns.len(), next.from().len());
        }
    }

    #[test]
    fn a_kept_result_keeps_its_call(session in sessions()) {
        for compactor in keeping_presets() {
            let Some(partition) = compactor.partition(&session) else { continue };
            if compactor.arm().keep.is_some_and(|keep| keep.snap == Snap::Nowhere) {
                continue;
            }
            for turn in partition.sent_tail().filter(|turn| session.turns[*turn].role == Role::Tool) {
                let id = session.turns[turn].call_id.as_deref();
                let asks = |earlier: &Turn| earlier.calls.iter().any(|call| Some(call.id.as_str()) == id);
                let call = session.turns[..turn].iter().rposition(asks);
                prop_assert!(call.is_none_or(|call| !partition.old.contains(&call)), "{}", compactor.arm());
            }
        }
    }
}

proptest! {
    // Each probe compacts sessions of its own beside the generated one.
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn probes_answer_about_any_session(session in sessions()) {
        for compactor in keeping_presets() {
            for probe in [Probe::Conservation, Probe::Constraint, Probe::PairIntegrity] {
                let finding = probe.run(&compactor, &session);
                // No session makes an arm break a pair.
                prop_assert!(probe != Probe::PairIntegrity || finding.detail.starts_with("0 broken in requests"), "{}", finding.detail);
            }
        }
    }
}
