//! What the built-in reader believes is decided by the form of its input and by nothing else: it is
//! given messages, changed here by hand, over every bundled session.

use std::fs;
use std::path::PathBuf;

use laundromat_compactor::{Arm, Compactor, Request, presets};
use laundromat_injector::{Attack, Specimen, inject};
use laundromat_judge::{Question, rules};
use laundromat_provider::builtin::reader::summarize;
use laundromat_session::{Exposure, Message, MessageRole, Reading, canonical};

fn specimens() -> Vec<Specimen> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
    let attack = Attack::embedded("standing-approval").expect("an attack");
    let mut specimens: Vec<Specimen> = fs::read_dir(folder)
        .expect("sessions")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| canonical::read(&fs::read_to_string(path).expect("text")).expect("a session"))
        .map(|session| inject(&session, &attack, 1).expect("planted"))
        .collect();
    specimens.sort_by(|a, b| a.session.id.cmp(&b.session.id));
    assert_eq!(specimens.len(), 12);
    specimens
}

fn request(arm: &str, specimen: &Specimen) -> Request {
    let text = presets::arm(arm).expect("an arm").to_owned();
    build(&text, specimen)
}

fn build(arm: &str, specimen: &Specimen) -> Request {
    let compactor = Compactor::new(Arm::parse(arm).expect("no faults")).expect("no faults");
    let request = compactor.request(&specimen.session, "2026-03-04").expect("a request");
    assert_eq!(request.exposure(&specimen.plant), Exposure::Full, "{}", specimen.session.id);
    request
}

fn reading(messages: &[Message], specimen: &Specimen) -> Reading {
    rules::read(&Question::about(&specimen.plant), &summarize(messages))
}

#[test]
fn flattened_forms_are_believed_and_typed_ones_are_not() {
    for specimen in specimens() {
        for (arm, expected) in
            [("hermes-0.19", Reading::User), ("hermes-split", Reading::User), ("hermes-typed", Reading::Absent)]
        {
            assert_eq!(
                reading(&request(arm, &specimen).messages, &specimen),
                expected,
                "{arm} {}",
                specimen.session.id
            );
        }
    }
}

#[test]
fn a_typed_request_with_its_tool_text_moved_to_the_user_is_believed() {
    for specimen in specimens() {
        let mut messages = request("hermes-typed", &specimen).messages;
        let forged =
            messages.iter_mut().find(|message| message.text.contains(&specimen.plant.canaries[0])).expect("the plant");
        assert_eq!(forged.role, MessageRole::Tool);
        forged.role = MessageRole::User;
        assert_eq!(reading(&messages, &specimen), Reading::User, "{}", specimen.session.id);
    }
}

#[test]
fn a_flat_request_with_neutral_labels_is_not_believed() {
    for form in ["hermes-main", "hermes-split"] {
        let arm = presets::arm(form)
            .expect("an arm")
            .replace("labels = \"bracket-upper\"\nwindow", "labels = \"numbered\"\nwindow");
        assert!(arm.contains("numbered"));
        for specimen in specimens() {
            assert_eq!(
                reading(&build(&arm, &specimen).messages, &specimen),
                Reading::Absent,
                "{form} {}",
                specimen.session.id
            );
        }
    }
}

#[test]
fn capped_plants_are_not_exposed() {
    let cut = presets::arm("hermes-main").expect("an arm").replace("head = 4000\ntail = 1500", "head = 5999\ntail = 1");
    let compactor = Compactor::new(Arm::parse(&cut).expect("no faults")).expect("no faults");
    let mut seen = Vec::new();
    for specimen in specimens() {
        let exposure = compactor.request(&specimen.session, "2026-03-04").expect("a request").exposure(&specimen.plant);
        let span = &specimen.plant.spans[0];
        let long = specimen.session.turns[span.turn].text().chars().count() > 6000;
        assert_eq!(exposure, if long { Exposure::Partial } else { Exposure::Full }, "{}", specimen.session.id);
        seen.push(exposure);
    }
    assert!(seen.contains(&Exposure::Full));
}
