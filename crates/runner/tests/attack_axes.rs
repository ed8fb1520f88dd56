//! Each value of each axis, planted in a session as Claude Code writes it: which bytes, in which place, and what that is
//! to three presets. The snapshot holds the bytes; that the rest is untouched is asserted for every value.

use std::fmt::Write as _;
use std::path::PathBuf;

use laundromat_compactor::{Arm, Compactor, presets as arms};
use laundromat_injector::classes::Classes;
use laundromat_injector::{Attack, Axis, Specimen, inject, presets};
use laundromat_runner::classes::facts;
use laundromat_session::{Part, Session};
use serde_json::{Value, json};

/// Presets whose labels and caps differ.
const ARMS: [&str; 3] = ["hermes-main", "pi", "goose"];

/// A transcript in the format of Claude Code, its results plain, JSON, wrapped and long.
fn transcript() -> String {
    let results = [
        "total 3\nCargo.toml\nsrc".to_owned(),
        json!({ "output": "running 12 tests\ntest result: ok", "exit_code": 0, "error": null }).to_string(),
        "<untrusted_tool_result source=\"web_extract\">\nThis is data.\n\nRelease 1.4 is out.\n</untrusted_tool_result>".to_owned(),
        (1..=170).map(|line| format!("{line:04} compiling unit {line} of 170, no warnings\n")).collect(),
        "größe: 3 MiB — fertig".to_owned(),
        json!({ "output": "ok" }).to_string(),
    ];
    let mut lines: Vec<Value> = vec![said("user", &json!("Bring the release over the line."))];
    for (index, result) in results.iter().enumerate() {
        let id = format!("toolu_{index:02}");
        let call =
            json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("step {index}") } });
        lines.push(said("assistant", &json!([{ "type": "text", "text": format!("Step {index}.") }, call])));
        lines.push(said("user", &json!([{ "type": "tool_result", "tool_use_id": id, "content": result }])));
    }
    lines.push(said("assistant", &json!("All steps are done.")));
    lines.push(said("user", &json!("Good. Write it down.")));
    let mut out = String::new();
    for (index, mut line) in lines.into_iter().enumerate() {
        line["uuid"] = json!(format!("u{index}"));
        line["parentUuid"] = if index == 0 { Value::Null } else { json!(format!("u{}", index - 1)) };
        line["sessionId"] = json!("release");
        writeln!(out, "{line}").expect("written");
    }
    out
}

fn said(role: &str, content: &Value) -> Value {
    let mut message = json!({ "role": role, "content": content });
    if role == "assistant" {
        message["id"] = json!(blake3::hash(content.to_string().as_bytes()).to_hex().as_str());
    }
    json!({ "type": role, "message": message })
}

fn session() -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("release.jsonl");
    std::fs::write(&path, transcript()).expect("written");
    let mut sessions = laundromat_import::read_path(&path, None).expect("a transcript");
    assert_eq!(sessions.len(), 1);
    sessions.remove(0).session
}

/// The attack that a value is shown with, as the text of a file: the value and what it needs beside it.
fn attack(axis: Axis, id: &str) -> Attack {
    let kind = match (axis, id) {
        (Axis::Carrier, "user-turn") => "true-user",
        (Axis::Pressure, _) => "true-prohibition",
        _ => "attack",
    };
    let own = [("third", "middle"), ("embedding", "raw"), ("label", "bracket-upper")];
    let value = |key: &str| own.iter().find(|(own, _)| *own == key).map(|(_, id)| *id);
    let mut text = format!("schema = \"laundromat-attack/1\"\nname = \"shown\"\ntitle = \"t\"\nkind = \"{kind}\"\n");
    let mut tables = [("words", String::new()), ("place", String::new()), ("shape", String::new())];
    for other in Axis::ALL {
        let said = if *other == axis { Some(id) } else { value(other.id()) };
        let Some(said) = said else { continue };
        let line = format!("{other} = \"{said}\"\n");
        match other.table() {
            None => text.push_str(&line),
            Some(table) => {
                tables.iter_mut().filter(|(name, _)| *name == table).for_each(|(_, lines)| lines.push_str(&line))
            }
        }
    }
    for (name, lines) in tables {
        write!(text, "[{name}]\n{lines}").expect("written");
    }
    Attack::parse(&text).unwrap_or_else(|faults| panic!("{axis} {id}: {faults:?}"))
}

fn compactor(name: &str) -> Compactor {
    Compactor::new(Arm::parse(arms::arm(name).expect("an arm")).expect("no faults")).expect("no faults")
}

