//! Reading a JSON file so that *every* fault is named with its path, not only the first: each key is
//! read on its own, and what is left over at the end is an unknown key. The counterpart of
//! [`fields`](crate::fields) for TOML.
//!
//! Texts are moved from the parsed file to where they are wanted, never copied; a path is put into
//! words only where there is a fault.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::fault::{Fault, Place, choose_remedy};

/// A parsed JSON value. An object keeps its keys in order, repeated ones included.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

/// Where a value stands; as text `messages[4].tool_calls[1].function`.
#[derive(Debug, Clone, Copy)]
pub enum Path<'p> {
    /// The file as a whole.
    Root,
    /// The value of a key in an object.
    Key(&'p Path<'p>, &'p str),
    /// An item of a list, from 0.
    Item(&'p Path<'p>, usize),
}

/// The faults found so far.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

/// One object; keys are taken out as they are read.
#[derive(Debug)]
pub struct Fields<'p> {
    /// Each key with its value, or with nothing once it was taken.
    entries: Vec<(String, Option<Json>)>,
    path: &'p Path<'p>,
    known: Vec<&'static str>,
}

/// A type that a JSON value can be read as.
pub trait FromJson: Sized {
    /// What is needed, in words.
    const NEEDED: &'static str;

    /// Takes the value.
    ///
    /// # Errors
    /// The value itself, where it is of another type.
    fn from_json(value: Json) -> Result<Self, Json>;
}

impl Json {
    /// Parses `text`.
    ///
    /// # Errors
    /// What is wrong and where, where `text` is not one JSON value.
    pub fn parse(text: &str) -> Result<Self, (Place, String)> {
        serde_json::from_str(text).map_err(|error: serde_json::Error| {
            let place = Place { line_column: Some((error.line(), error.column())), path: String::new() };
            let problem = error.to_string();
            // Its place is given apart.
            let bare = problem.rsplit_once(" at line ").map(|(problem, _)| problem.to_owned());
            (place, bare.unwrap_or(problem))
        })
    }

    /// What kind of value it is, in words; a number is given as it is.
    pub fn kind(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => format!("the number {number}"),
            Self::Text(_) => "text".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Path::Root, key) => write!(f, "{}", key.escape_debug()),
            Self::Key(parent, key) => write!(f, "{parent}.{}", key.escape_debug()),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Faults {
    /// Records a fault.
    pub fn add(&mut self, path: &Path<'_>, problem: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Fault::new(Place::of_path(path.to_string()), problem, remedy));
    }

    /// Reads `value` as a `T`, or records that it is none.
    pub fn read<T: FromJson>(&mut self, value: Json, path: &Path<'_>) -> Option<T> {
        T::from_json(value).map_err(|other| self.wrong_type(&other, T::NEEDED, path)).ok()
    }

    /// Records that `value` is not what is needed.
    pub fn wrong_type(&mut self, value: &Json, needed: &str, path: &Path<'_>) {
        self.add(path, format!("{needed} is needed, not {}", value.kind()), "write a value of the right type");
    }

    /// How many there are so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value, if nothing was wrong.
    ///
    /// # Errors
    /// All faults, in the order they were found, when there are any.
    pub fn finish<T>(self, value: T) -> Result<T, Vec<Fault>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}

impl<'p> Fields<'p> {
    /// Opens an object, or records that it is none.
    pub fn open(value: Json, path: &'p Path<'p>, faults: &mut Faults) -> Option<Self> {
        match value {
            Json::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, Some(value))).collect();
                Some(Self { entries, path, known: Vec::new() })
            }
            other => {
                faults.wrong_type(&other, "an object", path);
                None
            }
        }
    }

    /// The path of `key` in this object.
    pub fn path_of<'k>(&self, key: &'k str) -> Path<'k>
    where
        'p: 'k,
    {
        Path::Key(self.path, key)
    }

    /// Takes a key's value as it stands.
    pub fn value(&mut self, key: &'static str) -> Option<Json> {
        self.known.push(key);
        self.entries.iter_mut().find(|(name, _)| name == key)?.1.take()
    }

    /// Takes an optional key that cannot be null.
    pub fn optional<T: FromJson>(&mut self, faults: &mut Faults, key: &'static str) -> Option<T> {
        let value = self.value(key)?;
        faults.read(value, &self.path_of(key))
    }

    /// Takes an optional key; null is none.
    pub fn nullable<T: FromJson>(&mut self, faults: &mut Faults, key: &'static str) -> Option<T> {
        match self.value(key)? {
            Json::Null => None,
            value => faults.read(value, &self.path_of(key)),
        }
    }

    /// Takes the value of a key that must be there.
    pub fn required_value(&mut self, faults: &mut Faults, key: &'static str) -> Option<Json> {
        let value = self.value(key);
        if value.is_none() {
            faults.add(&self.path_of(key), format!("the key \"{key}\" is missing"), format!("add \"{key}\": ..."));
        }
        value
    }

    /// Takes a key that must be there.
    pub fn required<T: FromJson>(&mut self, faults: &mut Faults, key: &'static str) -> Option<T> {
        let value = self.required_value(faults, key)?;
        faults.read(value, &self.path_of(key))
    }

    /// Records each key that nobody asked for, and each that is there more than once.
    pub fn finish(self, faults: &mut Faults) {
        for (key, _) in self.entries.iter().filter(|(_, value)| value.is_some()) {
            let path = self.path_of(key);
            if self.known.contains(&key.as_str()) {
                faults.add(&path, format!("the key \"{key}\" stands twice"), "keep one of them");
            } else {
                let problem = format!("unknown key \"{}\"", key.escape_debug());
                faults.add(&path, problem, choose_remedy(key, &self.known));
            }
        }
    }
}

