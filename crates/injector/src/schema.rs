//! The JSON Schema of attack files, for editors: `docs/schemas/attack.schema.json`. It is made from the axes, so it
//! lists what this version reads; what values go together only reading the file says.

use laundromat_session::PlantKind;
use serde_json::{Map, Value, json};

use crate::attack::SCHEMA;
use crate::axes::Axis;

/// The schema, as it is committed.
pub fn attack_schema() -> String {
    let kinds: Vec<&str> = PlantKind::ALL.iter().map(|kind| kind.id()).collect();
    let mut properties = json!({
        "schema": { "const": SCHEMA },
        "name": { "type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$" },
        "title": { "type": "string" },
        "kind": { "enum": kinds },
        "paired-with": { "type": "string" },
        "text": { "type": "string" },
        "statement": { "type": "string" },
        "phrases": { "type": "array", "items": { "type": "string" } },
    });
    for axis in Axis::ALL {
        let value = axis_schema(*axis);
        match axis.table() {
            None => properties[axis.id()] = value,
            Some(table) => {
                if properties[table].is_null() {
                    properties[table] = json!({ "type": "object", "properties": {}, "additionalProperties": false });
                }
                properties[table]["properties"][axis.id()] = value;
            }
        }
    }
    properties["place"]["properties"]["filler"] = json!({ "type": "integer", "minimum": 0 });
    let mut root = Map::new();
    root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".to_owned(), json!("Attack or control"));
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), properties);
    root.insert("required".to_owned(), json!(["schema", "name", "title", "kind"]));
    root.insert("additionalProperties".to_owned(), json!(false));
    format!("{:#}\n", Value::Object(root))
}

fn axis_schema(axis: Axis) -> Value {
    match axis {
        Axis::Offset => json!({ "type": "string", "pattern": "^(at-start|at-end|(char|end)-[1-9][0-9]*)$" }),
        Axis::Split => json!({ "type": "string", "pattern": "^(whole|(fragments|clean-split)-[2-5])$" }),
        Axis::Copies => json!({ "type": "string", "pattern": "^(once|times-([2-9]|[12][0-9]|30))$" }),
        _ => json!({ "enum": axis.values() }),
    }
}
