//! The JSON in which each family of servers puts an error.

use serde_json::{Value, json};

use crate::profile::{Dialect, Profile};
use crate::route::Route;

/// An error, as far as any envelope can carry it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble<'a> {
    pub(crate) status: u16,
    /// The type that OpenAI-like servers name; others derive theirs from the status.
    pub(crate) kind: &'a str,
    pub(crate) message: &'a str,
    pub(crate) param: Option<&'a str>,
    pub(crate) code: Option<&'a str>,
    /// What Anthropic and Google say beyond that.
    pub(crate) details: Option<Value>,
}

impl Trouble<'_> {
    /// The body in the shape that servers of `dialect` use.
    pub(crate) fn body(&self, dialect: Dialect) -> Value {
        let Self { status, kind, message, param, code, .. } = self;
        match (dialect.route, dialect.profile) {
            (Route::Gemini, _) => {
                let mut error = json!({"code": status, "message": message, "status": google_status(*status)});
                self.detail(&mut error);
                json!({"error": error})
            }
            (Route::Anthropic, _) => {
                let mut error = json!({"type": anthropic_type(*status), "message": message});
                self.detail(&mut error);
                json!({"type": "error", "error": error, "request_id": "req_mock"})
            }
            (Route::Converse, _) => json!({"message": message}),
            (Route::Codex, _) => json!({"detail": message}),
            (_, Profile::Mistral) => json!({
                "object": "error", "message": message, "type": kind, "param": param, "code": code,
                "raw_status_code": status,
            }),
            (_, Profile::LlamaCpp | Profile::AlternatingTemplate) => {
                json!({"error": {"code": status, "message": message, "type": kind}})
            }
            _ => json!({"error": {"message": message, "type": kind, "param": param, "code": code}}),
        }
    }

    fn detail(&self, error: &mut Value) {
        if let Some(details) = &self.details {
            error["details"] = details.clone();
        }
    }
}

/// The name of a status among Google's.
pub(crate) fn google_status(status: u16) -> &'static str {
    match status {
        400 | 413 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        405 => "UNIMPLEMENTED",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}

/// The type of an Anthropic error.
pub(crate) fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// What Bedrock puts in `x-amzn-errortype`.
pub(crate) fn amazon_type(status: u16) -> &'static str {
    match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        413 => "RequestEntityTooLargeException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        500.. => "InternalServerException",
        _ => "ValidationException",
    }
}
