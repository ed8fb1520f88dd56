//! What stays and what comes out, against what was seen of the harnesses.

use laundromat_compactor::keep::{Decision, Ending, Otherwise};
use laundromat_compactor::next_context::From;
use laundromat_compactor::{Arm, Compactor, NextContext, Partition, presets};
use laundromat_session::{Call, Part, Role, Session, Turn};

/// A preset with some of its text changed.
fn arm(name: &str, changes: &[(&str, &str)]) -> Compactor {
    let mut text = presets::arm(name).expect("a preset").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{name} has no {from}");
        text = text.replacen(from, to, 1);
    }
    Compactor::new(Arm::parse(&text).expect("no faults")).expect("no faults")
}

fn session(turns: Vec<Turn>) -> Session {
    Session { id: "case".to_owned(), title: None, origin: None, turns }
}

/// Some earlier turns of two messages each, and a request.
fn plain(earlier: usize) -> Session {
    let mut turns = Vec::new();
    for turn in 1..=earlier {
        turns.push(Turn::text_of(Role::User, format!("question {turn}")));
        turns.push(Turn::text_of(Role::Assistant, format!("answer {turn}")));
    }
    turns.push(Turn::text_of(Role::User, "the request"));
    session(turns)
}

/// A request and some calls with their results, as a tool loop has them before its next model call.
fn tool_loop(calls: usize) -> Session {
    let mut turns = vec![Turn::text_of(Role::User, "the request")];
    for number in 1..=calls {
        let id = format!("c{number}");
        let call = Call { id: id.clone(), name: "step".to_owned(), arguments: "{}".to_owned() };
        turns.push(Turn { calls: vec![call], parts: Vec::new(), ..Turn::text_of(Role::Assistant, "") });
        turns.push(Turn { call_id: Some(id), ..Turn::text_of(Role::Tool, format!("result {number}")) });
    }
    session(turns)
}

fn compacted(compactor: &Compactor, session: &Session) -> Option<(Partition, NextContext)> {
    let partition = compactor.partition(session)?;
    let next = compactor.next_context(session, &partition, "THE SUMMARY").expect("sound").expect("a placement");
    Some((partition, next))
}

/// Turns that are in neither the summarized ones nor the next context.
fn lost(partition: &Partition, next: &NextContext, session: &Session) -> Vec<usize> {
    (0..session.turns.len()).filter(|turn| !partition.old.contains(turn) && !next.holds(*turn)).collect()
}

#[test]
fn copies_of_user_turns_displace_the_request_as_they_did_in_runs() {
    // keep_messages; earlier turns from which on the request is lost in 0.30; turns lost then; most lost in 0.62.
    for (keep, from, gone, still) in [(1, 1, 1, 0), (2, 2, 2, 1), (4, 5, 4, 3), (8, 11, 8, 7), (20, 29, 20, 19)] {
        let tail = format!("tail-messages = {keep}");
        let old = arm("pydantic-harness-0.30-users", &[("tail-messages = 4", &tail)]);
        let new = arm("pydantic-harness-0.62-users", &[("tail-messages = 4", &tail)]);
        let mut first = None;
        let mut most = 0;
        for earlier in 0..=40 {
            let session = plain(earlier);
            let request = session.turns.len() - 1;
            if let Some((partition, next)) = compacted(&old, &session) {
                let is_lost = lost(&partition, &next, &session).contains(&request);
                assert_eq!(is_lost, (2 * earlier + 1 - keep).div_ceil(2) >= keep, "{keep} {earlier}");
                if is_lost && first.is_none() {
                    first = Some((earlier, lost(&partition, &next, &session).len()));
                }
            }
            if let Some((partition, next)) = compacted(&new, &session) {
                assert!(next.holds(request), "{keep} {earlier}");
                most = most.max(lost(&partition, &next, &session).len());
            }
        }
        assert_eq!((first, most), (Some((from, gone)), still), "keep_messages {keep}");
    }
}

