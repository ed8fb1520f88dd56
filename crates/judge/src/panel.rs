//! Several judges over one summary: the vote, how far they agree, and which summaries are looked at a second time.

use laundromat_session::Reading;
use laundromat_session::seed::Seed;

/// What several judges come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// More than half of all judges read the summary so.
    Decided {
        /// The reading.
        reading: Reading,
        /// Judges that read it otherwise, or gave no verdict.
        dissenting: usize,
    },
    /// No reading has more than half of the judges. It is no verdict, and is never taken as safe.
    Disputed,
}

/// The ruling over all judges' votes; `None` is a judge without a verdict. An abstention counts against a majority, since
/// leaving it out would let one judge of three decide.
pub fn rule(votes: &[Option<Reading>]) -> Ruling {
    let of = |reading: Reading| votes.iter().filter(|vote| **vote == Some(reading)).count();
    let decided = Reading::ALL.iter().copied().find(|reading| of(*reading) * 2 > votes.len());
    decided.map_or(Ruling::Disputed, |reading| Ruling::Decided { reading, dissenting: votes.len() - of(reading) })
}

/// Why a summary is looked at beyond its one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// The gate found no trace: the judge reads it all the same, and what it finds is what the gate misses.
    Audit,
    /// The judge reads it twice, and how often it says the same is its test-retest agreement.
    Retest,
}

impl Sample {
    /// Its name in tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Retest => "retest",
        }
    }
}

/// A share of summaries, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(f64);

impl Share {
    /// No summary.
    pub const NONE: Self = Self(0.0);

    /// A share from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// As a number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether the trial called `trial` is in the share that `sample` takes. The seed and the name alone decide, so a
    /// trial stays in or out whatever else is added to the run.
    pub fn takes(self, sample: Sample, seed: u64, trial: &str) -> bool {
        let mut first = [0; 8];
        let bytes = Seed { seed, session: trial, attack: "" }.bytes(sample.id());
        first.copy_from_slice(&bytes[..8]);
        // 53 bits are exact as a double, and below 1 whatever they are.
        ((u64::from_le_bytes(first) >> 11) as f64) < self.0 * (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::Reading;
    use proptest::prelude::*;

    use super::{Ruling, Sample, Share, rule};

    #[test]
    fn a_majority_is_of_all_judges() {
        use Reading::{Absent, Tool, User};
        let cases = [
            (vec![Some(User)], Ruling::Decided { reading: User, dissenting: 0 }),
            (vec![Some(User), Some(User), Some(Tool)], Ruling::Decided { reading: User, dissenting: 1 }),
            (vec![Some(User), Some(User), None], Ruling::Decided { reading: User, dissenting: 1 }),
            (vec![Some(User), None, None], Ruling::Disputed),
            (vec![Some(User), Some(Tool)], Ruling::Disputed),
            (vec![Some(User), Some(Tool), Some(Absent)], Ruling::Disputed),
            (vec![], Ruling::Disputed),
        ];
        for (votes, ruling) in cases {
            assert_eq!(rule(&votes), ruling, "{votes:?}");
        }
    }

    fn vote() -> impl Strategy<Value = Option<Reading>> {
        proptest::option::of(proptest::sample::select(Reading::ALL))
    }

    proptest! {
        #[test]
        fn the_order_of_judges_decides_nothing(mut votes in proptest::collection::vec(vote(), 0..8)) {
            let ruling = rule(&votes);
            votes.reverse();
            prop_assert_eq!(rule(&votes), ruling);
        }

        #[test]
        fn a_larger_share_takes_all_that_a_smaller_one_took(a in 0.0..1.0_f64, b in 0.0..1.0_f64, n in any::<u32>()) {
            let (small, large) = (a.min(b), a.max(b));
            let takes = |share| Share::new(share).expect("a share").takes(Sample::Audit, 1, &n.to_string());
            prop_assert!(!takes(small) || takes(large));
        }
    }

    #[test]
    fn a_share_is_about_its_size_and_the_samples_are_apart() {
        let tenth = Share::new(0.1).expect("a share");
        let taken = |sample| (0..10_000).filter(|n| tenth.takes(sample, 7, &n.to_string())).collect::<Vec<_>>();
        let (audit, retest) = (taken(Sample::Audit), taken(Sample::Retest));
        assert!((800..1200).contains(&audit.len()), "{}", audit.len());
        assert_ne!(audit, retest);
        assert!((0..100).all(|n| Share::new(1.0).expect("all").takes(Sample::Retest, 1, &n.to_string())));
        assert!(!(0..100).any(|n| Share::NONE.takes(Sample::Retest, 1, &n.to_string())));
        assert_eq!(Share::new(1.1), None);
        assert_eq!(Share::new(f64::NAN), None);
    }
}
