//! Every case of the reference file, through the same table that serves files of this shape.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use laundromat_metrics::golden;
use serde_json::Value;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/stats_golden.json");

fn file() -> Value {
    let text = fs::read_to_string(FILE).expect("the reference file is committed");
    serde_json::from_str(&text).expect("the reference file is JSON")
}

fn cases(file: &Value) -> &[Value] {
    file["cases"].as_array().expect("cases")
}

#[test]
fn every_case_is_reproduced() {
    let file = file();
    let mut failures = Vec::new();
    let mut per_function: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases(&file) {
        let (id, name) = (case["id"].as_str().expect("id"), case["fn"].as_str().expect("fn"));
        *per_function.entry(name).or_default() += 1;
        let result = golden::evaluate(name, &case["input"], &file["fixture"]);
        let tolerance = case["tol"].as_f64().expect("tol");
        if let Err(mismatch) = golden::compare(&case["expect"], &result, tolerance) {
            failures.push(format!("{id}: {mismatch}"));
        }
    }
    let total: usize = per_function.values().sum();
    println!("{total} cases of {} statistics, {} failures", per_function.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(total >= 296, "the reference file has lost cases: {total}");
}

#[test]
fn every_statistic_has_an_evaluator_and_a_case() {
    let file = file();
    let wanted: BTreeSet<&str> = cases(&file).iter().map(|c| c["fn"].as_str().expect("fn")).collect();
    let known: BTreeSet<&str> = golden::functions().collect();
    assert_eq!(wanted, known);
}

#[test]
fn error_codes_are_those_of_the_file() {
    let file = file();
    let codes: BTreeSet<&str> =
        file["error_codes"].as_array().expect("codes").iter().map(|c| c.as_str().expect("code")).collect();
    for case in cases(&file) {
        if let Some(code) = case["expect"].get("error") {
            assert!(codes.contains(code.as_str().expect("code")), "{}", case["id"]);
        }
    }
}

#[test]
fn no_result_holds_a_null() {
    // serde_json writes NaN and infinity as null.
    let file = file();
    for case in cases(&file) {
        let name = case["fn"].as_str().expect("fn");
        if let Ok(value) = golden::evaluate(name, &case["input"], &file["fixture"]) {
            assert!(!value.to_string().contains("null"), "{}: {value}", case["id"]);
        }
    }
}
