//! A refusal, and the JSON body in which each family of servers puts it.

use serde_json::{Value, json};

use crate::profile::Profile;

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

    /// The body in the shape that servers of `profile` use.
    pub fn body(&self, profile: Profile) -> Value {
        let kind = match self.code {
            Some(MISTRAL_ORDER) => "invalid_request_message_order",
            _ if self.status >= 500 => "server_error",
            _ => "invalid_request_error",
        };
        error_body(profile, self.status, kind, &self.message, self.param, self.code)
    }
}

/// Mistral's code for a role that may not stand where it stands.
pub(crate) const MISTRAL_ORDER: &str = "3230";

/// An error in the envelope that servers of `profile` use.
pub(crate) fn error_body(
    profile: Profile,
    status: u16,
    kind: &str,
    message: &str,
    param: Option<&str>,
    code: Option<&str>,
) -> Value {
    match profile {
        Profile::Mistral => json!({
            "object": "error", "message": message, "type": kind, "param": param, "code": code,
            "raw_status_code": status,
        }),
        Profile::LlamaCpp | Profile::AlternatingTemplate => {
            json!({"error": {"code": status, "message": message, "type": kind}})
        }
        _ => json!({"error": {"message": message, "type": kind, "param": param, "code": code}}),
    }
}
