//! What both benchmarks share.

#![allow(dead_code, reason = "not every benchmark uses all of it")]

pub(crate) mod experiment;
pub(crate) mod measure;
pub(crate) mod mode;
pub(crate) mod sessions;
