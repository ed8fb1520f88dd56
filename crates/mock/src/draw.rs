//! Chance as a hash: a draw depends on the script's seed, on what it is for and on the call's key, never on
//! the order in which calls arrive. A test can work out every draw beforehand.

/// A number in [0, 1) for the call `key`, drawn for `purpose`.
pub fn draw(seed: u64, purpose: &str, key: &str) -> f64 {
    unit(seed, &[purpose.as_bytes(), key.as_bytes()])
}

/// The same, drawn anew for each attempt.
pub fn draw_attempt(seed: u64, purpose: &str, key: &str, attempt: u32) -> f64 {
    unit(seed, &[purpose.as_bytes(), key.as_bytes(), &attempt.to_le_bytes()])
}

/// The first 8 bytes of blake3 over the length-prefixed fields, as a fraction of 2^64.
fn unit(seed: u64, fields: &[&[u8]]) -> f64 {
    let mut hasher = blake3::Hasher::new();
    for field in std::iter::once(&seed.to_le_bytes()[..]).chain(fields.iter().copied()) {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    // 53 bits fit a double exactly, so that the result is never rounded up to 1.
    (u64::from_le_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::{draw, draw_attempt};

    #[test]
    fn draws_are_even_and_repeatable() {
        let draws: Vec<f64> = (0..4000).map(|key| draw(7, "launder", &key.to_string())).collect();
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
        let below = draws.iter().filter(|u| **u < 0.25).count();
        assert!((900..1100).contains(&below), "{below}");
        assert_eq!(draws[17], draw(7, "launder", "17"));
    }

    #[test]
    fn every_field_counts_and_none_runs_into_the_next() {
        assert_ne!(draw(1, "a", "bc"), draw(1, "ab", "c"));
        assert_ne!(draw(1, "a", "b"), draw(2, "a", "b"));
        assert_ne!(draw_attempt(1, "a", "b", 1), draw_attempt(1, "a", "b", 2));
    }
}
