//! Attacks and controls as data, and how a plant goes into a session.
//!
//! attack file -> [`attack`] -> [`inject`] (place, canary, text) -> specimen with its plant
//!
//! It may use `session`. A new attack or control is one file in `scenarios/attacks/`; a new place
//! or embedding is one variant in [`attack`] and one arm of its match in [`inject`].

pub mod attack;
pub mod canary;
pub mod inject;
pub mod presets;

pub use attack::Attack;
pub use inject::{InjectError, Specimen, has_carrier, inject};