impl FromJson for String {
    const NEEDED: &'static str = "text";

    fn from_json(value: Json) -> Result<Self, Json> {
        if let Json::Text(text) = value { Ok(text) } else { Err(value) }
    }
}

impl FromJson for bool {
    const NEEDED: &'static str = "true or false";

    fn from_json(value: Json) -> Result<Self, Json> {
        if let Json::Bool(value) = value { Ok(value) } else { Err(value) }
    }
}

impl FromJson for u32 {
    const NEEDED: &'static str = "a whole number from 0 to 4294967295";

    fn from_json(value: Json) -> Result<Self, Json> {
        whole(&value).and_then(|number| number.try_into().ok()).ok_or(value)
    }
}

impl FromJson for usize {
    const NEEDED: &'static str = "a whole number from 0";

    fn from_json(value: Json) -> Result<Self, Json> {
        whole(&value).and_then(|number| number.try_into().ok()).ok_or(value)
    }
}

impl FromJson for Vec<Json> {
    const NEEDED: &'static str = "a list";

    fn from_json(value: Json) -> Result<Self, Json> {
        if let Json::List(items) = value { Ok(items) } else { Err(value) }
    }
}

fn whole(value: &Json) -> Option<u64> {
    if let Json::Number(number) = value { number.as_u64() } else { None }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// Takes whatever comes.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        // JSON text has no number that is not finite.
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{Faults, Fields, Json, Path};

    fn read(text: &str) -> Result<(String, u32), Vec<String>> {
        let value = Json::parse(text).map_err(|(place, problem)| vec![format!("{place:?}: {problem}")])?;
        let mut faults = Faults::default();
        let mut read = (String::new(), 0);
        if let Some(mut root) = Fields::open(value, &Path::Root, &mut faults) {
            read.0 = root.required(&mut faults, "name").unwrap_or_default();
            let path = root.path_of("limits");
            if let Some(limits) = root.value("limits")
                && let Some(mut limits) = Fields::open(limits, &path, &mut faults)
            {
                read.1 = limits.nullable(&mut faults, "most").unwrap_or_default();
                limits.finish(&mut faults);
            }
            root.finish(&mut faults);
        }
        faults.finish(read).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_fault_is_named_with_its_path() {
        assert_eq!(read(r#"{"limits": {"most": 3}, "name": "a"}"#), Ok(("a".to_owned(), 3)));
        assert_eq!(read(r#"{"limits": {"most": null}, "name": "a"}"#), Ok(("a".to_owned(), 0)));
        assert_eq!(
            read(r#"{"nam": 1, "limits": {"least": 1, "most": -1, "most": 2}, "x\ny": {}}"#),
            Err(vec![
                "name: the key \"name\" is missing; add \"name\": ...".to_owned(),
                "limits.most: a whole number from 0 to 4294967295 is needed, not the number -1; write a value of the right type"
                    .to_owned(),
                "limits.least: unknown key \"least\"; known: most".to_owned(),
                "limits.most: the key \"most\" stands twice; keep one of them".to_owned(),
                "nam: unknown key \"nam\"; did you mean \"name\"?".to_owned(),
                "x\\ny: unknown key \"x\\ny\"; known: name, limits".to_owned(),
            ])
        );
        assert_eq!(
            read("[1]"),
            Err(vec!["an object is needed, not a list; write a value of the right type".to_owned()])
        );
    }

    #[test]
    fn paths_are_written_as_in_code() {
        let messages = Path::Key(&Path::Root, "messages");
        let (message, calls) = (Path::Item(&messages, 4), "tool_calls");
        let calls = Path::Key(&message, calls);
        assert_eq!(Path::Item(&calls, 1).to_string(), "messages[4].tool_calls[1]");
    }

    #[test]
    fn a_syntax_fault_has_its_place() {
        let (place, problem) = Json::parse("{\"a\":\n tru}").expect_err("no JSON");
        assert_eq!((place.line_column, problem.as_str()), (Some((2, 5)), "expected ident"));
    }
}
