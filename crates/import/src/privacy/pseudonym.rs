//! What stands in the place of a private thing: the same for the same thing, and nothing that leads back to it.

use std::fmt;

use super::detect::What;

/// Hexadecimal digits of a pseudonym: of a million values no two are likely to share one.
const TAG: usize = 10;

/// The key of one import's pseudonyms. Who does not have it cannot try out values, and pseudonyms of two
/// imports with different keys have nothing to do with each other.
#[derive(Clone)]
pub struct Salt([u8; 32]);

impl Salt {
    /// A salt from any bytes, such as those of a file that is kept apart from the sessions.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// What stands for `value`.
    pub(super) fn pseudonym(&self, what: What<'_>, value: &str) -> String {
        let tag = self.tag(what, value);
        match what {
            What::Rule { id, .. } => format!("[{id}-{tag}]"),
            What::Assigned => format!("[secret-{tag}]"),
            // Addresses, names and hosts keep their form, so that what is around them still reads as what it is.
            What::Email => format!("user-{tag}@redacted.invalid"),
            What::Phone => format!("[phone-{tag}]"),
            What::HomePath => format!("user-{tag}"),
            What::Host => format!("host-{tag}.invalid"),
        }
    }

    /// The digits of a keyed hash.
    fn tag(&self, what: What<'_>, value: &str) -> String {
        let same = match what {
            What::Phone => value.chars().filter(char::is_ascii_digit).collect(),
            What::Email | What::Host => value.to_lowercase(),
            What::Rule { .. } | What::Assigned | What::HomePath => value.to_owned(),
        };
        blake3::keyed_hash(&self.0, same.as_bytes()).to_hex()[..TAG].to_owned()
    }
}

impl fmt::Debug for Salt {
    /// Does not show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// Whether there is a pseudonym in `text` already, of those that could be taken for what they stand for.
pub(super) fn holds_one(text: &str) -> bool {
    ["user-", "host-"].iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let tag = text.as_bytes().get(at + word.len()..at + word.len() + TAG);
            tag.is_some_and(|tag| tag.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
        })
    })
}
