//! A refusal: which rule, and what the server says.

use serde_json::{Value, json};

use crate::envelope::Trouble;
use crate::profile::{Dialect, Profile};
use crate::route::Route;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The HTTP status.
    pub status: u16,
    /// The rule's id; sent as header `x-mock-rule`.
    pub rule: &'static str,
    /// What the server says.
    pub message: String,
    /// The field at fault, where the server names it.
    pub param: Option<&'static str>,
    /// The machine-readable code, where the server gives one.
    pub code: Option<&'static str>,
}

impl Violation {
    pub(crate) fn new(status: u16, rule: &'static str, message: impl Into<String>) -> Self {
        Self { status, rule, message: message.into(), param: None, code: None }
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) fn param(mut self, param: &'static str) -> Self {
        self.param = Some(param);
        self
    }

    /// A request of `tokens` where `limit` is the most, in the words that servers of `dialect` have for it.
    pub(crate) fn overflow(dialect: Dialect, limit: usize, tokens: usize) -> Self {
        let message = match (dialect.route, dialect.profile) {
            (Route::Responses | Route::Codex, _) => {
                "Your input exceeds the context window of this model. Please adjust your input and try again."
                    .to_owned()
            }
            (Route::Anthropic, _) => format!("prompt is too long: {tokens} tokens > {limit} maximum"),
            (Route::Gemini, _) => {
                format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).")
            }
            (Route::Converse, _) => "Input is too long for requested model.".to_owned(),
            (_, Profile::LlamaCpp) => {
                format!("the request ({tokens} tokens) exceeds the available context size ({limit} tokens)")
            }
            (_, Profile::Kimi) => {
                format!("Invalid request: Your request exceeded model token limit: {limit} (requested: {tokens})")
            }
            _ => format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} \
                 tokens. Please reduce the length of the messages."
            ),
        };
        let param = if dialect.route == Route::Responses { "input" } else { "messages" };
        Self::new(400, OVERFLOW, message).param(param).code(OVERFLOW)
    }

    /// The body in the shape that servers of `dialect` use.
    pub fn body(&self, dialect: Dialect) -> Value {
        let kind = match self.code {
            Some(MISTRAL_ORDER) => "invalid_request_message_order",
            Some(OVERFLOW) if dialect.profile == Profile::LlamaCpp => "exceed_context_size_error",
            _ if self.status >= 500 => "server_error",
            _ => "invalid_request_error",
        };
        let details = (dialect.route == Route::Gemini && self.code == Some(GOOGLE_KEY)).then(|| {
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": GOOGLE_KEY,
                "domain": "googleapis.com"}])
        });
        Trouble { status: self.status, kind, message: &self.message, param: self.param, code: self.code, details }
            .body(dialect)
    }
}

/// Mistral's code for a role that may not stand where it stands.
pub(crate) const MISTRAL_ORDER: &str = "3230";
/// Google's reason for a key that it does not know.
pub(crate) const GOOGLE_KEY: &str = "API_KEY_INVALID";
const OVERFLOW: &str = "context_length_exceeded";
