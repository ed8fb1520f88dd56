//! A summarizer or judge request before any route has shaped it.

/// The role a message has on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageRole {
    /// Instructions.
    System,
    /// The user's words, as far as the receiving model can tell.
    User,
    /// The model's words.
    Assistant,
    /// The result of one call.
    Tool,
}

impl MessageRole {
    /// The role's name as OpenAI chat spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A call as it is sent: id and name fit every route, `arguments` is the text of a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentCall {
    /// `call00001`, `call00002`, ...
    pub id: String,
    /// `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`
    pub name: String,
    /// Text of a JSON object.
    pub arguments: String,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Whose message it is.
    pub role: MessageRole,
    /// The text; empty only on an assistant message that has calls.
    pub text: String,
    /// The calls of an assistant message.
    pub calls: Vec<SentCall>,
    /// On a tool message: the id of the call it answers.
    pub call_id: Option<String>,
}

impl Message {
    /// A message of `role` that holds only text.
    pub fn text(role: MessageRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), call_id: None }
    }

    /// The result of the call `call_id`.
    pub fn result(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { call_id: Some(call_id.into()), ..Self::text(MessageRole::Tool, text) }
    }

    /// Characters that count against a size bound: text, call names and call arguments.
    pub fn chars(&self) -> usize {
        let calls: usize =
            self.calls.iter().map(|call| call.name.chars().count() + call.arguments.chars().count()).sum();
        self.text.chars().count() + calls
    }
}
