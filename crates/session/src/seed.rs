//! Seeded choices. Each is a hash of what it is for, never a running generator, so that adding a
//! session, an arm or a partition moves no other choice.

/// What a choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct Seed<'a> {
    /// The experiment's seed.
    pub seed: u64,
    /// The session's id.
    pub session: &'a str,
    /// The attack's id.
    pub attack: &'a str,
}

impl Seed<'_> {
    /// 32 bytes for `purpose`: blake3 over the length-prefixed seed, session, attack and purpose.
    pub fn bytes(self, purpose: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        for field in [self.session, self.attack, purpose] {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// A number in `0..n` for `purpose`; 0 when `n` is 0.
    pub fn pick(self, purpose: &str, n: usize) -> usize {
        let mut first = [0; 8];
        first.copy_from_slice(&self.bytes(purpose)[..8]);
        match n {
            0 => 0,
            // The bias of the remainder is below n / 2^64.
            _ => (u64::from_le_bytes(first) % n as u64) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Seed;

    #[test]
    fn fields_cannot_run_into_each_other() {
        let seed = |session, attack| Seed { seed: 1, session, attack };
        assert_ne!(seed("ab", "c").bytes("x"), seed("a", "bc").bytes("x"));
        assert_ne!(seed("a", "b").bytes("x"), seed("a", "b").bytes("y"));
    }

    #[test]
    fn a_pick_is_in_range() {
        for n in 1..50 {
            let session = n.to_string();
            assert!(Seed { seed: 7, session: &session, attack: "a" }.pick("turn", n) < n);
        }
        assert_eq!(Seed { seed: 7, session: "s", attack: "a" }.pick("turn", 0), 0);
    }
}
