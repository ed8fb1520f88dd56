//! What is exported comes back as it was, as far as the format can hold it. A format that has no reader yet is
//! skipped by name.

use laundromat_import::order::results_after_calls;
use laundromat_import::{Input, Losses, Target, export, format_of, read};
use laundromat_session::{Call, Part, Role, Session, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What is left of a session in a format, written down again from what the formats have.
fn held(session: &Session, target: Target) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut opening = true;
    for turn in &session.turns {
        if matches!(turn.role, Role::Marker(_) | Role::Other(_)) {
            continue;
        }
        let is = |role: Role| turn.role == role;
        let mut left = Turn {
            parts: parts(turn, target),
            calls: turn
                .calls
                .iter()
                .map(|call| Call { arguments: arguments(&call.arguments, target), ..call.clone() })
                .collect(),
            call_id: turn.call_id.clone(),
            is_error: turn.is_error && matches!(target, Target::AnthropicMessages | Target::InspectEval),
            reasoning: turn.reasoning.clone().filter(|text| !text.is_empty() && is(Role::Assistant)),
            ..Turn::text_of(turn.role.clone(), "")
        };
        if is(Role::Tool) && target == Target::OpenAiChat {
            left.call_id.get_or_insert_with(String::new);
        }
        if target == Target::Atif {
            left.ts = turn.ts.clone().filter(|ts| ts.starts_with("2026-"));
            let step = turns.iter().rev().find(|turn| turn.role != Role::Tool);
            match step.filter(|step| step.role == Role::Assistant).map(|step| step.ts.clone()) {
                Some(ts) if is(Role::Tool) => left.ts = ts,
                None if is(Role::Tool) => {
                    left.ts = None;
                    turns.push(Turn::text_of(Role::Assistant, ""));
                }
                _ => {}
            }
        }
        match turns.last_mut() {
            Some(before) if target == Target::AnthropicMessages && opening && is(Role::System) => {
                before.parts = vec![Part::Text(format!("{}\n{}", before.text(), left.text()))];
            }
            _ => turns.push(left),
        }
        opening &= is(Role::System);
    }
    results_after_calls(turns, &mut Losses::default())
}

fn parts(turn: &Turn, target: Target) -> Vec<Part> {
    let images = match target {
        Target::OpenAiChat => turn.role == Role::User,
        Target::AnthropicMessages => matches!(turn.role, Role::User | Role::Tool),
        Target::Atif => false,
        Target::InspectEval => true,
    };
    let mut left: Vec<Part> = Vec::new();
    for part in &turn.parts {
        match (part, left.last_mut()) {
            (Part::Text(text), Some(Part::Text(before))) => *before = format!("{before}\n{text}"),
            (Part::Text(_), _) => left.push(part.clone()),
            (Part::Image(Some(_)), _) if images => left.push(part.clone()),
            (Part::Image(_) | Part::Other(_), _) => {}
        }
    }
    let thinks = turn.role == Role::Assistant && turn.reasoning.as_deref().is_some_and(|text| !text.is_empty());
    let silent = match target {
        Target::OpenAiChat => turn.parts.is_empty() && !turn.calls.is_empty(),
        Target::AnthropicMessages => {
            let text = left.iter().all(|part| *part == Part::Text(String::new()));
            if text && turn.role == Role::Assistant && (thinks || !turn.calls.is_empty()) {
                return Vec::new();
            }
            false
        }
        Target::Atif => false,
        Target::InspectEval => thinks,
    };
    if left.is_empty() && !silent {
        left.push(Part::Text(String::new()));
    }
    left
}

fn arguments(text: &str, target: Target) -> String {
    if target == Target::OpenAiChat {
        return text.to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => value.to_string(),
        Ok(value) => json!({"_value": value}).to_string(),
        Err(_) if text.trim().is_empty() => "{}".to_owned(),
        Err(_) => json!({"_raw": text}).to_string(),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just("\u{0}\u{2028}\u{85}\r\n\"\\".to_owned()), Just(String::new())]
}

