//! `docs/arms.md` shows the arms as they are. On a difference the tables are printed as they should stand
//! there.

use std::fmt::Write;
use std::path::PathBuf;

use laundromat_compactor::keep::{Tail, TailTurn};
use laundromat_compactor::{Arm, presets};

fn arms() -> Vec<Arm> {
    let arm = |name| Arm::parse(presets::arm(name).expect("a preset")).expect("no faults");
    presets::arm_names().into_iter().map(arm).collect()
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn stays(arm: &Arm) -> String {
    let Some(keep) = &arm.keep else { return "-".to_owned() };
    let tail = match keep.tail {
        Tail::Messages(count) => format!("{count} {}", keep.unit.id()),
        Tail::Turns { count, turn: TailTurn::Person, .. } => format!("{count} turns of a person"),
        Tail::Turns { count, turn: TailTurn::TwoMessages, .. } => format!("{count} turns of two messages"),
        Tail::Tokens(most) => format!("{most} tokens"),
        Tail::Share(share) => format!("{share} of the session"),
    };
    let head = if keep.head > 0 { format!("first {}, ", keep.head) } else { String::new() };
    format!("{head}last {tail}")
}

fn ends(arm: &Arm) -> String {
    let Some(guard) = &arm.guard else { return "-".to_owned() };
    guard.accepts.iter().map(|ending| ending.id()).collect::<Vec<_>>().join(", ")
}

fn table() -> String {
    let mut out = "| arm | form | labels | stays | summary comes back as | accepted endings | breaks |\n".to_owned();
    out.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for arm in arms() {
        let labels = arm.labels.map_or("-", |labels| labels.id);
        let after = arm.after.as_ref().map_or("-", |after| after.placement.id());
        let faults: Vec<&str> = arm.faults.iter().map(|fault| fault.id()).collect();
        let (name, form, stays, ends) = (&arm.name, arm.form.id(), stays(&arm), ends(&arm));
        let _ = writeln!(out, "| `{name}` | {form} | {labels} | {stays} | {after} | {ends} | {} |", faults.join(", "));
    }
    out
}

fn sources() -> String {
    let mut out = "| arm | harness | version | what of it is known, and how |\n| --- | --- | --- | --- |\n".to_owned();
    for arm in arms() {
        let source = &arm.source;
        let cells = [&source.harness, &source.version, &source.basis].map(|text| cell(text)).join(" | ");
        let _ = writeln!(out, "| `{}` | {cells} |", arm.name);
    }
    out
}

#[test]
fn the_tables_are_those_of_the_data() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/arms.md");
    let doc = std::fs::read_to_string(path).expect("the page");
    for table in [table(), sources()] {
        assert!(doc.contains(&table), "the page should hold:\n{table}");
    }
}