#[test]
fn without_copies_the_harness_keeps_the_request() {
    for name in ["pydantic-harness-0.30", "pydantic-harness-0.62"] {
        for earlier in 0..=40 {
            let session = plain(earlier);
            let Some((partition, next)) = compacted(&arm(name, &[]), &session) else { continue };
            assert_eq!(lost(&partition, &next, &session), [0usize; 0], "{name} {earlier}");
            assert!(next.holds(session.turns.len() - 1));
        }
    }
    // In 0.30 a tail of no messages drops the request; in 0.62 the newest message stays.
    let none = [("tail-messages = 20", "tail-messages = 0")];
    let session = plain(3);
    let (_, next) = compacted(&arm("pydantic-harness-0.30", &none), &session).expect("compacted");
    assert!(!next.holds(6));
    let (_, next) = compacted(&arm("pydantic-harness-0.62", &none), &session).expect("compacted");
    assert!(next.holds(6));
}

#[test]
fn retention_by_events_loses_the_request_of_a_tool_loop() {
    // Events kept, and the model call from which on the request is gone.
    for (retention, gone_from) in [(2, 2), (4, 3)] {
        let compactor = arm("adk-2.13-token", &[("tail-messages = 2", &format!("tail-messages = {retention}"))]);
        let held: Vec<bool> = (1..=6)
            .map(|model_call: usize| {
                let session = tool_loop(model_call - 1);
                compacted(&compactor, &session).is_none_or(|(_, next)| next.holds(0))
            })
            .collect();
        assert_eq!(held.iter().position(|held| !held), Some(gone_from - 1), "{retention}");
        assert!(held[gone_from - 1..].iter().all(|held| !held), "{held:?}");
    }
    // The sliding pair never has the current message in its window.
    for calls in 0..6 {
        let session = tool_loop(calls);
        assert!(compacted(&arm("adk-2.13-sliding", &[]), &session).is_none_or(|(_, next)| next.holds(0)));
    }
}

#[test]
fn a_cut_never_parts_a_call_from_its_result() {
    let session = tool_loop(5);
    for keep in 1..10 {
        let compactor = arm("adk-2.13-token", &[("tail-messages = 2", &format!("tail-messages = {keep}"))]);
        let partition = compactor.partition(&session).expect("something is old");
        assert_eq!(session.turns[partition.tail.start].role, Role::Assistant, "{keep}");
        assert!(partition.tail.len() - keep <= 1);
    }
}

#[test]
fn turns_kept_before_a_marker_vanish_a_round_later() {
    // Window 2000, ratio 0.1, one buffered turn: at the third question the first is summarized.
    let changes = [("tail-turns = 4", "tail-turns = 1"), ("most-tokens = 38400", "most-tokens = 200")];
    let asked = plain(2);
    for (name, vanish) in [("lightspeed-2026-08", true), ("lightspeed-covers", false)] {
        let (partition, next) = compacted(&arm(name, &changes), &asked).expect("compacted");
        assert_eq!((partition.old.clone(), partition.tail.clone()), (0..2, 2..5));
        assert!((2..5).all(|turn| next.holds(turn)), "{name}");
        // A marker stands behind what was kept, and the next round starts behind the marker.
        let gone: Vec<usize> = partition.tail.clone().filter(|turn| !next.holds_on(*turn)).collect();
        assert_eq!(gone.is_empty(), !vanish, "{name}: {gone:?}");
        assert!(next.holds_on(4));
        let texts: Vec<String> = next.following().turns.iter().map(|turn| turn.text().into_owned()).collect();
        assert_eq!(texts[0], "Summary of earlier conversation:\nTHE SUMMARY");
        assert_eq!(texts.len(), if vanish { 2 } else { 4 }, "{texts:?}");
    }
}

