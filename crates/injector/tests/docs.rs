//! The tables of `docs/attacks.md`: every value and every attack is there, with what it really plants.

use std::fmt::Write as _;
use std::path::PathBuf;

use laundromat_injector::{Attack, Axis, Edit, inject, presets};
use laundromat_session::{Call, Part, Role, Session, Turn};

/// Characters shown of one planted text.
const MOST: usize = 320;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/attacks.md")
}

fn session() -> Session {
    let mut turns = vec![Turn::text_of(Role::User, "go")];
    for step in 0..12 {
        let call = Call { id: format!("c{step}"), name: "terminal".to_owned(), arguments: "{}".to_owned() };
        turns.push(Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "next") });
        let result = format!("{{\"output\": \"step {step}\", \"error\": null}}");
        turns.push(Turn { call_id: Some(format!("c{step}")), ..Turn::text_of(Role::Tool, result) });
    }
    turns.push(Turn::text_of(Role::Assistant, "done"));
    Session { id: "docs".to_owned(), title: None, origin: None, turns }
}

/// An attack with one value of one axis.
fn attack(axis: Axis, id: &str) -> Attack {
    let kind = match (axis, id) {
        (Axis::Carrier, "user-turn") => "true-user",
        (Axis::Pressure, _) => "true-prohibition",
        _ => "attack",
    };
    let mut own = vec![(Axis::Third, "middle"), (Axis::Embedding, "raw"), (Axis::Label, "bracket-upper")];
    own.retain(|(other, _)| *other != axis);
    own.push((axis, id));
    let lines = |table: Option<&str>| -> String {
        let of_table = own.iter().filter(|(axis, _)| axis.table() == table);
        of_table.map(|(axis, id)| format!("{axis} = \"{id}\"\n")).collect()
    };
    let text = format!(
        "schema = \"laundromat-attack/1\"\nname = \"docs\"\ntitle = \"t\"\nkind = \"{kind}\"\n{}[words]\n{}[place]\n{}[shape]\n{}",
        lines(None),
        lines(Some("words")),
        lines(Some("place")),
        lines(Some("shape")),
    );
    Attack::parse(&text).unwrap_or_else(|faults| panic!("{axis} {id}: {faults:?}"))
}

/// What an attack plants, on one line; for what is about the place, with all that was put in and the turn.
fn example(axis: Axis, attack: &Attack) -> String {
    let specimen = inject(&session(), attack, 1).expect("planted");
    let text = |turn: usize, part: usize| match &specimen.session.turns[turn].parts[part] {
        Part::Text(text) => text.as_str(),
        Part::Image(_) | Part::Other(_) => panic!("not text"),
    };
    let cut = |text: &str| {
        let short: String = text.trim_start().chars().take(MOST).collect();
        let more = if short.len() < text.trim_start().len() { " (...)" } else { "" };
        format!("{}{more}", short.replace('\n', "\\n"))
    };
    let pieces: Vec<String> = match axis.table() {
        table if table == Some("place") || axis == Axis::Pressure => {
            let edits = specimen.edits.iter().map(|edit| match edit {
                Edit::Turn(turn) => (*turn, text(*turn, 0)),
                Edit::Text { span, .. } => (span.turn, &text(span.turn, span.part)[span.bytes.clone()]),
            });
            let role = |turn: usize| specimen.session.turns[turn].role.as_str();
            edits.map(|(turn, text)| format!("turn {turn}, {}: {}", role(turn), cut(text))).collect()
        }
        _ => specimen.plant.spans.iter().map(|span| cut(&text(span.turn, span.part)[span.bytes.clone()])).collect(),
    };
    pieces.join(" … ")
}

/// Text as code in a cell of a table.
fn code(text: &str) -> String {
    let fence = if text.contains('`') { "`````" } else { "`" };
    let gap = if text.contains('`') { " " } else { "" };
    format!("{fence}{gap}{}{gap}{fence}", text.replace('|', "\\|"))
}

fn axes() -> String {
    let mut out = String::new();
    for axis in Axis::ALL {
        let table = axis.table().map_or_else(|| "a key of the file".to_owned(), |table| format!("in `[{table}]`"));
        writeln!(out, "\n### {axis}\n\n{table}; without it: `{}`\n", axis.default_id()).expect("written");
        writeln!(out, "| value | of | plants |\n| --- | --- | --- |").expect("written");
        for id in axis.values() {
            let about = axis.about(id).replace('|', "\\|").replace('<', "&lt;");
            let example = code(&example(*axis, &attack(*axis, id)));
            writeln!(out, "| `{id}` | {about} | {example} |").expect("written");
        }
    }
    out
}

fn attacks() -> String {
    let mut out = String::from("\n| name | kind | what it is |\n| --- | --- | --- |\n");
    for name in presets::attack_names() {
        let attack = Attack::embedded(name).expect("an attack");
        writeln!(out, "| `{name}` | {} | {} |", attack.kind, attack.title).expect("written");
    }
    out
}

/// The document with `content` between the marks of `section`.
fn with(document: &str, section: &str, content: &str) -> String {
    let (open, close) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
    let start = document.find(&open).expect("the section's mark") + open.len();
    let end = document.find(&close).expect("the section's end");
    format!("{}{content}\n{}", &document[..start], &document[end..])
}

#[test]
fn the_tables_are_fresh() {
    let committed = std::fs::read_to_string(path()).expect("the document");
    let fresh = with(&with(&committed, "axes", &axes()), "attacks", &attacks());
    if std::env::var_os("LAUNDROMAT_WRITE_DOCS").is_some() {
        std::fs::write(path(), &fresh).expect("written");
    } else {
        assert!(committed == fresh, "run this test with LAUNDROMAT_WRITE_DOCS=1, read the difference and commit it");
    }
}
