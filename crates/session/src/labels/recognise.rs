//! Recognising labels at line starts, for the built-in reader and the judge's gate.

use std::sync::LazyLock;

use super::{Naming, STYLES};

/// Who a recognised label says is speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// Anyone else: assistant, tool or system.
    Other,
}

/// A label found at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Who it says is speaking.
    pub speaker: Speaker,
    /// Bytes of the label, without the space or line break behind it.
    pub len: usize,
}

/// A piece of a label.
enum Piece {
    Fixed(&'static str),
    /// One or more digits.
    Number,
    /// Anything up to what follows, on the same line.
    Word,
}

/// What must stand behind the label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Anything,
    /// White space or the end: a bracket without a colon also opens a link.
    Space,
    /// The end of the line: "## User" is a label, "## Users table" is not.
    LineEnd,
}

/// A label as a line is compared with it.
struct Shape {
    speaker: Speaker,
    pieces: Vec<Piece>,
    behind: Behind,
}

/// The role-naming labels by their first byte, in table order. Every line of every message is
/// looked at, so a line that opens no label has to be passed on its first bytes.
static SHAPES: LazyLock<[Vec<Shape>; 256]> = LazyLock::new(|| {
    let mut shapes = [const { Vec::new() }; 256];
    for style in STYLES.iter().filter(|style| style.naming == Naming::Role) {
        let labels = [
            (style.user, Speaker::User),
            (style.assistant, Speaker::Other),
            (style.tool, Speaker::Other),
            (style.system, Speaker::Other),
        ];
        for (label, speaker) in labels {
            // Labels that a harness writes behind its user label give their text to the user.
            let speaker = if label.starts_with(style.user) { Speaker::User } else { speaker };
            let firsts: &[u8] = match label.as_bytes().first() {
                None => continue,
                Some(b'{') if label.starts_with("{n}") => b"0123456789",
                Some(first) => std::slice::from_ref(first),
            };
            for first in firsts {
                shapes[usize::from(*first)].push(Shape::of(label, speaker));
            }
        }
    }
    shapes
});

/// The role-naming label that opens `line`, if any. `line` starts at a line start and may run on.
pub fn opens(line: &str) -> Option<Found> {
    let first = *line.as_bytes().first()?;
    SHAPES[usize::from(first)]
        .iter()
        .find_map(|shape| Some(Found { speaker: shape.speaker, len: shape.matched(line)? }))
}

impl Shape {
    fn of(label: &'static str, speaker: Speaker) -> Self {
        let trimmed = label.trim_end();
        let behind = match () {
            () if label.ends_with('\n') => Behind::LineEnd,
            () if trimmed.ends_with(']') && trimmed.len() < label.len() => Behind::Space,
            () => Behind::Anything,
        };
        let mut pieces = Vec::new();
        let mut rest = trimmed;
        while !rest.is_empty() {
            let holes = [("{n}", Piece::Number), ("{id}", Piece::Word), ("{name}", Piece::Word)];
            let next = holes.into_iter().filter_map(|(hole, piece)| Some((rest.find(hole)?, hole, piece)));
            let Some((at, hole, piece)) = next.min_by_key(|(at, ..)| *at) else {
                pieces.push(Piece::Fixed(rest));
                break;
            };
            if at > 0 {
                pieces.push(Piece::Fixed(&rest[..at]));
            }
            pieces.push(piece);
            rest = &rest[at + hole.len()..];
        }
        Self { speaker, pieces, behind }
    }

    /// Length of the label where `line` starts with it.
    fn matched(&self, line: &str) -> Option<usize> {
        let mut rest = line;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            rest = match piece {
                Piece::Fixed(text) => rest.strip_prefix(text)?,
                Piece::Number => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    (digits > 0).then(|| &rest[digits..])?
                }
                Piece::Word => {
                    let Some(Piece::Fixed(behind)) = pieces.peek() else { return None };
                    let here = rest.split('\n').next().unwrap_or_default();
                    // What follows may itself go on in the next line; its first line must be here.
                    let first = behind.split('\n').next().unwrap_or_default();
                    &rest[here.find(first)?..]
                }
            };
        }
        let fits = match self.behind {
            Behind::Anything => true,
            Behind::Space => rest.is_empty() || rest.starts_with(char::is_whitespace),
            Behind::LineEnd => {
                let rest = rest.trim_start_matches([' ', '\r']);
                rest.is_empty() || rest.starts_with('\n')
            }
        };
        fits.then(|| line.len() - rest.len())
    }
}