#[test]
fn a_summary_comes_back_where_the_harness_puts_it() {
    let mut session = plain(30);
    for turn in &mut session.turns {
        // So much that no tail takes in all.
        turn.parts.push(Part::Text("x".repeat(4000)));
    }
    let told = |name: &str| {
        let (_, next) = compacted(&arm(name, &[]), &session).expect("compacted");
        let at = next.from().iter().position(|from| *from == From::Summary).expect("a summary");
        let turn = &next.session().turns[at];
        (turn.role.clone(), turn.text().into_owned(), at)
    };
    let (role, text, at) = told("pydantic-harness-0.30");
    assert_eq!((role, at), (Role::System, 0));
    assert_eq!(text, "Summary of previous conversation:\n\nTHE SUMMARY");
    let (role, text, at) = told("pydantic-harness-0.62");
    assert_eq!((role, at), (Role::User, 1));
    assert!(text.starts_with("<conversation_summary>\n") && text.ends_with("\n</conversation_summary>"));
    assert_eq!(told("adk-2.13-sliding").0, Role::Assistant);
    assert_eq!(told("adk-2.0").1, "For context:\n[model] said: THE SUMMARY");
    let (role, text, at) = told("hermes-main");
    assert_eq!((role, at), (Role::User, 3));
    assert!(text.ends_with("not the summary above ---"));
}

#[test]
fn guards_take_for_a_summary_what_the_harness_takes() {
    let decide =
        |name: &str, ending, earlier| arm(name, &[]).arm().guard.clone().expect("a guard").decide(ending, earlier);
    for name in
        ["adk-2.0", "adk-2.13-sliding", "adk-2.13-token", "pydantic-harness-0.62", "lightspeed-covers", "hermes-0.19"]
    {
        for ending in [Ending::Stop, Ending::Length, Ending::ContentFilter] {
            assert_eq!(decide(name, ending, 0), Decision::Accept, "{name} {}", ending.id());
        }
    }
    assert_eq!(decide("adk-2.13-token", Ending::Empty, 0), Decision::Accept);
    assert_eq!(decide("adk-2.13-token-guarded", Ending::Length, 0), Decision::Refuse(Otherwise::KeepHistory));
    assert_eq!(decide("pydantic-harness-0.30", Ending::Empty, 0), Decision::Retry);
    assert_eq!(decide("pydantic-harness-0.30", Ending::Empty, 1), Decision::Refuse(Otherwise::Fail));
    assert_eq!(decide("hermes-main", Ending::Length, 1), Decision::Refuse(Otherwise::KeepHistory));
}

#[test]
fn a_long_tool_loop_does_not_push_the_request_out() {
    let mut session = plain(5);
    let request = session.turns.len() - 1;
    let mut steps = tool_loop(16).turns.split_off(1);
    for turn in &mut steps {
        turn.parts.push(Part::Text("x".repeat(4000)));
    }
    session.turns.extend(steps);
    let (partition, next) = compacted(&arm("hermes-main", &[]), &session).expect("compacted");
    assert!(next.holds(request) && !partition.old.contains(&request), "{partition:?}");
    // By size alone it would be gone.
    let by_size = arm("hermes-main", &[("request = \"held\"", "request = \"by-size\"")]);
    assert!(!compacted(&by_size, &session).expect("compacted").1.holds(request));
}

#[test]
fn a_head_keeps_the_results_of_its_last_calls() {
    let mut session = plain(2);
    let call = |id: &str| Call { id: id.to_owned(), name: "step".to_owned(), arguments: "{}".to_owned() };
    session.turns[1].calls = vec![call("a"), call("b"), call("c")];
    for (place, id) in ["a", "b", "c"].into_iter().enumerate() {
        let result = Turn { call_id: Some(id.to_owned()), ..Turn::text_of(Role::Tool, "done") };
        session.turns.insert(2 + place, result);
    }
    for _ in 0..20 {
        session.turns.insert(5, Turn::text_of(Role::Assistant, "x".repeat(4000)));
    }
    let partition = arm("hermes-main", &[]).partition(&session).expect("something is old");
    assert_eq!(partition.head, 0..5);
}
