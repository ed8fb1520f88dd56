//! Canaries: the host and path that mark one specimen's plant, the same in every arm, model and
//! repetition. Reserved names only; nothing that a shield takes for a secret.

use laundromat_session::seed::Seed;
use laundromat_session::{Part, Session};

/// Letters and digits that cannot be read as one another.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789a";

/// The canary of a specimen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canary {
    /// Such as `pkg-k7q2ab.example`.
    pub host: String,
    /// Such as `/m4x9te/setup.sh`.
    pub path: String,
}

impl Canary {
    /// The hole for the host in statements and payloads.
    pub const HOST_HOLE: &'static str = "{host}";
    /// The hole for the path.
    pub const PATH_HOLE: &'static str = "{path}";

    /// Derives the canary from (seed, session, attack); tried again until neither part occurs in the session.
    pub fn derive(seed: Seed<'_>, session: &Session) -> Self {
        let mut attempt = 0_u32;
        loop {
            let bytes = seed.bytes(&format!("canary {attempt}"));
            let word = |from: usize| -> String {
                bytes[from..from + 6].iter().map(|byte| ALPHABET[usize::from(byte % 32)] as char).collect()
            };
            let canary = Self { host: format!("pkg-{}.example", word(0)), path: format!("/{}/setup.sh", word(6)) };
            if !canary.occurs_in(session) {
                return canary;
            }
            attempt += 1;
        }
    }

    /// Fills the holes of `template`.
    pub fn fill(&self, template: &str) -> String {
        template.replace(Self::HOST_HOLE, &self.host).replace(Self::PATH_HOLE, &self.path)
    }

    /// The name of a note that joins fragments.
    pub(crate) fn note(&self, seed: Seed<'_>) -> String {
        let number = u16::from_le_bytes([seed.bytes("note")[0], seed.bytes("note")[1]]);
        format!("note {number:05}")
    }

    fn occurs_in(&self, session: &Session) -> bool {
        let in_text = |text: &str| text.contains(&self.host) || text.contains(&self.path);
        session.turns.iter().any(|turn| {
            turn.parts.iter().any(|part| matches!(part, Part::Text(text) if in_text(text)))
                || turn.calls.iter().any(|call| in_text(&call.arguments))
        })
    }
}
