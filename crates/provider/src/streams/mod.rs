//! Streams of each route: one file a route. What nobody reads of a reply is not put together: the
//! arguments of its calls.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;
