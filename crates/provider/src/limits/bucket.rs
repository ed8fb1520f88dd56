//! So many a minute, spread evenly: a bucket that fills at a steady rate and holds a tenth of a minute's worth.
//!
//! Rate and size are chosen so that no minute sees more than was allowed. What is larger than the bucket is let
//! through when it is full, and leaves it in debt.

use std::time::{Duration, Instant};

const MINUTE: f64 = 60.0;

/// A limit of so many units a minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// Units a second.
    rate: f64,
    size: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket of `per_minute` units, as of `now`.
    pub fn new(per_minute: u32, now: Instant) -> Self {
        let per_minute = f64::from(per_minute.max(1));
        let size = (per_minute / 10.0).floor().max(1.0);
        Self { rate: (per_minute - size + 1.0) / MINUTE, size, level: size, at: now }
    }

    /// How long to wait at `now` until `units` may be taken; zero when they may be.
    pub fn wait(&mut self, units: u64, now: Instant) -> Duration {
        self.fill(now);
        let missing = (units as f64).min(self.size) - self.level;
        if missing <= 0.0 { Duration::ZERO } else { Duration::from_secs_f64(missing / self.rate) }
    }

    /// Takes `units`, which [`Bucket::wait`] said may be taken.
    pub fn take(&mut self, units: u64) {
        self.level -= units as f64;
    }

    /// Puts right what was taken: `estimated` units were, `used` ones were needed.
    pub fn correct(&mut self, estimated: u64, used: u64) {
        self.level = (self.level + estimated as f64 - used as f64).min(self.size);
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed * self.rate).min(self.size);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::Bucket;

    /// Takes as fast as the bucket lets; gives the seconds at which each unit was taken.
    fn taken(per_minute: u32, units: u64, calls: usize) -> Vec<f64> {
        let start = Instant::now();
        let (mut bucket, mut now) = (Bucket::new(per_minute, start), start);
        (0..calls)
            .map(|_| {
                // A nanosecond more, since a wait is rounded to whole ones.
                match bucket.wait(units, now) {
                    Duration::ZERO => {}
                    wait => now += wait + Duration::from_nanos(1),
                }
                assert_eq!(bucket.wait(units, now), Duration::ZERO);
                bucket.take(units);
                now.duration_since(start).as_secs_f64()
            })
            .collect()
    }

    proptest! {
        #[test]
        fn no_minute_sees_more_than_allowed(per_minute in 1u32..300) {
            let at = taken(per_minute, 1, 3 * per_minute as usize);
            for (index, start) in at.iter().enumerate() {
                let within = at[index..].iter().take_while(|at| **at < start + 60.0).count();
                prop_assert!(within <= per_minute as usize, "{within} of {per_minute}");
            }
            // And nothing of note is given away: three minutes' worth takes about three minutes.
            prop_assert!(at[at.len() - 1] < 60.0 * 3.4);
        }
    }

    #[test]
    fn what_is_larger_than_the_bucket_goes_through_and_is_paid_off() {
        let at = taken(600, 300, 3);
        assert_eq!(at[0], 0.0);
        assert!(at[1] > 29.0 && at[1] < 40.0, "{at:?}");
    }

    #[test]
    fn what_was_not_used_comes_back_and_what_was_used_beyond_is_taken() {
        let now = Instant::now();
        let mut bucket = Bucket::new(600, now);
        bucket.take(60);
        assert!(bucket.wait(60, now) > Duration::ZERO);
        bucket.correct(60, 0);
        assert_eq!(bucket.wait(60, now), Duration::ZERO);
        bucket.take(1);
        bucket.correct(1, 600);
        assert!(bucket.wait(1, now) > Duration::from_secs(50));
    }
}
