//! The models a request can go to.

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use laundromat_session::Message;

use crate::builtin::reader;
use crate::log::Logged;
use crate::reply::Usage;

/// A model by its name in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// `builtin:reader`: a deterministic program that shows what the form lets a fully trusting
    /// reader believe. It is no language model.
    BuiltinReader,
}

/// A model name that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown model \"{name}\"")]
pub struct UnknownModel {
    name: String,
}

impl Model {
    /// The names of all models that need no key.
    pub const BUILTIN: &'static [&'static str] = &["builtin:reader"];

    /// The model's name, which is also its endpoint in call keys.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BuiltinReader => "builtin:reader",
        }
    }

    /// Answers `messages`. A built-in model gets the messages alone: neither arm, session nor plant.
    pub fn answer(&self, messages: &[Message]) -> Logged {
        let started = Instant::now();
        let reply = match self {
            Self::BuiltinReader => reader::reply(self.name(), messages),
        };
        Logged {
            reply,
            latency_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            attempts: 1,
            usage: Usage::default(),
            served_model: self.name().to_owned(),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        match name {
            "builtin:reader" => Ok(Self::BuiltinReader),
            _ => Err(UnknownModel { name: name.to_owned() }),
        }
    }
}
