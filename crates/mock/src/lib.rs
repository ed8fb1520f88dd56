//! A strict provider on 127.0.0.1 for end-to-end tests, demos and benchmarks: it speaks OpenAI chat
//! completions, refuses what real servers refuse, and answers as a summarizer or as a judge by a script.
//!
//! * [`rules`]: what a request is refused for, under which [`profile`], with which [`violation`];
//! * [`script`] and [`fault`]: how it answers and how it fails, as a file or built in code;
//! * [`draw`]: chance as a hash of the call's key, so that arrival order decides nothing;
//! * `request`, `summarizer`, `judge`, `completion`: what is asked, and the answer's text and shape;
//! * `decide`: one request in, one plan out; `server` and `wire`: the plan on a socket;
//! * [`log`]: every call, in memory and as JSON lines; [`mock`]: the handle that tests hold.
//!
//! Its rules are its own. It shares no code with the sender, whose validator it is there to check:
//! another profile is one row of [`profile::NAMES`] and the arms of [`rules`] that it differs in,
//! another fault one variant of [`FaultKind`] and one arm of `decide`.

mod completion;
mod decide;
mod judge;
mod request;
mod server;
mod summarizer;
mod wire;

pub mod draw;
pub mod error;
pub mod fault;
pub mod log;
pub mod mock;
pub mod profile;
pub mod rules;
pub mod script;
pub mod violation;

pub use error::MockError;
pub use fault::{AppliesTo, Fault, FaultKind, Retry, When};
pub use log::LoggedCall;
pub use mock::{Listen, Mock};
pub use profile::Profile;
pub use request::{Form, Purpose};
pub use script::{Bodies, JudgeScript, Launder, Script, Verdict};
pub use violation::Violation;
