//! JSON objects opened one level deep: each value stays the text it was until it is asked for, so
//! that large parts nobody needs are never decoded, odd ones never fail a record, and nesting has no limit.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a JSON object.
#[derive(Debug, Clone)]
pub struct Fields<'a>(Vec<(Key<'a>, &'a RawValue)>);

#[derive(Debug, Clone)]
struct Key<'a>(Cow<'a, str>);

impl<'a> Fields<'a> {
    /// Opens the object `text`.
    ///
    /// # Errors
    /// Where `text` is not one JSON object.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Opens `raw`; `None` where it is no object.
    pub fn of(raw: &'a RawValue) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self::parse(raw.get()).ok()).flatten()
    }

    /// A field as it stands; `None` where it is missing or null. The last of several with one name counts.
    pub fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name.0 == key).map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
    }

    /// The fields in order; of a null one the raw text is `null`.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, raw)| (key.0.as_ref(), *raw))
    }

    /// How many fields there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The object as a value of its own, to be kept beyond its record.
    pub fn to_raw(&self) -> Option<Box<RawValue>> {
        let mut text = String::from("{");
        for (key, raw) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(key.0.as_ref()).to_string());
            text.push(':');
            text.push_str(raw.get());
        }
        text.push('}');
        RawValue::from_string(text).ok()
    }

    /// Whether there is such a field, null or not.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name.0 == key)
    }

    /// A field that is text.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        text_of(self.raw(key)?)
    }

    /// A field that is text or a number, as text: ids and times come as either.
    pub fn label(&self, key: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(key)?;
        match raw.get().as_bytes() {
            [b'-' | b'0'..=b'9', ..] => Some(Cow::Borrowed(raw.get())),
            _ => text_of(raw),
        }
    }

    /// Whether a field is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.raw(key).is_some_and(|raw| raw.get() == "true")
    }

    /// A field that is an object.
    pub fn object(&self, key: &str) -> Option<Fields<'a>> {
        Self::of(self.raw(key)?)
    }

    /// A field that is a list.
    pub fn items(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        items_of(self.raw(key)?)
    }
}

/// The text of a JSON string; `None` where it is none.
pub fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw.get()).ok().map(Cow::Owned)
}

/// The items of a JSON list; `None` where it is none.
pub fn items_of(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Open;
        impl<'de> Visitor<'de> for Open {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(16);
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Open)
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Name)
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn fields_are_read_when_asked_for() {
        let text = r#"{"a": 12345678901234567890123, "b":"x\ny", "c":null, "d":[1,{}], "e":true, "a\u0062":{"f":"g"}}"#;
        let fields = Fields::parse(text).expect("an object");
        assert_eq!(fields.label("a").as_deref(), Some("12345678901234567890123"));
        assert_eq!(fields.text("a"), None);
        assert_eq!(fields.text("b").as_deref(), Some("x\ny"));
        assert!(fields.raw("c").is_none() && fields.has("c") && !fields.has("z"));
        assert_eq!(fields.items("d").map(|items| items.len()), Some(2));
        assert!(fields.is_true("e") && !fields.is_true("b"));
        assert_eq!(fields.object("ab").and_then(|inner| inner.text("f")).as_deref(), Some("g"));
    }

    #[test]
    fn a_repeated_field_counts_once_and_last() {
        let fields = Fields::parse(r#"{"a":"x","a":"y"}"#).expect("an object");
        assert_eq!(fields.text("a").as_deref(), Some("y"));
    }

    #[test]
    fn nesting_has_no_limit() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Fields::parse(&text).expect("an object").items("a").map(|items| items.len()), Some(1));
    }
}
