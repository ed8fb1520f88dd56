//! A rule that a request breaks.

use std::fmt;

/// A rule that a request breaks, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The rule's id, such as `orphan_tool`.
    pub rule: &'static str,
    /// Where and how, a lower-case fragment.
    pub message: String,
}

impl Broken {
    /// The failure of `rule`.
    pub(super) fn err<T>(rule: &'static str, message: impl Into<String>) -> Result<T, Self> {
        Err(Self { rule, message: message.into() })
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.rule, self.message)
    }
}

impl std::error::Error for Broken {}
