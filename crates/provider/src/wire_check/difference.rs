//! Where two JSON values differ first.

use serde_json::Value;

/// Longest value that is shown.
const SHOWN: usize = 80;

/// Where `got` first differs from `expected`; numbers count by value, so that 0 and 0.0 are the same.
pub fn difference(expected: &Value, got: &Value) -> Option<String> {
    at("", expected, got)
}

fn at(path: &str, expected: &Value, got: &Value) -> Option<String> {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            let missing = expected.keys().find(|key| !got.contains_key(*key));
            if let Some(key) = missing {
                return Some(format!("{} is missing, {} is expected", below(key), shown(&expected[key])));
            }
            if let Some(key) = got.keys().find(|key| !expected.contains_key(*key)) {
                return Some(format!("{} = {} is not expected", below(key), shown(&got[key])));
            }
            expected.iter().find_map(|(key, value)| at(&below(key), value, &got[key]))
        }
        (Value::Array(expected), Value::Array(got)) => {
            let pairs = expected.iter().zip(got).enumerate();
            let inside = pairs.into_iter().find_map(|(index, (a, b))| at(&format!("{path}[{index}]"), a, b));
            let lengths = || {
                let (wanted, had) = (expected.len(), got.len());
                (wanted != had).then(|| format!("{path} has {had} items, {wanted} are expected"))
            };
            inside.or_else(lengths)
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if expected == got => None,
        _ => Some(format!("{path} is {}, {} is expected", shown(got), shown(expected))),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::difference;

    #[test]
    fn the_first_difference_is_named_with_its_place() {
        assert_eq!(difference(&json!({"a": [0, 1]}), &json!({"a": [0.0, 1]})), None);
        assert_eq!(
            difference(&json!({"a": [0, 1]}), &json!({"a": [0]})).as_deref(),
            Some("a has 1 items, 2 are expected")
        );
        assert_eq!(
            difference(&json!({"a": [{"b": "x"}]}), &json!({"a": [{"b": "y"}]})).as_deref(),
            Some("a[0].b is \"y\", \"x\" is expected")
        );
        assert_eq!(difference(&json!({"a": 1}), &json!({})).as_deref(), Some("a is missing, 1 is expected"));
        assert_eq!(difference(&json!({}), &json!({"a": 1})).as_deref(), Some("a = 1 is not expected"));
    }
}
