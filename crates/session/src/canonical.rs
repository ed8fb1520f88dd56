//! The canonical form of a session on disk: OpenAI-chat messages, each with an optional
//! `laundromat` object that is never sent. JSON Schema: `docs/schemas/session.schema.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fault::{Fault, Place};
use crate::turn::{Call, Part, Role, Session, Source, Turn};

/// What `schema` says in a file of this form.
pub const SCHEMA: &str = "laundromat-session/1";

/// A session file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// Always `laundromat-session/1`.
    pub schema: String,
    /// Identifier, unique in an experiment: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// A short title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the session comes from: `constructed`, or the format it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The messages in order.
    #[schemars(with = "Vec<MessageFile>")]
    pub messages: Vec<Value>,
}

/// One message of a session file.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageFile {
    /// `system`, `user`, `assistant` or `tool`; anything else is kept as an unknown role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Text, or a list of chat parts (`text`, `image_url`, ...); null on an assistant message that only calls.
    #[serde(default)]
    #[schemars(with = "Option<ContentSchema>")]
    pub content: Value,
    /// The calls of an assistant message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallFile>,
    /// On a tool message: the id of the call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What laundromat knows beyond chat; never sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laundromat: Option<Annotation>,
}

/// Content as it may stand in a file.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used; content is read by hand for its messages")]
enum ContentSchema {
    Text(String),
    Parts(Vec<Value>),
}

/// A call in a session file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallFile {
    /// The call id; empty where the source had none.
    #[serde(default)]
    pub id: String,
    /// Always `function`.
    #[serde(default = "function", rename = "type")]
    pub kind: String,
    /// Name and arguments.
    pub function: FunctionFile,
}

/// Name and arguments of a call in a session file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionFile {
    /// The tool's name.
    pub name: String,
    /// The arguments as recorded, normally the text of a JSON object.
    pub arguments: String,
}

fn function() -> String {
    "function".to_owned()
}

/// What laundromat knows about a message beyond what chat holds.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// Why the message is not what a person or the model produced, such as `harness`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<String>,
    /// The tool reported a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The time as the source gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    /// Thinking text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Images of the source that are not in `content`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub images: u32,
    /// The message is no speech but a boundary or notice of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// Where the message was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceFile>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(images: &u32) -> bool {
    *images == 0
}

/// Where a message was read.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// File name without its folder.
    pub file: String,
    /// Record number from 1.
    pub record: usize,
}

/// Reads a session in the canonical form.
///
/// # Errors
/// Every fault of the file: the syntax fault alone, or all faults of form and all messages.
pub fn read(text: &str) -> Result<Session, Vec<Fault>> {
    let file: SessionFile = serde_json::from_str(text).map_err(|error| {
        let place = Place { line_column: Some((error.line(), error.column())), path: String::new() };
        vec![Fault::new(
            place,
            format!("not a session file: {}", bare(&error)),
            "see docs/schemas/session.schema.json, or use `laundromat import`",
        )]
    })?;
    let mut faults = Vec::new();
    if file.schema != SCHEMA {
        faults.push(Fault::new(
            Place::of_path("schema"),
            format!("unknown schema \"{}\"", file.schema),
            format!("this version reads \"{SCHEMA}\""),
        ));
    }
    if !is_id(&file.id) {
        faults.push(Fault::new(
            Place::of_path("id"),
            format!("\"{}\" cannot name a session", file.id.escape_debug()),
            "use 1 to 100 letters, digits, '-', '_' or '.', not starting with '.'",
        ));
    }
    let mut turns = Vec::with_capacity(file.messages.len());
    for (index, message) in file.messages.into_iter().enumerate() {
        match serde_json::from_value::<MessageFile>(message) {
            Ok(message) => match turn(message) {
                Ok(turn) => turns.push(turn),
                Err((path, problem)) => faults.push(Fault::new(
                    Place::of_path(format!("messages[{index}].{path}")),
                    problem,
                    "see docs/schemas/session.schema.json",
                )),
            },
            Err(error) => faults.push(Fault::new(
                Place::of_path(format!("messages[{index}]")),
                bare(&error),
                "see docs/schemas/session.schema.json",
            )),
        }
    }
    if turns.is_empty() && faults.is_empty() {
        faults.push(Fault::new(
            Place::of_path("messages"),
            "the session has no messages",
            "a session needs at least one turn",
        ));
    }
    if faults.is_empty() {
        Ok(Session { id: file.id, title: file.title, origin: file.origin, turns })
    } else {
        Err(faults)
    }
}

