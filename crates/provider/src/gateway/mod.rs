//! A gateway on 127.0.0.1: a harness's own compaction code asks it as it would ask a provider, and whoever
//! opened the door it came through answers.
//!
//! * [`target`]: what a path asks for, in which [`Shape`]; [`talk`]: a conversation being read;
//! * `chat`, `responses`, `anthropic`, `gemini`: each shape's requests read, its replies and errors written;
//! * [`request`] and [`answer`]: the same for all shapes; [`sse`]: a finished answer as a stream of events;
//! * [`door`]: one base URL with its token, valid until it is closed; [`server`]: the sockets.
//!
//! It translates and never repairs: ids are numbered anew, nothing else of a conversation is changed. A
//! new shape is one file and one variant of [`Shape`].

pub mod answer;
mod anthropic;
mod chat;
pub mod door;
mod gemini;
#[cfg(test)]
mod inbound;
pub mod request;
mod responses;
pub mod server;
mod sse;
mod talk;
pub mod target;

pub use answer::{Answer, Declined, Reply};
pub use door::{Asked, Door};
pub use request::{Delivery, Malformed, OutputCap, Request};
pub use server::Gateway;
pub use target::Shape;
