//! How a request goes to a model and its reply comes back.
//!
//! messages -> [`body`] -> [`key`] -> [`client`] -> reply bytes -> [`reply`]
//!
//! * [`model`]: the models of an experiment; [`builtin`]: those that are programs;
//! * [`client`]: sending, with [`retry`] and the [`failure`] classes of error replies;
//! * [`gateway`]: where a harness's own compaction code asks, in its own shape;
//! * [`log`]: the trait through which a runner keeps every reply, so that none is paid for twice.
//!
//! It may use `session`. It translates and never repairs. A new route is one file; a new built-in
//! model is one file in `builtin/` and one variant of [`model::Model`].

pub mod body;
pub mod builtin;
pub mod client;
pub mod failure;
pub mod gateway;
pub mod key;
pub mod log;
pub mod model;
pub mod reply;
pub mod retry;
pub mod route;

pub use body::Body;
pub use client::{Client, ClientError, Timeouts};
pub use failure::{CallFailure, FailureKind};
pub use key::{CallKey, Purpose};
pub use log::{CallLog, Logged};
pub use model::{Endpoint, Model};
pub use reply::{Completion, Finish, ParseError, Usage};
pub use retry::Retry;
pub use route::Route;