/// Whether `id` can name a session: it becomes part of file names and table rows.
pub fn is_id(id: &str) -> bool {
    (1..=100).contains(&id.len())
        && !id.starts_with('.')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// serde_json's message without its own place, which is given apart.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

fn turn(message: MessageFile) -> Result<Turn, (&'static str, String)> {
    let note = message.laundromat.unwrap_or_default();
    let role = match (note.marker, message.role.as_deref()) {
        (Some(kind), _) => Role::Marker(kind),
        (None, Some("system" | "developer")) => Role::System,
        (None, Some("user")) => Role::User,
        (None, Some("assistant")) => Role::Assistant,
        (None, Some("tool")) => Role::Tool,
        (None, other) => Role::Other(other.unwrap_or_default().to_owned()),
    };
    if !message.tool_calls.is_empty() && role != Role::Assistant {
        return Err((
            "tool_calls",
            format!("only an assistant message can call tools, this one is \"{}\"", role.as_str()),
        ));
    }
    let mut calls = Vec::with_capacity(message.tool_calls.len());
    for call in message.tool_calls {
        if call.kind != "function" {
            return Err(("tool_calls", format!("a call of type \"{}\" is not known", call.kind)));
        }
        calls.push(Call { id: call.id, name: call.function.name, arguments: call.function.arguments });
    }
    Ok(Turn {
        role,
        parts: parts(&message.content).map_err(|problem| ("content", problem))?,
        calls,
        call_id: message.tool_call_id,
        is_error: note.is_error,
        synthetic: note.synthetic,
        ts: note.ts,
        reasoning: note.reasoning,
        images: note.images,
        source: note.source.map(|source| Source { file: source.file, record: source.record }),
    })
}

/// Chat content as parts: null is none, text is one, list items are text, images or others.
///
/// # Errors
/// What is wrong, where `content` is neither.
pub fn parts(content: &Value) -> Result<Vec<Part>, String> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::Text(text.clone())]),
        Value::Array(items) => items.iter().map(part).collect(),
        other => Err(format!("text or a list of parts is needed, not {}", kind_of(other))),
    }
}

fn part(item: &Value) -> Result<Part, String> {
    let Value::Object(fields) = item else {
        return match item {
            Value::String(text) => Ok(Part::Text(text.clone())),
            other => Err(format!("a part is text or an object, not {}", kind_of(other))),
        };
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    Ok(match kind {
        "text" | "input_text" | "output_text" => {
            Part::Text(fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
        }
        "image_url" | "input_image" | "image" => {
            let address =
                fields.get("image_url").and_then(|image| image.as_str().or_else(|| image.get("url")?.as_str()));
            Part::Image(address.map(str::to_owned))
        }
        other => Part::Other(other.to_owned()),
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Writes a session in the canonical form, with one space of indentation and a final newline.
pub fn write(session: &Session) -> String {
    let file = SessionFile {
        schema: SCHEMA.to_owned(),
        id: session.id.clone(),
        title: session.title.clone(),
        origin: session.origin.clone(),
        messages: session.turns.iter().map(|turn| json!(message(turn))).collect(),
    };
    let mut out = Vec::new();
    let mut writer =
        serde_json::Serializer::with_formatter(&mut out, serde_json::ser::PrettyFormatter::with_indent(b" "));
    // Writing to memory cannot fail, and the file's types have no map with keys other than text.
    file.serialize(&mut writer).unwrap_or_default();
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

/// A turn as a message of a session file.
pub fn message(turn: &Turn) -> MessageFile {
    let note = Annotation {
        synthetic: turn.synthetic.clone(),
        is_error: turn.is_error,
        ts: turn.ts.clone(),
        reasoning: turn.reasoning.clone(),
        images: turn.images,
        marker: match &turn.role {
            Role::Marker(kind) => Some(kind.clone()),
            _ => None,
        },
        source: turn.source.as_ref().map(|source| SourceFile { file: source.file.clone(), record: source.record }),
    };
    MessageFile {
        role: match &turn.role {
            Role::Other(name) if name.is_empty() => None,
            role => Some(role.as_str().to_owned()),
        },
        content: match turn.parts.as_slice() {
            [] => Value::Null,
            [Part::Text(text)] => Value::from(text.as_str()),
            parts => parts.iter().map(part_value).collect(),
        },
        tool_calls: turn
            .calls
            .iter()
            .map(|call| CallFile {
                id: call.id.clone(),
                kind: function(),
                function: FunctionFile { name: call.name.clone(), arguments: call.arguments.clone() },
            })
            .collect(),
        tool_call_id: turn.call_id.clone(),
        laundromat: (note != Annotation::default()).then_some(note),
    }
}

fn part_value(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(Some(url)) => json!({"type": "image_url", "image_url": {"url": url}}),
        Part::Image(None) => json!({"type": "image_url"}),
        Part::Other(kind) if kind.is_empty() => json!({}),
        Part::Other(kind) => json!({"type": kind}),
    }
}

/// The JSON Schema of the canonical form, as text with a final newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(SessionFile);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
