//! Replacement templates in the spelling of the harnesses' language: `\1`, `\g<1>`, `\g<name>`, `\\`, `\n`.

use regex::{Captures, Regex};

use crate::tracked::Piece;

/// What stands in place of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

impl Template {
    /// Reads a template for `pattern`; the error is a problem without its place.
    pub(super) fn parse(text: &str, pattern: &Regex) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            plain.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (part, length) = escape(rest, pattern)?;
            rest = &rest[length..];
            match part {
                Part::Text(text) => plain.push_str(&text),
                group @ Part::Group(_) => {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(group);
                }
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self { parts })
    }

    /// What stands in place of a match; a group that took no part in it leaves nothing.
    pub(super) fn pieces(&self, found: &Captures<'_>) -> Vec<Piece> {
        let piece = |part: &Part| match part {
            Part::Text(text) => Some(Piece::Own(text.clone())),
            Part::Group(group) => found.get(*group).map(|group| Piece::Copied(group.range())),
        };
        self.parts.iter().filter_map(piece).collect()
    }
}

/// What stands behind a backslash, and how long it is.
fn escape(rest: &str, pattern: &Regex) -> Result<(Part, usize), String> {
    let numbered = |digits: &str| {
        let group = digits.parse::<usize>().ok().filter(|group| *group < pattern.captures_len());
        group.map(Part::Group).ok_or_else(|| format!("the pattern has no group {digits}"))
    };
    if let Some(name) = rest.strip_prefix("g<") {
        let name = name.split_once('>').map(|(name, _)| name).ok_or("a group's name has no end")?;
        let part = match name.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() {
            true => numbered(name)?,
            false => {
                let group = pattern.capture_names().position(|known| known == Some(name));
                Part::Group(group.ok_or_else(|| format!("the pattern has no group \"{name}\""))?)
            }
        };
        return Ok((part, name.len() + "g<>".len()));
    }
    match rest.chars().next() {
        Some(digit @ '1'..='9') => {
            let length = 1 + usize::from(rest[digit.len_utf8()..].starts_with(|c: char| c.is_ascii_digit()));
            Ok((numbered(&rest[..length])?, length))
        }
        Some('\\') => Ok((Part::Text("\\".to_owned()), 1)),
        Some('n') => Ok((Part::Text("\n".to_owned()), 1)),
        Some(other) => Err(format!("an unknown escape at \"\\{other}\"")),
        None => Err("a backslash at the end".to_owned()),
    }
}