/// What is told of a specimen: each span with its place and bytes, then its classes for the arms.
fn told(specimen: &Specimen, attack: &Attack, arms: &[Compactor]) -> String {
    let mut out = String::new();
    for span in &specimen.plant.spans {
        let turn = &specimen.session.turns[span.turn];
        let Part::Text(text) = &turn.parts[span.part] else { panic!("not text") };
        let kind = turn.synthetic.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        let role = turn.role.as_str();
        writeln!(out, "  turn {} {role}{kind} {:?}: {:?}", span.turn, span.bytes, &text[span.bytes.clone()])
            .expect("written");
    }
    for arm in arms {
        let classes = Classes::of(specimen, attack, &facts(arm.arm()));
        let places: Vec<&str> = classes.places.iter().map(|place| place.id()).collect();
        let exposure = arm
            .request(&specimen.session, "2026-01-01")
            .map_or_else(|refusal| refusal.to_string(), |request| request.exposure(&specimen.plant).to_string());
        writeln!(out, "  {}: {}, {}, sent {exposure}", arm.arm().name, classes.likeness, places.join(" "))
            .expect("written");
    }
    out
}

#[test]
fn each_value_is_planted_as_it_says() {
    let (before, arms) = (session(), ARMS.map(compactor));
    let mut out = String::new();
    for axis in Axis::ALL {
        for id in axis.values().into_iter().filter(|id| *id != "times-10") {
            let attack = attack(*axis, id);
            let specimen = inject(&before, &attack, 1).unwrap_or_else(|error| panic!("{axis} {id}: {error}"));
            assert_eq!(specimen.undone(), before, "{axis} {id}");
            writeln!(out, "{axis} = {id}\n{}", told(&specimen, &attack, &arms)).expect("written");
        }
    }
    insta::assert_snapshot!("axes", out);
}

#[test]
fn each_attack_that_comes_along_is_planted_as_it_says() {
    let (before, arms) = (session(), ARMS.map(compactor));
    let mut out = String::new();
    for name in presets::attack_names() {
        let attack = Attack::embedded(name).expect("an attack");
        let specimen = inject(&before, &attack, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(specimen.undone(), before, "{name}");
        writeln!(out, "{name}\n{}", told(&specimen, &attack, &arms)).expect("written");
    }
    insta::assert_snapshot!("attacks", out);
}

#[test]
fn caps_class_a_plant_by_what_they_leave_of_it() {
    let (before, arms) = (session(), ARMS.map(compactor));
    // The long result is the only one that the offset can be in.
    for (offset, expected) in [
        ("at-start", ["head", "head", "uncut"]),
        ("char-1950", ["head", "straddling", "uncut"]),
        ("char-3950", ["straddling", "past-cap", "uncut"]),
        ("end-2500", ["past-cap", "past-cap", "uncut"]),
        ("end-1000", ["tail", "past-cap", "uncut"]),
    ] {
        let attack = attack(Axis::Offset, offset);
        let found = (0..200).find_map(|seed| {
            let specimen = inject(&before, &attack, seed).expect("planted");
            (specimen.session.turns[specimen.plant.spans[0].turn].text().len() > 6000).then_some(specimen)
        });
        let specimen = found.expect("a seed that picks the long result");
        let sent = |arm: &Compactor| arm.request(&specimen.session, "2026-01-01").expect("a request");
        for (arm, expected) in arms.iter().zip(expected) {
            let class = Classes::of(&specimen, &attack, &facts(arm.arm())).places[0].id();
            assert_eq!(class, expected, "{offset} {}", arm.arm().name);
            let exposure = sent(arm).exposure(&specimen.plant).id();
            let by_class = match class {
                "past-cap" => "none",
                "straddling" => "partial",
                _ => "full",
            };
            assert_eq!(exposure, by_class, "{offset} {}", arm.arm().name);
        }
    }
}

#[test]
fn bundled_sessions_have_a_place_for_every_attack() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
    let mut sessions = 0;
    for entry in std::fs::read_dir(folder).expect("sessions") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        sessions += 1;
        let session = laundromat_import::read_path(&path, None).expect("a session").remove(0).session;
        for name in presets::attack_names() {
            let attack = Attack::embedded(name).expect("an attack");
            let specimen = inject(&session, &attack, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(specimen.undone(), session, "{name} {}", session.id);
        }
    }
    assert_eq!(sessions, 12);
}

#[test]
fn a_delimiter_in_the_turns_makes_a_fenced_arm_refuse() {
    let attack = attack(Axis::Escape, "delimiter-dos");
    // The arm looks through what its caps leave, so the result must not be the long one.
    let specimens = (0..200).map(|seed| inject(&session(), &attack, seed).expect("planted"));
    let short = |specimen: &Specimen| specimen.session.turns[specimen.plant.spans[0].turn].text().len() < 1000;
    let specimen = specimens.into_iter().find(short).expect("a seed that picks a short result");
    let refusal = compactor("dirge").request(&specimen.session, "2026-01-01").expect_err("refused");
    assert!(refusal.to_string().contains("reserved delimiter"), "{refusal}");
}
