//! How a session becomes a summarizer request: a pure function of (session, arm, date).
//!
//! session -> [`records`] (shield, scrub) -> [`view`] (normal form, caps, bound) -> [`forms`] -> [`request`]
//!
//! * [`arm`] and [`prompt`] are data files; [`presets`] embeds those that come with laundromat;
//! * [`compactor`] looks an arm's files up once and walks the line above;
//! * [`tracked`] text knows which of its bytes came from the session, so exposure is computed.
//!
//! The whole of a compaction goes around that: [`partition`] says which turns are summarized and which
//! stay, [`keep::Guard`] which answers become summaries, [`next_context`] what comes out.
//!
//! [`probes`] asks an arm what needs no model to answer.
//!
//! A compaction of several calls is walked with [`Compactor::next`], a pure function of the replies so
//! far; [`Compactor::request`] is its first step, for arms that need no more than one.
//!
//! It may use `session`. A new form is one file in `forms/` and one variant of [`forms::Form`]; a new
//! axis is one choice in [`axes`]; a new preset, prompt or shield is one file under `scenarios/`.

pub mod arm;
pub mod axes;
pub mod caps;
pub mod compactor;
mod escape;
pub mod estimate;
pub mod forms;
pub mod invariant;
pub mod keep;
mod labelled;
pub mod marker;
pub mod next_context;
pub mod partition;
mod parts;
pub mod pipeline;
pub mod presets;
pub mod probes;
pub mod prompt;
mod python_text;
pub mod records;
pub mod request;
mod rewrite;
mod scan;
mod sections;
pub mod shield;
mod stretch;
pub mod tiers;
pub mod tracked;
pub mod trigger;
pub mod view;

pub use arm::Arm;
pub use compactor::{Compactor, Given, Next, Refusal};
pub use forms::Form;
pub use next_context::NextContext;
pub use partition::Partition;
pub use pipeline::{Pipeline, Start};
pub use request::Request;
pub use shield::{ShieldChoice, UnknownShield};
pub use view::View;
