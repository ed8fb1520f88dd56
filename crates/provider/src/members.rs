//! Members of a provider's JSON. What is null, empty or missing is nothing; what is of another type
//! than it should be is a fault that names the member: a reply is never read on a guess.

use serde_json::{Map, Value};

/// The most tokens that are believed of a call: sums over millions of calls stay far from the end of a number.
const MOST_TOKENS: f64 = 1e12;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// A member that is of another type than it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is {found} where {wanted} belongs")]
pub(crate) struct Shape {
    name: &'static str,
    wanted: &'static str,
    found: &'static str,
}

impl Shape {
    fn new(name: &'static str, wanted: &'static str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Self { name, wanted, found }
    }
}

/// Whether a value says anything: providers write null, `false`, 0, `""`, `[]` and `{}` for nothing.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// A value as text: strings as they are, everything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `value` as an object.
pub(crate) fn object<'a>(name: &'static str, value: &'a Value) -> Result<&'a Object, Shape> {
    value.as_object().ok_or_else(|| Shape::new(name, "an object", value))
}

/// Reading the members of an object.
pub(crate) trait Members {
    /// The member, where it says something.
    fn said(&self, name: &str) -> Option<&Value>;
    /// An object.
    fn object(&self, name: &'static str) -> Result<Option<&Object>, Shape>;
    /// An object that has to be there.
    fn needed(&self, name: &'static str) -> Result<&Object, Shape>;
    /// A list; empty where there is none.
    fn list(&self, name: &'static str) -> Result<&[Value], Shape>;
    /// A list of objects.
    fn objects(&self, name: &'static str) -> Result<Vec<&Object>, Shape>;
    /// A text; empty where there is none.
    fn text(&self, name: &'static str) -> Result<&str, Shape>;
    /// A reason: a word of the provider's, which may be any. One that is no string is kept as JSON.
    fn reason(&self, name: &'static str) -> Result<Option<String>, Shape>;
    /// A text whose absence harms nothing: anything but a string is none.
    fn label(&self, name: &str) -> Option<&str>;
    /// A count of tokens; some providers send strings, floats or null. More than a call can use is no count.
    fn count(&self, name: &str) -> Option<u64>;
}

impl Members for Object {
    fn said(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| says_something(value))
    }

    fn object(&self, name: &'static str) -> Result<Option<&Object>, Shape> {
        self.said(name).map(|value| object(name, value)).transpose()
    }

    fn needed(&self, name: &'static str) -> Result<&Object, Shape> {
        object(name, self.get(name).unwrap_or(&Value::Null))
    }

    fn list(&self, name: &'static str) -> Result<&[Value], Shape> {
        match self.said(name) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(value) => Err(Shape::new(name, "a list", value)),
        }
    }

    fn objects(&self, name: &'static str) -> Result<Vec<&Object>, Shape> {
        self.list(name)?.iter().map(|value| object(name, value)).collect()
    }

    fn text(&self, name: &'static str) -> Result<&str, Shape> {
        match self.said(name) {
            None => Ok(""),
            Some(Value::String(text)) => Ok(text),
            Some(value) => Err(Shape::new(name, "a string", value)),
        }
    }

    fn reason(&self, name: &'static str) -> Result<Option<String>, Shape> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ (Value::Array(_) | Value::Object(_))) => Err(Shape::new(name, "a string", value)),
            Some(value) => Ok(Some(plain(value))),
        }
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    fn count(&self, name: &str) -> Option<u64> {
        let number: f64 = match self.get(name)? {
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        (0.0..=MOST_TOKENS).contains(&number).then_some(number as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Members, Object};

    fn holding(value: Value) -> Object {
        [("m".to_owned(), value)].into_iter().collect()
    }

    #[test]
    fn nothing_is_nothing_in_every_spelling() {
        for nothing in [json!(null), json!(false), json!(0), json!(""), json!([]), json!({})] {
            let object = holding(nothing);
            assert_eq!(object.object("m"), Ok(None));
            assert_eq!(object.text("m"), Ok(""));
            assert!(object.list("m").is_ok_and(<[Value]>::is_empty));
        }
    }

    #[test]
    fn another_type_names_the_member() {
        let object = holding(json!("text"));
        let fault = object.object("m").expect_err("a string is no object");
        assert_eq!(fault.to_string(), "`m` is a string where an object belongs");
        assert!(object.list("m").is_err());
        assert!(holding(json!([1])).text("m").is_err());
        assert!(holding(json!([1])).objects("m").is_err());
        assert!(holding(json!([1])).reason("m").is_err());
    }

    #[test]
    fn counts_come_as_they_please() {
        let cases = [
            (json!(12), Some(12)),
            (json!(12.7), Some(12)),
            (json!("12"), Some(12)),
            (json!(" 12.0 "), Some(12)),
            (json!(1_000_000_000_000_u64), Some(1_000_000_000_000)),
            (json!(1_000_000_000_001_u64), None),
            (json!(u64::MAX), None),
            (json!(1e30), None),
            (json!(-1), None),
            (json!("inf"), None),
            (json!("many"), None),
            (json!(null), None),
            (json!([]), None),
        ];
        for (value, count) in cases {
            assert_eq!(holding(value.clone()).count("m"), count, "{value}");
        }
    }
}
