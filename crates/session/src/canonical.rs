//! The canonical form of a session on disk: OpenAI-chat messages, each with an optional
//! `laundromat` object that is never sent. JSON Schema: `docs/schemas/session.schema.json`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::json_fields::{Faults, Fields, Json, Path};
use crate::turn::{Call, Part, Role, Session, Source, Turn};

/// What `schema` says in a file of this form.
pub const SCHEMA: &str = "laundromat-session/1";

/// A session file.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageFile {
    /// `system`, `user`, `assistant` or `tool`; anything else is kept as an unknown role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Text, or a list of chat parts (`text`, `image_url`, ...); null on an assistant message that only calls.
    #[serde(default)]
    #[schemars(with = "Option<ContentSchema>")]
    pub content: Value,
    /// The calls of an assistant message; no other message has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallFile>,
    /// On a tool message, and on no other: the id of the call it answers.
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionFile {
    /// The tool's name.
    pub name: String,
    /// The arguments as recorded, normally the text of a JSON object.
    pub arguments: String,
}

/// The only type of call.
const FUNCTION: &str = "function";

fn function() -> String {
    FUNCTION.to_owned()
}

/// What laundromat knows about a message beyond what chat holds.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// Why the message is not what a person or the model produced, such as `harness`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<String>,
    /// The tool reported a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The time as the source gives it; not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
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
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
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
/// Every fault of the file: the syntax fault alone, or all faults of all keys and messages.
pub fn read(text: &str) -> Result<Session, Vec<Fault>> {
    let file = Json::parse(text).map_err(|(place, problem)| {
        vec![Fault::new(
            place,
            format!("not a session file: {problem}"),
            "see docs/schemas/session.schema.json, or use `laundromat import`",
        )]
    })?;
    let mut faults = Faults::default();
    let session = session(file, &mut faults);
    faults.finish(session)
}

