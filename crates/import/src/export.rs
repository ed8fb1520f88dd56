//! Sessions in the formats of others, so that their viewers open them. What a format cannot hold is left out and
//! counted; what it can hold comes back by [`read`](crate::read()) as it was.
//!
//! * `chat`, `anthropic`, `atif`, `inspect`: one file a format; `shared`: what they have in common.
//!
//! Adding a format is adding one file and one row in [`Target::ALL`].

mod anthropic;
mod atif;
mod chat;
mod inspect;
mod shared;

use std::collections::BTreeMap;

use laundromat_session::Session;
use laundromat_session::fault::choose_remedy;

use crate::error::ImportError;

/// A format that sessions can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// OpenAI Chat Completions messages.
    OpenAiChat,
    /// An Anthropic Messages request.
    AnthropicMessages,
    /// An ATIF trajectory.
    Atif,
    /// An Inspect log of one sample.
    InspectEval,
}

impl Target {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::OpenAiChat, Self::AnthropicMessages, Self::Atif, Self::InspectEval];

    /// The stable id, that of the reader of the same format.
    pub fn id(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Atif => "atif",
            Self::InspectEval => "inspect-eval",
        }
    }

    /// The format with the id `id`.
    ///
    /// # Errors
    /// Where there is none, with the nearest one or all.
    pub fn of(id: &str) -> Result<Self, ImportError> {
        Self::ALL.iter().copied().find(|target| target.id() == id).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|target| target.id()).collect();
            ImportError::NoSuchTarget { name: id.to_owned(), remedy: choose_remedy(id, &known) }
        })
    }
}

/// A session in another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the format cannot hold, by kind.
    pub left_out: LeftOut,
}

/// What an export left out or rewrote, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(pub BTreeMap<&'static str, usize>);

impl LeftOut {
    /// Counts one more of the kind `kind`.
    fn add(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// Counts one more of the kind `kind`, where there is some.
    fn add_some(&mut self, kind: &'static str, text: Option<&str>) {
        if text.is_some() {
            self.add(kind);
        }
    }
}

/// Writes `session` in the format `target`.
///
/// # Errors
/// Where an archive cannot be made, which only a session of gigabytes can cause.
pub fn export(session: &Session, target: Target) -> Result<Exported, ImportError> {
    let mut left_out = LeftOut::default();
    let bytes = match target {
        Target::OpenAiChat => shared::document(&chat::request(session, &mut left_out)),
        Target::AnthropicMessages => shared::document(&anthropic::request(session, &mut left_out)),
        Target::Atif => shared::document(&atif::trajectory(session, &mut left_out)),
        Target::InspectEval => inspect::log(session, &mut left_out)
            .map_err(|problem| ImportError::NotArchived { session: session.id.clone(), problem })?,
    };
    Ok(Exported { bytes, left_out })
}
