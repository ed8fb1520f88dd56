//! A session as typed turns. Who spoke is decided by structure, never by text.

use std::borrow::Cow;

/// A recorded agent transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Identifier, unique in an experiment; file names and seeded choices are made from it.
    pub id: String,
    /// A short title for people.
    pub title: Option<String>,
    /// Where the session comes from: `constructed`, or the format it was imported from.
    pub origin: Option<String>,
    /// The turns in order.
    pub turns: Vec<Turn>,
}

/// Who a turn belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the harness's operator.
    System,
    /// The user role. A person spoke only where [`Turn::synthetic`] is empty.
    User,
    /// The model.
    Assistant,
    /// The result of a call.
    Tool,
    /// No speech: a compaction boundary or a notice, by kind.
    Marker(String),
    /// A role this version does not know, as written; empty when the source had none.
    Other(String),
}

impl Role {
    /// The role's name as OpenAI chat spells it.
    pub fn as_str(&self) -> &str {
        match self {
            // A marker travels as a system message with a `marker` annotation.
            Self::System | Self::Marker(_) => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other(name) => name,
        }
    }
}

/// One piece of a turn's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image, with its address where the source has one.
    Image(Option<String>),
    /// Anything else, by its type name (empty when it has none).
    Other(String),
}

/// A tool call as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The recorded call id; empty where the source has none.
    pub id: String,
    /// The tool's name as recorded.
    pub name: String,
    /// The arguments as recorded: normally JSON text, kept byte for byte even where it is not.
    pub arguments: String,
}

/// Where in a source file a turn began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// File name without its folder.
    pub file: String,
    /// Record number from 1 (a line, a message, a row).
    pub record: usize,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Whose turn it is.
    pub role: Role,
    /// The content; neighbouring texts of a source are joined with a newline, so plain text is one part.
    pub parts: Vec<Part>,
    /// The calls of an assistant turn.
    pub calls: Vec<Call>,
    /// On a tool turn: the id of the call it answers; `None` where the source has none.
    pub call_id: Option<String>,
    /// On a tool turn: the tool reported a failure.
    pub is_error: bool,
    /// Why this turn is not what a person or the model produced; `None` for genuine turns.
    pub synthetic: Option<String>,
    /// The time as the source gives it.
    pub ts: Option<String>,
    /// Thinking text; never sent.
    pub reasoning: Option<String>,
    /// Images of the source that are not kept as parts.
    pub images: u32,
    /// Where the turn was read.
    pub source: Option<Source>,
}

impl Turn {
    /// A turn of `role` with one text part and nothing else.
    pub fn text_of(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            parts: vec![Part::Text(text.into())],
            calls: Vec::new(),
            call_id: None,
            is_error: false,
            synthetic: None,
            ts: None,
            reasoning: None,
            images: 0,
            source: None,
        }
    }

    /// The visible text: text parts joined with a newline. Borrowed where there is one part.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) | Part::Other(_) => None,
        });
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let mut all = vec![first, second];
                all.extend(texts);
                Cow::Owned(all.join("\n"))
            }
        }
    }

    /// A user turn that a person wrote.
    pub fn is_genuine_user(&self) -> bool {
        self.role == Role::User && self.synthetic.is_none()
    }

    /// Images in the turn, kept as parts or not.
    pub fn image_count(&self) -> u32 {
        let kept = self.parts.iter().filter(|part| matches!(part, Part::Image(_))).count();
        self.images + u32::try_from(kept).unwrap_or(u32::MAX)
    }
}
