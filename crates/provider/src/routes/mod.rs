//! The bodies of the routes, one file each: typed messages in, bytes out. They translate syntax; what
//! else a destination wants is its [`Policy`](crate::policy::Policy), and nothing here repairs.

mod anthropic;
mod bedrock_converse;
mod chat_completions;
mod gemini;
mod responses;
mod shape;
mod system;
mod tools;
mod turns;

pub(crate) use shape::{Shape, write};
