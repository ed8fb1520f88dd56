//! Spans out of what holds them, with their attributes by name.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::compact;
use crate::fields::{Fields, items_of, text_of};
use crate::mend::{close, mend};
use crate::records::Line;
use crate::values::Numbering;

/// A span, whatever held it.
#[derive(Debug, Default)]
pub(super) struct Span {
    record: usize,
    trace: String,
    end: String,
    attributes: BTreeMap<String, Value>,
    /// Events of the older conventions: their name and attributes.
    pub(super) events: Vec<(String, BTreeMap<String, Value>)>,
}

impl Span {
    /// An attribute. Structures are often written as text: then what the text says, where it is JSON.
    pub(super) fn structure(&self, key: &str) -> Option<Structure> {
        match self.attributes.get(key)? {
            Value::String(text) => Some(Structure::of(text)),
            Value::Null => None,
            other => Some(Structure::Whole(other.clone())),
        }
    }

    /// An attribute as text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.attributes.get(key)?.as_str()
    }

    /// All attributes by name, in order.
    pub(super) fn attributes(&self) -> &BTreeMap<String, Value> {
        &self.attributes
    }

    /// The number of the span in its file.
    pub(super) fn record(&self) -> usize {
        self.record
    }

    /// When it ended, so that it sorts: nanoseconds of any length, or a date.
    pub(super) fn ended(&self) -> (usize, &str) {
        (self.end.len(), &self.end)
    }

    /// Whether it is one call of a model, and not a run that holds several.
    pub(super) fn is_call(&self) -> bool {
        !matches!(self.operation(), "invoke_agent" | "create_agent" | "invoke_workflow")
    }

    /// What it did.
    pub(super) fn operation(&self) -> &str {
        self.text("gen_ai.operation.name").unwrap_or("other")
    }

    /// What joins spans: the conversation, or else the trace.
    pub(super) fn conversation(&self) -> String {
        let named = ["gen_ai.conversation.id", "session.id", "langfuse.session.id"];
        named.iter().find_map(|key| self.text(key)).map_or_else(|| self.trace.clone(), str::to_owned)
    }
}

/// What an attribute says.
#[derive(Debug)]
pub(super) enum Structure {
    /// All of it.
    Whole(Value),
    /// The beginning of it, as far as it can be read: exporters cut off long values.
    Cut(Value),
}

impl Structure {
    /// JSON, its beginning, or plain text.
    fn of(text: &str) -> Self {
        if let Ok(value) = serde_json::from_str(text) {
            return Self::Whole(value);
        }
        if !text.trim_start().starts_with(['[', '{']) {
            return Self::Whole(Value::String(text.to_owned()));
        }
        // Messages that cannot be read are never anyone's words.
        let begun = close(&mend(text.as_bytes()).text).and_then(|text| serde_json::from_str(&text).ok());
        Self::Cut(begun.unwrap_or_default())
    }
}

/// The spans of a document, or of one line of a file.
pub(super) fn collect(line: &Line<'_>, numbering: Numbering) -> Vec<Span> {
    let mut spans = Vec::new();
    match line {
        Line::Object(fields) => container(fields, &mut spans),
        Line::List(raw) => {
            items_of(raw)
                .unwrap_or_default()
                .into_iter()
                .filter_map(Fields::of)
                .for_each(|it| container(&it, &mut spans));
        }
    }
    for (index, span) in spans.iter_mut().enumerate() {
        span.record = numbering.record(index);
    }
    spans
}

fn container(fields: &Fields<'_>, spans: &mut Vec<Span>) {
    for resource in list(fields, &["resourceSpans", "resource_spans"]) {
        for scope in list(&resource, &["scopeSpans", "scope_spans"]) {
            spans.extend(list(&scope, &["spans"]).iter().map(otlp));
        }
        // The name before the first stable version.
        for scope in list(&resource, &["instrumentationLibrarySpans", "instrumentation_library_spans"]) {
            spans.extend(list(&scope, &["spans"]).iter().map(otlp));
        }
    }
    spans.extend(list(fields, &["observations"]).iter().map(|it| observation(it, fields)));
}

/// The objects of a list under the first of `names` that is there.
fn list<'a>(fields: &Fields<'a>, names: &[&str]) -> Vec<Fields<'a>> {
    names.iter().find_map(|name| fields.raw(name)).and_then(open).unwrap_or_default()
}

