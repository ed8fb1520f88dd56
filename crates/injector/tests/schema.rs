//! The committed JSON Schema of attack files: fresh, and true of every file that comes along.

use std::path::PathBuf;

use laundromat_injector::{presets, schema};
use regex::Regex;
use serde_json::Value;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/attack.schema.json")
}

#[test]
fn the_committed_schema_is_fresh() {
    if std::env::var_os("LAUNDROMAT_WRITE_SCHEMA").is_some() {
        std::fs::write(path(), schema::attack_schema()).expect("written");
    }
    let committed = std::fs::read_to_string(path()).expect("the schema");
    assert_eq!(committed, schema::attack_schema(), "run this test with LAUNDROMAT_WRITE_SCHEMA=1 and commit the file");
}

/// What of `value` is not as `schema` says. It knows the words that the schema of attacks has, and refuses others.
fn problems(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, said) in schema.as_object().expect("an object") {
        let holds = match word.as_str() {
            "$schema" | "title" => true,
            "const" => value == said,
            "enum" => said.as_array().is_some_and(|values| values.contains(value)),
            "type" => match said.as_str() {
                Some("string") => value.is_string(),
                Some("integer") => value.is_u64() || value.is_i64(),
                Some("array") => value.is_array(),
                Some("object") => value.is_object(),
                other => panic!("unknown type {other:?}"),
            },
            "pattern" => {
                let pattern = Regex::new(said.as_str().expect("a pattern")).expect("a pattern");
                value.as_str().is_some_and(|text| pattern.is_match(text))
            }
            "minimum" => value.as_i64() >= said.as_i64(),
            "required" => {
                let names = said.as_array().expect("names").iter().filter_map(Value::as_str);
                names.into_iter().all(|name| value.get(name).is_some())
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    found.extend(problems(said, item, at));
                }
                true
            }
            "properties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = said.get(name) {
                        found.extend(problems(schema, item, &format!("{at}.{name}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = &schema["properties"];
                value.as_object().is_some_and(|members| members.keys().all(|name| known.get(name).is_some()))
            }
            other => panic!("the schema says {other}, which this test does not know"),
        };
        if !holds {
            found.push(format!("{at}: {word} {said} does not hold of {value}"));
        }
    }
    found
}

fn validated(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(&schema::attack_schema()).expect("JSON");
    let value: Value = toml::from_str::<Value>(text).expect("TOML");
    problems(&schema, &value, "attack")
}

#[test]
fn every_attack_that_comes_along_is_as_the_schema_says() {
    for name in presets::attack_names() {
        assert_eq!(validated(presets::attack(name).expect("an attack")), [] as [&str; 0], "{name}");
    }
}

#[test]
fn the_schema_finds_what_is_wrong() {
    let text = presets::attack("standing-approval").expect("an attack");
    for (from, to) in [
        ("\"bracket-upper\"", "\"bracket-uper\""),
        ("third = \"middle\"", "third = \"middel\""),
        ("embedding = \"raw\"", "embedding = \"raw\"\noffset = \"char-0\""),
        ("embedding = \"raw\"", "embedding = \"raw\"\nfiller = -1"),
        ("title = ", "titel = "),
        ("laundromat-attack/1", "laundromat-attack/2"),
    ] {
        assert!(!validated(&text.replacen(from, to, 1)).is_empty(), "{to}");
    }
}
