//! One file a command; each returns how it ended.

pub(crate) mod arms;
pub(crate) mod attacks;
pub(crate) mod contrast;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod gateway;
pub(crate) mod import;
pub(crate) mod judge;
mod load;
pub(crate) mod plan;
pub(crate) mod power;
mod private;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod run;
mod sent;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod template;
pub(crate) mod validate;
pub(crate) mod wire;
