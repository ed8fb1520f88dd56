//! A small seeded generator for resampling and simulation: the only random numbers of the crate, and the caller has
//! their seed.
//!
//! A stream belongs to (seed, number), so work that is cut into numbered pieces draws the same numbers whichever thread
//! does which piece.

/// The increment of the generator, the golden ratio in 64 bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers.
///
/// SplitMix64: `state += STEP`, then two rounds of xor-shift-multiply. It passes the usual test batteries, has a period
/// of 2^64 and is not for secrets.
///
/// Source: Steele, Lea and Flood (2014).
#[derive(Debug, Clone)]
pub struct Stream(u64);

impl Stream {
    /// The stream `number` of `seed`.
    #[must_use]
    pub const fn new(seed: u64, number: u64) -> Self {
        // Mixed twice, so that neighbouring numbers do not begin as neighbours.
        Self(mixed(mixed(seed.wrapping_add(STEP)) ^ number.wrapping_mul(STEP)))
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A place in a list of `length` entries; 0 for an empty one.
    pub const fn place(&mut self, length: usize) -> usize {
        // The high half of the product: no division, and a bias of length/2^64.
        ((self.bits() as u128 * length as u128) >> 64) as usize
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        // As many bits as a double has digits.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const fn mixed(state: u64) -> u64 {
    let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_is_the_published_one() {
        // The first outputs of SplitMix64 from state 0.
        let mut stream = Stream(0);
        assert_eq!([stream.bits(), stream.bits()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn places_and_units_are_spread() {
        let mut stream = Stream::new(1, 2);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[stream.place(7)] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(stream.place(0), 0);
        let mean = (0..4000).map(|_| stream.unit()).sum::<f64>() / 4000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first: Vec<u64> = (0..4).map(|number| Stream::new(9, number).bits()).collect();
        let unique: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(unique.len(), 4);
        assert_ne!(Stream::new(9, 0).bits(), Stream::new(8, 0).bits());
    }
}
