//! Rows as JSON objects: a cell becomes a string, a number or null, and one that holds JSON stands in the
//! object as that JSON.

use rusqlite::types::ValueRef;
use serde_json::value::RawValue;

use crate::mend::{has_surrogate_escape, mend};

/// A column that is wanted of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Whatever it holds.
    Plain(&'static str),
    /// JSON text; what is none stands as a string.
    Json(&'static str),
}

impl Column {
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Plain(name) | Self::Json(name) => name,
        }
    }
}

/// A cell as a name or a number to sort by.
pub(super) fn label(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// The object of `values` by `columns`, and how much had to be repaired.
pub(super) fn object(columns: &[&Column], values: &[ValueRef<'_>]) -> (String, usize) {
    let mut out = String::from("{");
    let mut repaired = 0;
    for (column, value) in columns.iter().zip(values) {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&serde_json::Value::from(column.name()).to_string());
        out.push(':');
        match value {
            ValueRef::Null => out.push_str("null"),
            ValueRef::Integer(number) => out.push_str(&number.to_string()),
            ValueRef::Real(number) => out.push_str(&serde_json::Value::from(*number).to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match column {
                Column::Json(_) => repaired += push_json(&mut out, bytes),
                Column::Plain(_) => repaired += push_text(&mut out, bytes),
            },
        }
    }
    out.push('}');
    (out, repaired)
}

fn push_text(out: &mut String, bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let repaired = std::str::from_utf8(bytes).is_err();
    out.push_str(&serde_json::Value::from(text.as_ref()).to_string());
    usize::from(repaired)
}

fn push_json(out: &mut String, bytes: &[u8]) -> usize {
    if !has_surrogate_escape(bytes)
        && let Ok(text) = std::str::from_utf8(bytes)
        && serde_json::from_str::<&RawValue>(text).is_ok()
    {
        out.push_str(text);
        return 0;
    }
    let mended = mend(bytes);
    if serde_json::from_str::<&RawValue>(&mended.text).is_ok() {
        out.push_str(&mended.text);
        return mended.replacements;
    }
    push_text(out, bytes)
}

#[cfg(test)]
mod tests {
    use rusqlite::types::ValueRef;

    use super::{Column, object};

    #[test]
    fn a_row_is_an_object() {
        let columns = [Column::Plain("a"), Column::Json("b"), Column::Json("c"), Column::Plain("d"), Column::Json("e")];
        let columns: Vec<&Column> = columns.iter().collect();
        let values = [
            ValueRef::Text(b"x\0\"y"),
            ValueRef::Text(br#"[1, {"z":null}]"#),
            ValueRef::Text(b"[NaN"),
            ValueRef::Real(1767607201.5),
            ValueRef::Blob(b"{\"f\":NaN}"),
        ];
        let (text, repaired) = object(&columns, &values);
        assert_eq!(text, r#"{"a":"x\u0000\"y","b":[1, {"z":null}],"c":"[NaN","d":1767607201.5,"e":{"f":null}}"#);
        assert_eq!(repaired, 1);
    }
}
