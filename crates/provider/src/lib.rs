//! How a request goes to a model and its reply comes back.
//!
//! messages -> [`body`] -> [`key`] -> [`model::Model::answer`] -> reply bytes -> [`reply`]
//!
//! * [`builtin`]: models that are programs, for runs without key and network;
//! * [`log`]: the trait through which a runner keeps every reply, so that none is paid for twice.
//!
//! It may use `session`. It translates and never repairs. A new route is one file; a new built-in
//! model is one file in `builtin/` and one variant of [`model::Model`].

pub mod body;
pub mod builtin;
pub mod key;
pub mod log;
pub mod model;
pub mod reply;

pub use body::Body;
pub use key::{CallKey, Purpose};
pub use log::{CallLog, Logged};
pub use model::{Model, UnknownModel};
pub use reply::{Completion, Finish, ParseError, Usage};