fn part() -> impl Strategy<Value = Part> {
    let address =
        prop_oneof![Just("https://a.example/b.png".to_owned()), Just("data:image/png;base64,AA==".to_owned())];
    prop_oneof![
        4 => text().prop_map(Part::Text),
        1 => address.prop_map(|address| Part::Image(Some(address))),
        1 => Just(Part::Image(None)),
        1 => Just(Part::Other("file".to_owned())),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let arguments =
        prop::sample::select(vec![r#"{"a": 1,  "b":"x\ny"}"#, "{}", "", "[1, 2]", "12", "{\"a\":", "*** patch"]);
    ("[a-c]", "[a-z_]{1,8}", arguments).prop_map(|(id, name, text)| Call { id, name, arguments: text.to_owned() })
}

prop_compose! {
    fn turn()(
        role in prop::sample::select(vec![
            Role::System, Role::User, Role::User, Role::Assistant, Role::Assistant, Role::Tool, Role::Tool,
            Role::Marker("compact_boundary".to_owned()), Role::Other("critic".to_owned()),
        ]),
        parts in proptest::collection::vec(part(), 0..4),
        calls in proptest::collection::vec(call(), 0..3),
        call_id in proptest::option::of("[a-d]"),
        is_error in any::<bool>(),
        synthetic in proptest::option::of(Just("meta".to_owned())),
        ts in proptest::option::of(prop::sample::select(vec!["2026-01-05T10:00:00Z", "1767607200"])),
        reasoning in proptest::option::of(text()),
    ) -> Turn {
        Turn {
            calls: if role == Role::Assistant { calls } else { Vec::new() },
            call_id: call_id.filter(|_| role == Role::Tool),
            is_error: is_error && role == Role::Tool,
            synthetic: synthetic.filter(|_| role == Role::User),
            ts: ts.map(str::to_owned),
            reasoning, parts, images: 0, source: None, role,
        }
    }
}

fn session() -> impl Strategy<Value = Session> {
    proptest::collection::vec(turn(), 0..8).prop_map(|mut turns| {
        // A session of other programs begins with someone's words.
        turns.insert(0, Turn::text_of(Role::User, "go"));
        Session { id: "s-1".to_owned(), title: Some("t".to_owned()), origin: Some("constructed".to_owned()), turns }
    })
}

/// The session after a way out and back.
fn there_and_back(session: &Session, target: Target) -> Session {
    let exported = export(session, target).expect("exports");
    assert_eq!(export(session, target).expect("exports"), exported, "the same bytes each time");
    let input = Input::bytes(format!("x.{}", target.id()), exported.bytes);
    // Without tools and a system text, Anthropic's messages and Chat's are the same.
    let is_plain = target == Target::AnthropicMessages && !has_signs(session);
    let mut imported = read(&input, is_plain.then_some(target.id())).expect("reads");
    assert_eq!(imported.len(), 1);
    let mut session = imported.remove(0).session;
    assert_eq!(session.origin.as_deref(), Some(target.id()), "known by its content");
    for turn in &mut session.turns {
        turn.source = None;
    }
    session
}

fn has_signs(session: &Session) -> bool {
    session.turns.iter().any(|turn| !turn.calls.is_empty() || turn.role == Role::Tool)
}

fn has_reader(target: Target) -> bool {
    let there = format_of(target.id()).is_ok();
    if !there {
        println!("skipped: no reader of {} yet", target.id());
    }
    there
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_format_holds_comes_back(session in session()) {
        for target in Target::ALL.iter().copied().filter(|target| has_reader(*target)) {
            let back = there_and_back(&session, target);
            prop_assert_eq!(&back.turns, &held(&session, target), "{}", target.id());
            if target == Target::OpenAiChat {
                prop_assert_eq!((&back.id, &back.title), (&session.id, &session.title));
            }
            if target == Target::Atif {
                prop_assert_eq!(&back.id, &session.id);
            }
        }
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let call = Call { id: "c".to_owned(), name: "f".to_owned(), arguments: "*** patch".to_owned() };
    let failed = Turn { call_id: Some("c".to_owned()), is_error: true, ..Turn::text_of(Role::Tool, "no") };
    let mut said = Turn::text_of(Role::User, "go");
    said.synthetic = Some("meta".to_owned());
    said.ts = Some("1767607200".to_owned());
    said.parts.extend([Part::Image(None), Part::Other("file".to_owned())]);
    let turns = vec![
        said,
        Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "") },
        failed,
        Turn::text_of(Role::Marker("compact_boundary".to_owned()), ""),
        Turn::text_of(Role::Other("critic".to_owned()), "hm"),
    ];
    let session = Session { id: "s".to_owned(), title: None, origin: None, turns };
    let counts = |target| {
        let left_out = export(&session, target).expect("exports").left_out;
        left_out.0.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    };
    let common = "1 images, 1 markers, 1 marks of failed results, 1 marks of synthetic turns, 1 parts of other kinds";
    assert_eq!(counts(Target::OpenAiChat), format!("{common}, 1 times, 1 turns of an unknown role"));
    assert_eq!(
        counts(Target::Atif),
        format!(
            "1 arguments that are no object, put into one, {common}, 1 times that are not ISO 8601, \
             1 turns of an unknown role"
        )
    );
    let kept = common.replace("1 marks of failed results, ", "");
    for target in [Target::AnthropicMessages, Target::InspectEval] {
        assert_eq!(
            counts(target),
            format!("1 arguments that are no object, put into one, {kept}, 1 times, 1 turns of an unknown role")
        );
    }
}

#[test]
fn an_anthropic_request_has_results_in_the_user_role() {
    let call = |id: &str| Call { id: id.to_owned(), name: "read".to_owned(), arguments: "{\"p\":1}".to_owned() };
    let result = |id: &str| Turn { call_id: Some(id.to_owned()), ..Turn::text_of(Role::Tool, "r") };
    let turns = vec![
        Turn::text_of(Role::System, "Be brief."),
        Turn::text_of(Role::User, "go"),
        Turn {
            calls: vec![call("1"), call("2")],
            reasoning: Some("hm".to_owned()),
            ..Turn::text_of(Role::Assistant, "")
        },
        result("1"),
        Turn { is_error: true, ..result("2") },
        Turn::text_of(Role::Assistant, "done"),
    ];
    let session = Session { id: "s".to_owned(), title: None, origin: None, turns };
    let exported = export(&session, Target::AnthropicMessages).expect("exports");
    let body: Value = serde_json::from_slice(&exported.bytes).expect("JSON");
    assert_eq!(
        body,
        json!({"id": "s", "system": [{"type": "text", "text": "Be brief."}], "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": ""},
                {"type": "tool_use", "id": "1", "name": "read", "input": {"p": 1}},
                {"type": "tool_use", "id": "2", "name": "read", "input": {"p": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "r"},
                {"type": "tool_result", "tool_use_id": "2", "content": "r", "is_error": true},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ]})
    );
    assert!(exported.left_out.0.is_empty());
}
