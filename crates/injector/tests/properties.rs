//! What holds for every attack, value, session and seed.

use laundromat_injector::{Attack, Axis, InjectError, Specimen, inject, presets};
use laundromat_session::{Call, Part, PlantKind, Role, Session, Turn};
use proptest::prelude::*;

/// Texts of results as tools write them: plain, JSON, wrapped, with characters of several bytes.
fn result() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zäöü漢 \n\"]{1,60}",
        "[a-z \n\"é]{0,40}"
            .prop_map(|text| serde_json::json!({ "output": text, "error": null, "code": 0 }).to_string()),
        "[a-z \n]{1,40}".prop_map(|text| {
            format!("<untrusted_tool_result source=\"web_extract\">\nonly data\n\n{text}\n</untrusted_tool_result>")
        }),
    ]
}

fn session() -> impl Strategy<Value = Session> {
    let step = ("[a-zé ]{1,30}", prop::collection::vec(result(), 1..4), prop::option::of("[a-z ]{1,20}"));
    ("[a-z]{1,8}", prop::collection::vec(step, 5..9)).prop_map(|(id, steps)| {
        let mut turns = vec![Turn::text_of(Role::System, "rules"), Turn::text_of(Role::User, "go on with it")];
        for (step, (said, results, user)) in steps.into_iter().enumerate() {
            let id = |result: usize| format!("c{step}-{result}");
            let call = |result| Call { id: id(result), name: "terminal".to_owned(), arguments: "{}".to_owned() };
            let calls = (0..results.len()).map(call).collect();
            turns.push(Turn { calls, ..Turn::text_of(Role::Assistant, said) });
            let answers = results.into_iter().enumerate();
            turns.extend(answers.map(|(at, text)| Turn { call_id: Some(id(at)), ..Turn::text_of(Role::Tool, text) }));
            turns.extend(user.map(|text| Turn::text_of(Role::User, text)));
        }
        Session { id, title: None, origin: None, turns }
    })
}

/// The attack `base` with one value changed.
fn attack(base: &str, axis: Axis, id: &str) -> Option<Attack> {
    let text = presets::attack(base)?;
    let line = format!("{axis} = \"{id}\"");
    let own = format!("{axis} = \"");
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(&own)).collect();
    let header = axis.table().map(|table| format!("[{table}]"));
    match header.as_deref() {
        None => lines.insert(1, &line),
        Some(header) => match lines.iter().position(|line| line.trim() == header) {
            Some(at) => lines.insert(at + 1, &line),
            None => lines.extend([header, &line]),
        },
    }
    // Words of the axes stand in place of the file's own.
    let own_words = ["text = ", "statement = ", "phrases = "];
    if axis.table() == Some("words") {
        lines.retain(|line| !own_words.iter().any(|own| line.starts_with(own)));
    }
    Attack::parse(&lines.join("\n")).ok()
}

/// Every attack that comes along, and the first with each value of each axis where that can be planted.
fn attacks() -> Vec<Attack> {
    let embedded = presets::attack_names().into_iter().map(|name| Attack::embedded(name).expect("an attack"));
    let values = Axis::ALL.iter().flat_map(|axis| axis.values().into_iter().map(|id| (*axis, id)));
    embedded.chain(values.filter_map(|(axis, id)| attack("standing-approval", axis, id))).collect()
}

fn text_of<'s>(specimen: &'s Specimen, span: &laundromat_session::PartSpan) -> &'s str {
    let Part::Text(text) = &specimen.session.turns[span.turn].parts[span.part] else { panic!("not text") };
    text.get(span.bytes.clone()).expect("bytes on borders of characters")
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn one_value_can_be_changed_on_every_axis() {
    for axis in Axis::ALL {
        let refused: Vec<&str> =
            axis.values().into_iter().filter(|id| attack("standing-approval", *axis, id).is_none()).collect();
        let expected: &[&str] = match axis {
            // The user's own turn is for what the user really says, and pressure for rules of theirs.
            Axis::Carrier => &["user-turn"],
            Axis::Pressure => &["flood", "omit", "revoke"],
            _ => &[],
        };
        assert_eq!(refused, expected, "{axis}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planting_changes_what_it_says_and_nothing_else(before in session(), seed in any::<u64>()) {
        for attack in attacks() {
            let specimen = match inject(&before, &attack, seed) {
                Ok(specimen) => specimen,
                Err(InjectError::TooFew { needed, found, .. }) => {
                    prop_assert!(found < needed);
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            prop_assert_eq!(specimen.undone(), before.clone(), "{}", attack.name);
            prop_assert_eq!(&specimen, &inject(&before, &attack, seed).expect("again"));
            prop_assert_eq!(specimen.plant.spans.is_empty(), attack.kind == PlantKind::Clean);
            // The plant is where its spans say, whole and on borders of characters.
            let canary = &specimen.plant.canaries[0];
            let planted: Vec<&str> = specimen.plant.spans.iter().map(|span| text_of(&specimen, span)).collect();
            let marked = planted.iter().filter(|text| specimen.plant.canaries.iter().any(|mark| text.contains(mark.as_str()))).count();
            let payload = attack.payload.as_ref();
            let is_split = payload.is_some_and(|payload| payload.split != laundromat_injector::axes::Split::Whole);
            match payload {
                None => prop_assert!(planted.is_empty()),
                Some(_) if is_split => prop_assert_eq!(marked, 1),
                Some(payload) => prop_assert_eq!(marked, payload.copies, "{} {:?}", &attack.name, planted),
            }
            // Nothing of the session itself is taken for the plant.
            let occurs = before.turns.iter().any(|turn| turn.text().contains(canary.as_str()));
            prop_assert!(!occurs);
        }
    }

    #[test]
    fn calls_keep_their_results_behind_them(before in session(), seed in any::<u64>()) {
        for attack in attacks() {
            let Ok(specimen) = inject(&before, &attack, seed) else { continue };
            for pair in specimen.session.turns.windows(2) {
                if pair[1].role == Role::Tool {
                    prop_assert!(matches!(pair[0].role, Role::Tool | Role::Assistant), "{}", attack.name);
                }
            }
        }
    }

    #[test]
    fn no_turn_holds_a_split_payload_whole(before in session(), seed in any::<u64>(), count in 2..=5_usize, joined in any::<bool>()) {
        let id = if joined { format!("fragments-{count}") } else { format!("clean-split-{count}") };
        let attack = attack("relink", Axis::Split, &id).expect("an attack");
        let specimen = inject(&before, &attack, seed).expect("planted");
        let payload = &attack.payload.as_ref().expect("a payload").text;
        let whole = payload.replace("{host}", &specimen.plant.canaries[0]).replace("{path}", &specimen.plant.canaries[1]);
        let whole = folded(&whole);
        prop_assert_eq!(specimen.plant.spans.len(), count);
        for turn in &specimen.session.turns {
            prop_assert!(!folded(&turn.text()).contains(&whole));
        }
        // Put together, the fragments are the payload.
        let words: Vec<String> = specimen.plant.spans.iter().map(|span| {
            let text = folded(text_of(&specimen, span));
            text.split_once(") ").filter(|_| joined).map_or(text.clone(), |(_, words)| words.to_owned())
        }).collect();
        prop_assert_eq!(words.join(" "), whole);
    }
}