fn open(raw: &RawValue) -> Option<Vec<Fields<'_>>> {
    Some(items_of(raw)?.into_iter().filter_map(Fields::of).collect())
}

fn otlp(span: &Fields<'_>) -> Span {
    let label = |names: [&str; 2]| names.iter().find_map(|name| span.label(name)).unwrap_or_default().into_owned();
    let events = span.raw("events").and_then(open).unwrap_or_default();
    Span {
        record: 0,
        trace: label(["traceId", "trace_id"]),
        end: label(["endTimeUnixNano", "end_time_unix_nano"]),
        attributes: attributes(span.raw("attributes")),
        events: events
            .iter()
            .map(|event| (event.text("name").unwrap_or_default().into_owned(), attributes(event.raw("attributes"))))
            .collect(),
    }
}

/// An observation of a trace store, which keeps the span's attributes in its metadata and takes the
/// messages out of them.
fn observation(fields: &Fields<'_>, store: &Fields<'_>) -> Span {
    let metadata = fields.raw("metadata").and_then(metadata).unwrap_or_default();
    let mut attributes: BTreeMap<String, Value> = match metadata.get("attributes") {
        Some(Value::Object(object)) => object.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        _ => BTreeMap::new(),
    };
    let is_call = fields.text("type").is_none_or(|kind| matches!(kind.as_ref(), "GENERATION" | "generation"));
    // A text is kept as it is: whether it is whole is for the reading of it to say.
    let side = |raw: &RawValue| match text_of(raw) {
        Some(text) => Some(Value::String(text.into_owned())),
        None => serde_json::from_str(raw.get()).ok(),
    };
    for (key, name) in [("gen_ai.input.messages", "input"), ("gen_ai.output.messages", "output")] {
        if let Some(value) = fields.raw(name).and_then(side).filter(|_| is_call) {
            attributes.entry(key.to_owned()).or_insert(value);
        }
    }
    let trace = store.object("trace").and_then(|trace| trace.label("id").map(|id| id.into_owned()));
    Span {
        record: 0,
        trace: fields.label("traceId").map(|id| id.into_owned()).or(trace).unwrap_or_default(),
        end: fields.label("endTime").or_else(|| fields.label("startTime")).unwrap_or_default().into_owned(),
        attributes,
        events: Vec::new(),
    }
}

/// A value, or what a text says that is JSON.
fn metadata(raw: &RawValue) -> Option<Value> {
    match text_of(raw) {
        Some(text) => serde_json::from_str(&text).ok(),
        None => serde_json::from_str(raw.get()).ok(),
    }
}

/// Attributes by name: pairs as OTLP writes them, or an object.
fn attributes(raw: Option<&RawValue>) -> BTreeMap<String, Value> {
    let Some(raw) = raw else { return BTreeMap::new() };
    if let Some(fields) = Fields::of(raw) {
        return fields
            .iter()
            .filter_map(|(key, raw)| Some((key.to_owned(), serde_json::from_str(raw.get()).ok()?)))
            .collect();
    }
    let pairs = open(raw).unwrap_or_default();
    pairs.iter().filter_map(|pair| Some((pair.text("key")?.into_owned(), any(pair.raw("value")?)))).collect()
}

/// A value in OTLP's spelling. 64-bit numbers are text there, and stay so.
fn any(raw: &RawValue) -> Value {
    let Some(fields) = Fields::of(raw) else { return Value::String(compact(raw)) };
    let first = fields.iter().next().map(|(key, raw)| (key.to_owned(), raw));
    match first {
        Some((key, raw)) if key.starts_with("array") => {
            let values = Fields::of(raw).and_then(|array| array.items("values")).unwrap_or_default();
            Value::Array(values.into_iter().map(any).collect())
        }
        Some((key, raw)) if key.starts_with("kvlist") => {
            let pairs = Fields::of(raw).map(|list| attributes(list.raw("values"))).unwrap_or_default();
            Value::Object(pairs.into_iter().collect())
        }
        Some((_, raw)) => serde_json::from_str(raw.get()).unwrap_or_else(|_| Value::String(raw.get().to_owned())),
        None => Value::Null,
    }
}
