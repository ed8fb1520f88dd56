//! How a request goes to a model and its reply comes back.
//!
//! messages -> [`body`] -> [`validate`] -> [`key`] -> [`client`] -> reply bytes -> [`reply`]
//!
//! * [`model`]: the models of an experiment; [`builtin`]: those that are programs;
//! * [`profile`]: the destinations, as data; [`settings`]: a call's settings in a destination's words;
//!   [`policy`]: what a destination wants of a conversation;
//! * [`client`]: sending, with [`limits`], [`retry`] and the [`failure`] classes of error replies; `keys` keeps
//!   keys out of what comes back;
//! * [`reply`]: reading what comes back, one file a route in `replies/`; [`stream`]: the same where it
//!   comes in events, one file a route in `streams/`;
//! * [`wire_check`]: a folder of wire vectors against all of it;
//! * [`prices`], [`money`], [`budget`]: what calls cost, and the cap on it;
//! * [`cassette`]: recorded calls in a file, to be played again without network;
//! * [`listing`]: whether a destination answers and has a model, without a call;
//! * [`gateway`]: where a harness's own compaction code asks, in its own shape;
//! * [`log`]: the trait through which a runner keeps every reply, so that none is paid for twice.
//!
//! It may use `session`. It translates and never repairs. A new destination is one row of
//! `data/profiles.toml`; a new route is one file in `routes/` and one in `validate/`; a new built-in
//! model is one file in `builtin/` and one variant of [`model::Model`].

pub mod body;
pub mod budget;
pub mod builtin;
pub mod cassette;
mod classify;
pub mod client;
mod delay;
mod envelope;
pub mod failure;
pub mod gateway;
pub mod key;
mod keys;
pub mod limits;
pub mod listing;
pub mod log;
mod members;
pub mod model;
pub mod money;
mod parsed;
pub mod policy;
pub mod prices;
pub mod profile;
mod replies;
pub mod reply;
pub mod retry;
pub mod route;
mod routes;
pub mod settings;
mod sse;
pub mod stream;
mod streams;
pub mod validate;
pub mod wire_check;

pub use body::Body;
pub use budget::{Amount, Budget, Cap, OverBudget};
pub use cassette::{Cassette, CassetteError};
pub use client::{Client, ClientError, Sending, Timeouts, Unanswered};
pub use failure::{CallFailure, FailureKind};
pub use key::{CallKey, Purpose};
pub use limits::Pace;
pub use listing::Listing;
pub use log::{CallLog, Logged};
pub use model::{Endpoint, Model};
pub use money::Money;
pub use prices::{Price, PriceError, PriceList, PriceRow, Prices};
pub use profile::Profile;
pub use reply::{Completion, Finish, ParseError, Served, Usage};
pub use retry::Retry;
pub use route::Route;
pub use settings::{Dropped, Settings};
pub use stream::Stream;
pub use validate::Broken;
