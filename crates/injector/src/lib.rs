//! Attacks and controls as data, and how a plant goes into a session.
//!
//! attack file -> draft (an identifier on each of the [`axes`]) -> [`attack`] -> [`inject`] (place, canary, text)
//! -> specimen with its plant -> [`classes`]: what that is to one arm
//!
//! * [`library`]: the axis values that are text, from `scenarios/attacks/axes/`;
//! * [`matrix`]: axes crossed, one named attack a cell;
//! * [`schema`]: the JSON Schema of attack files.
//!
//! It may use `session`. A new attack or control is one file in `scenarios/attacks/`, a new text on an axis a few lines
//! in a file of `scenarios/attacks/axes/`; a new place or embedding is one variant in [`axes`] and one arm of its match.

pub mod attack;
pub mod axes;
pub mod canary;
pub mod classes;
mod conflicts;
mod draft;
mod embed;
pub mod inject;
pub mod library;
pub mod matrix;
mod place;
pub mod presets;
mod render;
pub mod schema;
mod words;

pub use attack::Attack;
pub use axes::Axis;
pub use inject::{Edit, InjectError, Specimen, inject};
pub use matrix::Matrix;
pub use place::Carriers;
