//! Whose turn each byte range of a text ends up in.
//!
//! The template is first given a mark in place of each text, so that what opens turns around the marks is
//! the template's own. Turn tokens inside a text then count as forged: a server that reads control tokens
//! wherever they stand takes what is behind them for another's turn.

use std::ops::Range;

use laundromat_session::{Message, MessageRole};

use crate::family::{Family, Owner, Token};
use crate::template::{Template, TemplateError};

/// The answer where the turn tokens of a template are none that are known.
pub const UNKNOWN: &str = "unknown template";

/// Bytes of a message's text that are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Index of the message.
    pub message: usize,
    /// Bytes of its text.
    pub bytes: Range<usize>,
}

/// Who put a text into a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The template.
    Template,
    /// A turn token in the text itself.
    Forged,
}

/// A byte range in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Index of the message.
    pub message: usize,
    /// Bytes of its text.
    pub bytes: Range<usize>,
    /// Whose message it is on the wire.
    pub wire: MessageRole,
    /// Whose turn it is for the model; `None` where the template leaves the text out.
    pub owner: Option<Owner>,
    /// Who put it there.
    pub by: By,
}

/// What a template makes of some texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The template's turn tokens are none that are known.
    UnknownTemplate,
    /// Whose turns the texts are in.
    Turns {
        /// The family of the template's turn tokens.
        family: &'static str,
        /// The asked ranges, parted where the turn changes; one that is written in several turns is there for each.
        pieces: Vec<Piece>,
        /// Turn tokens in the asked ranges, with the message that holds each.
        forged: Vec<(usize, Token)>,
    },
}

/// What writes messages down as a model is given them.
pub trait Render {
    /// What the model is given for these messages.
    ///
    /// # Errors
    /// When the template refuses them, or fails.
    fn render(&self, messages: &[Message]) -> Result<String, TemplateError>;
}

impl Render for Template {
    fn render(&self, messages: &[Message]) -> Result<String, TemplateError> {
        Self::render(self, messages)
    }
}

/// Looks whose turns `spans` of `messages` end up in.
///
/// # Errors
/// When the template refuses the messages, or fails.
pub fn check(template: &impl Render, messages: &[Message], spans: &[Span]) -> Result<Found, TemplateError> {
    // It must take the real messages too; what it writes then is not searched, since texts can forge marks.
    template.render(messages)?;
    let marked: Vec<Message> = messages.iter().enumerate().map(|(index, message)| marked(message, index)).collect();
    let rendered = template.render(&marked)?;
    let Some(family) = Family::of(&rendered) else { return Ok(Found::UnknownTemplate) };
    let turns = family.tokens(&rendered);
    let (mut pieces, mut forged) = (Vec::new(), Vec::new());
    for span in spans {
        let Some(message) = messages.get(span.message) else { continue };
        // A template may write a text down more than once.
        let mark = mark(span.message);
        let places = rendered.match_indices(&mark).map(|(at, _)| {
            let last = turns.iter().take_while(|token| token.at < at).last();
            Some(last.map_or(Owner::Nobody, |token| token.then.clone()))
        });
        let mut owners: Vec<Option<Owner>> = Vec::new();
        for owner in places {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        let tokens = if owners.is_empty() { Vec::new() } else { family.tokens(&message.text) };
        if owners.is_empty() {
            owners.push(None);
        }
        let piece = |bytes: Range<usize>, owner: Option<Owner>, by| {
            let bytes = bytes.start.max(span.bytes.start)..bytes.end.min(span.bytes.end);
            (!bytes.is_empty()).then_some(Piece { message: span.message, bytes, wire: message.role, owner, by })
        };
        let first = tokens.first().map_or(message.text.len(), |token| token.at);
        pieces.extend(owners.into_iter().filter_map(|owner| piece(0..first, owner, By::Template)));
        // Behind a turn token of its own the text is in the same turn wherever it is written.
        for (place, token) in tokens.iter().enumerate() {
            let end = tokens.get(place + 1).map_or(message.text.len(), |next| next.at);
            pieces.extend(piece(token.at..end, Some(token.then.clone()), By::Forged));
        }
        let inside = tokens.into_iter().filter(|token| span.bytes.contains(&token.at));
        forged.extend(inside.map(|token| (span.message, token)));
    }
    Ok(Found::Turns { family: family.id, pieces, forged })
}

impl Found {
    /// Whose turns the asked bytes are in, in words, each once and in their order.
    pub fn answer(&self) -> String {
        let Self::Turns { pieces, .. } = self else { return UNKNOWN.to_owned() };
        let mut told: Vec<String> = Vec::new();
        for piece in pieces {
            let whose = match (&piece.owner, piece.by) {
                (None, _) => "left out".to_owned(),
                (Some(owner), By::Template) => owner.to_string(),
                (Some(owner), By::Forged) => format!("{owner} (by a forged token)"),
            };
            if !told.contains(&whose) {
                told.push(whose);
            }
        }
        told.join(", ")
    }

    /// Whether any asked byte is in a turn of a name that is not known: whose it is for the model cannot be told.
    pub fn is_unsure(&self) -> bool {
        match self {
            Self::UnknownTemplate => true,
            Self::Turns { pieces, .. } => pieces.iter().any(|piece| matches!(piece.owner, Some(Owner::Other(_)))),
        }
    }

    /// Whether any asked byte that is not the user's on the wire is in a user's turn for the model.
    pub fn gives_to_user(&self) -> bool {
        match self {
            Self::UnknownTemplate => false,
            Self::Turns { pieces, .. } => {
                pieces.iter().any(|piece| piece.owner == Some(Owner::User) && piece.wire != MessageRole::User)
            }
        }
    }
}

/// Characters that no text is written with.
fn mark(index: usize) -> String {
    format!("\u{e000}{index}\u{e001}")
}

/// The message with a mark in place of its text, and nothing in its calls that could open a turn.
fn marked(message: &Message, index: usize) -> Message {
    let text = if message.text.is_empty() { String::new() } else { mark(index) };
    let calls = message.calls.iter().cloned().map(|mut call| {
        call.arguments = "{}".to_owned();
        call
    });
    Message { text, calls: calls.collect(), ..message.clone() }
}
