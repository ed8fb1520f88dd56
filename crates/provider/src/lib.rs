//! How a request goes to a model and its reply comes back.
//!
//! messages -> [`body`] -> [`key`] -> [`client`] -> reply bytes -> [`reply`]
//!
//! * [`model`]: the models of an experiment; [`builtin`]: those that are programs;
//! * [`client`]: sending, with [`retry`] and the [`failure`] classes of error replies;
//! * [`reply`]: reading what comes back, one file a route in `replies/`; [`stream`]: the same where it
//!   comes in events, one file a route in `streams/`; [`wire_replies`]: the vectors for both;
//! * [`log`]: the trait through which a runner keeps every reply, so that none is paid for twice.
//!
//! It may use `session`. It translates and never repairs. A new route is one file; a new built-in
//! model is one file in `builtin/` and one variant of [`model::Model`].

pub mod body;
pub mod builtin;
mod classify;
pub mod client;
mod delay;
mod envelope;
pub mod failure;
pub mod key;
pub mod log;
mod members;
pub mod model;
mod parsed;
mod replies;
pub mod reply;
pub mod retry;
pub mod route;
mod sse;
pub mod stream;
mod streams;
pub mod wire_replies;

pub use body::Body;
pub use client::{Client, ClientError, Timeouts};
pub use failure::{CallFailure, FailureKind};
pub use key::{CallKey, Purpose};
pub use log::{CallLog, Logged};
pub use model::{Endpoint, Model};
pub use reply::{Completion, Finish, ParseError, Served, Usage};
pub use retry::Retry;
pub use route::Route;
pub use stream::Stream;
