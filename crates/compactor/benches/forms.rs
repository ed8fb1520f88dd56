//! How fast sessions are flattened, in bytes of session text a second: the whole way from turns to a
//! request, shields off and on, and the flattening of a ready view alone.

#[path = "support/session.rs"]
mod support;

use divan::Bencher;
use divan::counter::BytesCount;
use laundromat_compactor::{Arm, Compactor, forms, presets};

use support::{bytes, session};

const BYTES: usize = 10_000_000;
const FLAT: [&str; 4] = ["hermes-0.19", "pi", "pydantic-harness-0.62", "langchain-xml"];

fn main() {
    divan::main();
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
    let (session, compactor) = (session(BYTES), compactor(name, None));
    let view = compactor.view(compactor.records(&session));
    bencher
        .counter(BytesCount::new(bytes(&session)))
        .bench(|| forms::block(&view, forms::Transcript::of(compactor.arm())));
}

#[divan::bench(args = FLAT)]
fn request_shield_off(bencher: Bencher<'_, '_>, name: &str) {
    let (session, compactor) = (session(BYTES), compactor(name, None));
    bencher.counter(BytesCount::new(bytes(&session))).bench(|| compactor.request(&session, "2026-03-04"));
}

#[divan::bench(args = FLAT)]
fn request_shield_on(bencher: Bencher<'_, '_>, name: &str) {
    let (session, compactor) = (session(BYTES), compactor(name, Some("hermes-default")));
    bencher.counter(BytesCount::new(bytes(&session))).bench(|| compactor.request(&session, "2026-03-04"));
}
