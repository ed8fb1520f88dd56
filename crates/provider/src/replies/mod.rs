//! Reading the replies of each route: one file a route. All decide in one order: an error in the reply,
//! blocked or refused, cut off by a length limit, a tool call, a normal stop; what is left is unknown.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;
