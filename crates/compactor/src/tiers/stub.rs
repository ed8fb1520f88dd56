//! Stubbing: one line stands for a tool result that is over a size and older than the tail; of equal
//! results only the newest stays. What is short passes whole, and so does the head of an error.

use std::collections::HashMap;
use std::ops::Range;

use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Call, Role, Session};
use serde_json::{Map, Value};

use super::pruning::{Cut, Pruning};
use crate::axes::choice;
use crate::caps::thousands;
use crate::records;
use crate::tracked::char_offset;

/// Arguments that the usual line names.
const NAMED: usize = 2;
/// Characters of an argument in it.
const VALUE_CHARS: usize = 40;

choice! {
    /// Whose lines are written.
    Stubs {
        /// Those of Hermes.
        Hermes = "hermes",
    }
}

/// Which results make way for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stub {
    /// Results of more characters.
    pub over_chars: usize,
    /// Whose lines.
    pub style: Stubs,
    /// Characters of a payload's error that the line shows; 0 where it shows none.
    pub error_chars: usize,
    /// What stands for a result that a later one repeats.
    pub repeated: String,
}

impl Stub {
    pub(super) fn read<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Self> {
        let over_chars = fields.required(document, "over-chars");
        if !fields.has("style") {
            fields.required::<String>(document, "style");
        }
        let style = Stubs::optional(document, &mut fields, "style");
        let error_chars = fields.optional(document, "error-chars").unwrap_or(0);
        let repeated = fields.required(document, "repeated");
        fields.finish(document);
        Some(Self { over_chars: over_chars?, style: style?, error_chars, repeated: repeated? })
    }

    /// Stubs results of `session` before turn `tail`.
    pub(super) fn apply(&self, session: &Session, tail: usize, pruning: &mut Pruning) {
        let asked = records::askers(session);
        let is_result = |turn: &usize| session.turns[*turn].role == Role::Tool;
        let mut newest: HashMap<String, usize> = HashMap::new();
        for turn in (0..session.turns.len()).filter(is_result) {
            newest.insert(records::flatten(turn, &session.turns[turn]).text().to_owned(), turn);
        }
        for turn in (0..tail.min(session.turns.len())).filter(is_result) {
            let flattened = records::flatten(turn, &session.turns[turn]);
            let text = flattened.text();
            if text.chars().count() <= self.over_chars {
                continue;
            }
            if newest.get(text).is_some_and(|newest| *newest > turn) {
                pruning.set_text(turn, Cut::Superseded, vec![(0..text.len(), self.repeated.clone())]);
                continue;
            }
            let call = asked.get(&turn).map(|(asker, call)| &session.turns[*asker].calls[*call]);
            pruning.set_text(turn, Cut::Stubbed, self.edits(call, text));
        }
    }

    fn edits(&self, call: Option<&Call>, text: &str) -> Vec<(Range<usize>, String)> {
        let Stubs::Hermes = self.style;
        let payload = object(text);
        let mut line = hermes_line(call, text, payload.as_ref());
        let error = payload.as_ref().and_then(|payload| payload.get("error")).and_then(Value::as_str);
        let Some(error) = error.filter(|error| self.error_chars > 0 && !error.is_empty()) else {
            return vec![(0..text.len(), line)];
        };
        line.push_str(" FAILED: ");
        let shown = &error[..char_offset(error, self.error_chars)];
        // Where the payload writes it as it is, it is known to be the tool's own text.
        match text.find(shown) {
            Some(at) => vec![(0..at, line), (at + shown.len()..text.len(), String::new())],
            None => vec![(0..text.len(), line + shown)],
        }
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// The line that says what a call did.
fn hermes_line(call: Option<&Call>, text: &str, payload: Option<&Map<String, Value>>) -> String {
    let name = call.map_or("tool", |call| call.name.as_str());
    let arguments = call.and_then(|call| object(&call.arguments)).unwrap_or_default();
    let given = |key: &str| arguments.get(key).map(plain);
    let chars = thousands(text.chars().count());
    let line = match name {
        "terminal" => payload.and_then(|payload| {
            let output = payload.get("output")?.as_str()?.lines().count();
            let exit = payload.get("exit_code").map(plain)?;
            Some(format!("[terminal] ran `{}` -> exit {exit}, {output} lines output", given("command")?))
        }),
        "read_file" => given("path").map(|path| {
            let from = given("offset").unwrap_or_else(|| "1".to_owned());
            format!("[read_file] read {path} from line {from} ({chars} chars)")
        }),
        "web_extract" => {
            given("url").or_else(|| given("urls")).map(|url| format!("[web_extract] {url} ({chars} chars)"))
        }
        _ => None,
    };
    line.unwrap_or_else(|| {
        let named: String = arguments
            .iter()
            .take(NAMED)
            .map(|(key, value)| {
                let value = plain(value);
                format!(" {key}={}", &value[..char_offset(&value, VALUE_CHARS)])
            })
            .collect();
        format!("[{name}]{named} ({chars} chars result)")
    })
}

/// A value without the quotes of a string or the brackets of a list of one.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.len() == 1 => plain(&values[0]),
        other => other.to_string(),
    }
}
