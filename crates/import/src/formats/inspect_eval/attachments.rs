//! Texts that stand elsewhere: a long text is kept once in a sample's `attachments`, and named where it belongs.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::arguments;
use crate::fields::{Fields, text_of};
use crate::losses::Losses;

/// What begins the name of an attachment, and began it in the first versions.
const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// The attachments of a sample by their names.
#[derive(Debug, Default)]
pub(super) struct Attachments<'a>(HashMap<String, &'a RawValue>);

impl<'a> Attachments<'a> {
    /// Those of the sample `fields`.
    pub(super) fn of(fields: &Fields<'a>) -> Self {
        let attachments = fields.object("attachments");
        let all = attachments.iter().flat_map(|attachments| attachments.iter());
        Self(all.map(|(name, raw)| (name.to_owned(), raw)).collect())
    }

    /// `text`, or what it names. A name that nothing answers to stays, and is counted.
    pub(super) fn text<'t>(&self, text: Cow<'t, str>, record: usize, losses: &mut Losses) -> Cow<'t, str>
    where
        'a: 't,
    {
        let Some(name) = PROTOCOLS.iter().find_map(|protocol| text.strip_prefix(protocol)) else { return text };
        match self.0.get(name).and_then(|raw| text_of(raw)) {
            Some(found) => found,
            None => {
                losses.kind("attachment:missing", record);
                text
            }
        }
    }

    /// The arguments of a call, with what they name in place.
    pub(super) fn arguments(&self, raw: Option<&RawValue>, record: usize, losses: &mut Losses) -> String {
        let given = arguments(raw);
        if !PROTOCOLS.iter().any(|protocol| given.contains(protocol)) {
            return given;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&given) else { return given };
        self.fill(&mut value, record, losses);
        value.to_string()
    }

    fn fill(&self, value: &mut Value, record: usize, losses: &mut Losses) {
        match value {
            Value::String(text) => *text = self.text(Cow::Owned(std::mem::take(text)), record, losses).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item, record, losses)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.fill(value, record, losses)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Attachments;
    use crate::fields::Fields;
    use crate::losses::Losses;

    #[test]
    fn names_are_replaced_where_they_are_the_whole_text() {
        let sample = Fields::parse(r#"{"attachments":{"9f":"a\nb","1":2}}"#).expect("an object");
        let attachments = Attachments::of(&sample);
        let mut losses = Losses::default();
        for (text, wanted) in [
            ("attachment://9f", "a\nb"),
            ("tc://9f", "a\nb"),
            ("see attachment://9f", "see attachment://9f"),
            ("attachment://none", "attachment://none"),
            ("attachment://1", "attachment://1"),
        ] {
            assert_eq!(attachments.text(text.into(), 1, &mut losses), wanted);
        }
        assert_eq!(losses.by_type["attachment:missing"].count, 2);
        let call = Fields::parse(r#"{"arguments":{"cmd":["attachment://9f",1]}}"#).expect("an object");
        assert_eq!(attachments.arguments(call.raw("arguments"), 1, &mut losses), r#"{"cmd":["a\nb",1]}"#);
    }
}
