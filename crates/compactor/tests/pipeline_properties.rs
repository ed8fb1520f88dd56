//! What a pipeline states of a generated session is true of it, in every preset and so in every form.

mod generated;

use std::collections::BTreeSet;

use generated::{TOOL_MARK, sessions};
use laundromat_compactor::invariant::Invariant;
use laundromat_compactor::keep::{CopySlots, Snap};
use laundromat_compactor::next_context::{From, Unsound};
use laundromat_compactor::pipeline::Place;
use laundromat_compactor::tiers::{Cut, Tier};
use laundromat_compactor::{Arm, Compactor, Form, Given, Next, Refusal, Start, View, presets};
use laundromat_session::{Message, MessageRole, Role, Session, Turn};
use proptest::prelude::*;

/// A preset whose tail is small and whose tiers all run, so that generated sessions are cut.
fn compactor(name: &str) -> Compactor {
    let mut arm = Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    arm.tiers.target = arm.tiers.target.map(|_| 1);
    Compactor::new(arm).expect("no faults")
}

fn small_tails(name: &str) -> Compactor {
    use laundromat_compactor::keep::Tail;
    let mut arm = compactor(name).arm().clone();
    if let Some(keep) = &mut arm.keep {
        keep.least = keep.least.min(3);
        keep.tail = match keep.tail {
            Tail::Tokens(most) => Tail::Tokens(most.min(500)),
            tail => tail,
        };
    }
    Compactor::new(arm).expect("no faults")
}

/// Every message that a view becomes.
fn messages(compactor: &Compactor, view: &View) -> Result<Vec<Vec<Message>>, Refusal> {
    let given = Given { date: "2026-03-04", previous: Some("Earlier.") };
    let (mut all, mut replies) = (Vec::new(), Vec::new());
    loop {
        match compactor.next(view, given, &replies)? {
            Next::Ask(request) => all.push(request.messages),
            Next::Replace(request) => {
                all.push(request.messages);
                return Ok(all);
            }
            Next::Summary(_) => return Ok(all),
        }
        replies.push("{}".to_owned());
    }
}

fn orphans(turns: &[Turn]) -> usize {
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    let mut orphans = 0;
    for turn in turns {
        asked.extend(turn.calls.iter().map(|call| call.id.as_str()));
        orphans +=
            usize::from(turn.role == Role::Tool && !turn.call_id.as_deref().is_some_and(|id| asked.contains(id)));
    }
    orphans
}

fn check(compactor: &Compactor, session: &Session) -> Result<(), TestCaseError> {
    let arm = compactor.arm();
    let pipeline = match compactor.pipeline(session, Start::Asked) {
        Ok(pipeline) => pipeline,
        // Copies that take the tail's places, or that are kept up to a total, can leave out a request with a tool loop
        // behind it: this was not seen of the harness, so it declares nothing, and the compaction is refused.
        Err(Unsound::RequestGone { .. })
            if arm.keep.is_some_and(|keep| keep.copies != CopySlots::Own)
                || arm.after.as_ref().is_some_and(|after| after.verbatim_total.is_some()) =>
        {
            return Ok(());
        }
        Err(unsound) => return Err(TestCaseError::fail(format!("{}: {}", arm, unsound))),
    };
    prop_assert_eq!(&pipeline, &compactor.pipeline(session, Start::Asked).expect("a pure function"));
    let pruned = pipeline.pruning.session(session);
    let fates: Vec<_> = pipeline.fates().collect();
    prop_assert_eq!(fates.len(), session.turns.len());
    for (turn, (_, cut)) in fates.iter().enumerate() {
        let (before, after) = (&session.turns[turn], &pruned.turns[turn]);
        prop_assert_eq!((&before.role, &before.call_id), (&after.role, &after.call_id));
        prop_assert_eq!(before.calls.len(), after.calls.len());
        prop_assert!(cut.is_some() || before == after, "{} changes {} silently", arm, turn);
        match cut {
            Some(Cut::Stubbed | Cut::Superseded | Cut::Demoted) => prop_assert_eq!(&before.role, &Role::Tool),
            Some(Cut::Clamped) => prop_assert_eq!(&before.role, &Role::Assistant),
            Some(Cut::Cleared) => prop_assert!(matches!(before.role, Role::Tool | Role::Assistant)),
            None => {}
        }
    }
    let order: Vec<Tier> = pipeline.ran.iter().map(|ran| ran.tier).collect();
    let place = |tier: &Tier| Tier::ALL.iter().position(|known| known == tier);
    let is_ordered = order.windows(2).all(|pair| place(&pair[0]) < place(&pair[1]));
    prop_assert!(is_ordered, "{:?}", order);
    let Some(partition) = &pipeline.partition else {
        prop_assert!(fates.iter().all(|(place, _)| *place == Place::Kept));
        return Ok(());
    };
    let summarized = fates.iter().filter(|(place, _)| matches!(place, Place::Summarized | Place::Copied)).count();
    prop_assert_eq!(summarized, partition.old.len());
    let Some(next) = compactor.pruned_next(session, &pipeline, "S").expect("sound") else { return Ok(()) };
    for (turn, (place, _)) in fates.iter().enumerate() {
        let stands = next.from().iter().any(|from| matches!(from, From::Turn(it) | From::Copy(it) if *it == turn));
        let is_there = stands || next.holds(turn);
        prop_assert_eq!(is_there, matches!(place, Place::Kept | Place::Copied), "{} {}", arm, turn);
    }
    let request = session.turns.iter().rposition(Turn::is_genuine_user);
    if let Some(request) = request.filter(|_| !arm.faults.contains(&Invariant::CurrentRequest)) {
        prop_assert!(!matches!(fates[request].0, Place::Summarized | Place::LeftOut), "{}", arm);
    }
    if arm.keep.is_some_and(|keep| keep.snap == Snap::Pairs) {
        prop_assert!(orphans(&next.session().turns) <= orphans(&session.turns), "{}", arm);
    }
    let view = compactor.pruned_view(session, &pipeline).expect("a cut");
    match messages(compactor, &view) {
        Ok(all) => {
            let typed = arm.form.asks_model() && !arm.form.is_flat() && !arm.faults.contains(&Invariant::TypedSources);
            let leaks = |message: &Message| message.role == MessageRole::User && message.text.contains(TOOL_MARK);
            prop_assert!(!typed || !all.iter().flatten().any(leaks), "{}", arm);
        }
        Err(Refusal::Nothing | Refusal::OverBound { .. }) => {}
        Err(refusal) => return Err(TestCaseError::fail(format!("{}: {}", arm, refusal))),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_turn_has_one_fate_and_the_next_context_is_what_it_says(session in sessions()) {
        for name in presets::arm_names() {
            check(&compactor(name), &session)?;
            check(&small_tails(name), &session)?;
        }
    }
}

#[test]
fn every_form_is_a_preset_s() {
    let forms: BTreeSet<&str> = presets::arm_names().into_iter().map(|name| compactor(name).arm().form.id()).collect();
    let all: BTreeSet<&str> = Form::ALL.iter().map(|form| form.id()).collect();
    assert_eq!(forms, all);
}
