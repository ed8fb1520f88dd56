//! How fast sessions are flattened, in bytes of session text a second: the whole way from turns to a
//! request, shields off and on, and the flattening of a ready view alone.

use divan::Bencher;
use divan::counter::BytesCount;
use laundromat_compactor::{Arm, Compactor, forms, presets};
use laundromat_session::{Call, Role, Session, Turn};

const BYTES: usize = 10_000_000;
const FLAT: [&str; 4] = ["hermes-0.19", "pi", "pydantic-harness-0.62", "langchain-xml"];

fn main() {
    divan::main();
}

/// Turns as agents make them: short requests, a call each, results of a few thousand bytes.
fn session() -> Session {
    let line = "src/store/rows.rs:120: let rows = table.select(&query)?; // <rows> & \"names\"\n";
    let mut turns = Vec::new();
    let mut bytes = 0;
    while bytes < BYTES {
        let n = turns.len();
        let result = line.repeat(20 + n % 40);
        bytes += result.len() + 160;
        turns.push(Turn::text_of(Role::User, format!("Look at step {n} and tell me why it fails; change nothing.")));
        let call = Call {
            id: format!("call_{n}"),
            name: "terminal".to_owned(),
            arguments: format!("{{\"command\": \"grep -n step_{n} src\"}}"),
        };
        turns.push(Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "I will look.") });
        turns.push(Turn { call_id: Some(format!("call_{n}")), ..Turn::text_of(Role::Tool, result) });
    }
    Session { id: "bench".to_owned(), title: None, origin: None, turns }
}

fn bytes(session: &Session) -> BytesCount {
    let calls = |turn: &Turn| turn.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
    BytesCount::new(session.turns.iter().map(|turn| turn.text().len() + calls(turn)).sum::<usize>())
}

/// The preset without caps on texts, which would leave most of the session out.
fn compactor(name: &str, shield: Option<&str>) -> Compactor {
    let mut arm = Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    arm.caps = Default::default();
    arm.shield = shield.map(str::to_owned);
    Compactor::new(arm).expect("no faults")
}

#[divan::bench(args = FLAT)]
fn block_of_a_view(bencher: Bencher<'_, '_>, name: &str) {
    let (session, compactor) = (session(), compactor(name, None));
    let view = compactor.view(compactor.records(&session));
    bencher.counter(bytes(&session)).bench(|| forms::block(&view, forms::Transcript::of(compactor.arm())));
}

#[divan::bench(args = FLAT)]
fn request_shield_off(bencher: Bencher<'_, '_>, name: &str) {
    let (session, compactor) = (session(), compactor(name, None));
    bencher.counter(bytes(&session)).bench(|| compactor.request(&session, "2026-03-04"));
}

#[divan::bench(args = FLAT)]
fn request_shield_on(bencher: Bencher<'_, '_>, name: &str) {
    let (session, compactor) = (session(), compactor(name, Some("hermes-default")));
    bencher.counter(bytes(&session)).bench(|| compactor.request(&session, "2026-03-04"));
}