/// Whether `id` can name a session: it becomes part of file names and table rows.
pub fn is_id(id: &str) -> bool {
    (1..=100).contains(&id.len())
        && !id.starts_with('.')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// A session from its file. Where there is a fault, what it gives is of no use.
fn session(file: Json, faults: &mut Faults) -> Session {
    let mut session = Session { id: String::new(), title: None, origin: None, turns: Vec::new() };
    let Some(mut fields) = Fields::open(file, &Path::Root, faults) else { return session };
    if let Some(schema) = fields.required::<String>(faults, "schema")
        && schema != SCHEMA
    {
        faults.add(
            &fields.path_of("schema"),
            format!("unknown schema \"{}\"", schema.escape_debug()),
            format!("this version reads \"{SCHEMA}\""),
        );
    }
    if let Some(id) = fields.required::<String>(faults, "id") {
        if !is_id(&id) {
            faults.add(
                &fields.path_of("id"),
                format!("\"{}\" cannot name a session", id.escape_debug()),
                "use 1 to 100 letters, digits, '-', '_' or '.', not starting with '.'",
            );
        }
        session.id = id;
    }
    session.title = fields.nullable(faults, "title");
    session.origin = fields.nullable(faults, "origin");
    if let Some(messages) = fields.required::<Vec<Json>>(faults, "messages") {
        let path = fields.path_of("messages");
        if messages.is_empty() {
            faults.add(&path, "the session has no messages", "a session needs at least one turn");
        }
        session.turns.reserve_exact(messages.len());
        for (index, message) in messages.into_iter().enumerate() {
            session.turns.extend(turn(message, &Path::Item(&path, index), faults));
        }
    }
    fields.finish(faults);
    session
}

fn turn(message: Json, path: &Path<'_>, faults: &mut Faults) -> Option<Turn> {
    let mut fields = Fields::open(message, path, faults)?;
    let before = faults.count();
    let role = fields.nullable::<String>(faults, "role");
    // A role that is not even text is one fault, not the cause of others.
    let role_is_text = faults.count() == before;
    let parts = fields.value("content").map(|content| parts(content, &fields.path_of("content"), faults));
    let calls = fields.optional::<Vec<Json>>(faults, "tool_calls").unwrap_or_default();
    let calls_path = fields.path_of("tool_calls");
    let has_calls = !calls.is_empty();
    let items = calls.into_iter().enumerate();
    let calls = items.filter_map(|(index, item)| call(item, &Path::Item(&calls_path, index), faults)).collect();
    let call_id = fields.nullable::<String>(faults, "tool_call_id");
    let note = match fields.value("laundromat") {
        None | Some(Json::Null) => Annotation::default(),
        Some(note) => annotation(note, &fields.path_of("laundromat"), faults),
    };
    let role = match (note.marker, role) {
        (Some(kind), _) => Role::Marker(kind),
        (None, role) => match role.as_deref() {
            Some("system" | "developer") => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            _ => Role::Other(role.unwrap_or_default()),
        },
    };
    if role_is_text {
        if has_calls && role != Role::Assistant {
            faults.add(
                &calls_path,
                format!("only an assistant message can call tools, this one is {}", described(&role)),
                "move the calls to an assistant message, or correct the role",
            );
        }
        if call_id.is_some() && role != Role::Tool {
            faults.add(
                &fields.path_of("tool_call_id"),
                format!("only a tool message answers a call, this one is {}", described(&role)),
                "drop the id, or correct the role",
            );
        }
    }
    fields.finish(faults);
    Some(Turn {
        role,
        parts: parts.unwrap_or_default(),
        calls,
        call_id,
        is_error: note.is_error,
        synthetic: note.synthetic,
        ts: note.ts,
        reasoning: note.reasoning,
        images: note.images,
        source: note.source.map(|source| Source { file: source.file, record: source.record }),
    })
}

/// A role as a fault names it.
fn described(role: &Role) -> String {
    match role {
        Role::Marker(kind) => format!("a marker of kind \"{}\"", kind.escape_debug()),
        Role::Other(name) if name.is_empty() => "without a role".to_owned(),
        role => format!("\"{}\"", role.as_str().escape_debug()),
    }
}

fn annotation(note: Json, path: &Path<'_>, faults: &mut Faults) -> Annotation {
    let Some(mut fields) = Fields::open(note, path, faults) else { return Annotation::default() };
    let annotation = Annotation {
        synthetic: fields.nullable(faults, "synthetic"),
        is_error: fields.optional(faults, "is_error").unwrap_or_default(),
        ts: fields.nullable(faults, "ts"),
        reasoning: fields.nullable(faults, "reasoning"),
        images: fields.optional(faults, "images").unwrap_or_default(),
        marker: fields.nullable(faults, "marker"),
        source: match fields.value("source") {
            None | Some(Json::Null) => None,
            Some(source) => place_read(source, &fields.path_of("source"), faults),
        },
    };
    // Sources write times in many ways, and they are kept as they are.
    if annotation.ts.as_deref().is_some_and(|ts| ts.trim().is_empty()) {
        faults.add(&fields.path_of("ts"), "the time is empty", "write the time as the source has it, or drop the key");
    }
    fields.finish(faults);
    annotation
}

fn place_read(source: Json, path: &Path<'_>, faults: &mut Faults) -> Option<SourceFile> {
    let mut fields = Fields::open(source, path, faults)?;
    let file = fields.required(faults, "file");
    let record = fields.required(faults, "record");
    fields.finish(faults);
    Some(SourceFile { file: file?, record: record? })
}

fn call(item: Json, path: &Path<'_>, faults: &mut Faults) -> Option<Call> {
    let mut fields = Fields::open(item, path, faults)?;
    let id = fields.optional(faults, "id").unwrap_or_default();
    if let Some(kind) = fields.optional::<String>(faults, "type")
        && kind != FUNCTION
    {
        faults.add(
            &fields.path_of("type"),
            format!("a call of type \"{}\" is not known", kind.escape_debug()),
            format!("write \"{FUNCTION}\", or drop the key"),
        );
    }
    let named = fields.required_value(faults, "function");
    let named = named.and_then(|function| name_and_arguments(function, &fields.path_of("function"), faults));
    fields.finish(faults);
    let (name, arguments) = named?;
    Some(Call { id, name, arguments })
}

fn name_and_arguments(function: Json, path: &Path<'_>, faults: &mut Faults) -> Option<(String, String)> {
    let mut fields = Fields::open(function, path, faults)?;
    let name = fields.required(faults, "name");
    let arguments = match fields.required_value(faults, "arguments") {
        Some(Json::Text(text)) => Some(text),
        Some(other) => {
            faults.add(
                &fields.path_of("arguments"),
                format!("text is needed, not {}", other.kind()),
                "write the JSON object as text, such as \"{\\\"path\\\": \\\"a\\\"}\"",
            );
            None
        }
        None => None,
    };
    fields.finish(faults);
    name.zip(arguments)
}

/// Chat content as parts: null is none, text is one, list items are text, images or others.
fn parts(content: Json, path: &Path<'_>, faults: &mut Faults) -> Vec<Part> {
    match content {
        Json::Null => Vec::new(),
        Json::Text(text) => vec![Part::Text(text)],
        Json::List(items) => {
            let items = items.into_iter().enumerate();
            items.filter_map(|(index, item)| part(item, &Path::Item(path, index), faults)).collect()
        }
        other => {
            faults.wrong_type(&other, "text or a list of parts", path);
            Vec::new()
        }
    }
}

/// One part. Other keys than ours are chat's, such as `detail`, and are left alone.
fn part(item: Json, path: &Path<'_>, faults: &mut Faults) -> Option<Part> {
    let item = match item {
        Json::Text(text) => return Some(Part::Text(text)),
        item @ Json::Object(_) => item,
        other => {
            faults.wrong_type(&other, "text or an object", path);
            return None;
        }
    };
    let mut fields = Fields::open(item, path, faults)?;
    let kind = fields.optional::<String>(faults, "type").unwrap_or_default();
    match kind.as_str() {
        "text" | "input_text" | "output_text" => fields.required(faults, "text").map(Part::Text),
        "image_url" | "input_image" | "image" => match fields.value("image_url") {
            None | Some(Json::Null) => Some(Part::Image(None)),
            Some(Json::Text(url)) => Some(Part::Image(Some(url))),
            Some(image) => {
                let path = fields.path_of("image_url");
                let url = Fields::open(image, &path, faults)?.nullable(faults, "url");
                Some(Part::Image(url))
            }
        },
        _ => Some(Part::Other(kind)),
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
