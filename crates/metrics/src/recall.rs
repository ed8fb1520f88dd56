//! Identifier recall: how many of the names a session works with its summary still holds, and how many it made up.
//!
//! The caller decides what the session's text is (raw or as sent), takes the plant out of it, and hands over the model's
//! own words as the summary, without harness preamble.

use laundromat_session::identifiers::{self, Identifiers};

use crate::error::StatsError;

/// How often the published definition wants an identifier in the transcript before a summary owes it.
pub const PUBLISHED_MIN_COUNT: usize = 2;

/// The identifiers of one session against one summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    /// Identifiers the transcript names often enough.
    pub named: usize,
    /// Those that the summary names too.
    pub found: usize,
    /// Identifiers in the summary that the transcript does not name at all.
    pub fabricated: usize,
    /// Length of the summary in characters.
    pub chars: usize,
}

impl Recall {
    /// Measures a summary against a scanned transcript, in the published mode: named at least twice, strict match.
    ///
    /// # Errors
    /// `empty_summary` when the summary is blank: an outcome of its own, not a recall of 0.
    ///
    /// Source: `|{i in ID(T): i in B}| / |ID(T)|`, the definition of the study reproduced here.
    pub fn measure(transcript: &Identifiers, summary: &str) -> Result<Self, StatsError> {
        if summary.trim().is_empty() {
            return Err(StatsError::EmptySummary);
        }
        let named = transcript.named_at_least(PUBLISHED_MIN_COUNT);
        let in_summary = Identifiers::scan([summary]);
        Ok(Self {
            named: named.len(),
            found: identifiers::found_in(&named, &in_summary).len(),
            fabricated: in_summary.unknown_to(transcript).len(),
            chars: summary.chars().count(),
        })
    }

    /// The share found; none when the transcript names nothing, to be excluded and counted.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        (self.named > 0).then(|| self.found as f64 / self.named as f64)
    }

    /// The recall per 1,000 characters of summary: long summaries find more by being long.
    #[must_use]
    pub fn per_thousand_chars(&self) -> Option<f64> {
        self.recall().filter(|_| self.chars > 0).map(|r| r * 1000.0 / self.chars as f64)
    }
}

/// The micro-average: all found over all named; none when nothing is named anywhere.
#[must_use]
pub fn micro_average(recalls: &[Recall]) -> Option<f64> {
    let named: usize = recalls.iter().map(|r| r.named).sum();
    let found: usize = recalls.iter().map(|r| r.found).sum();
    (named > 0).then(|| found as f64 / named as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_missing_and_made_up() {
        let session = Identifiers::scan(["fix src/a.rs for #12", "src/a.rs and #12 again, once src/b.rs"]);
        let r = Recall::measure(&session, "Edited src/a.rs; see #99.").expect("not empty");
        assert_eq!(r, Recall { named: 2, found: 1, fabricated: 1, chars: 25 });
        assert_eq!(r.recall(), Some(0.5));
        assert!((r.per_thousand_chars().expect("defined") - 20.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_named_is_undefined_and_nothing_said_is_an_outcome() {
        // Edge cases 34 and 35 of the recall notes.
        let session = Identifiers::scan(["nothing here"]);
        assert_eq!(Recall::measure(&session, "words").map(|r| r.recall()), Ok(None));
        assert_eq!(Recall::measure(&session, " \n").map_err(|e| e.code()), Err("empty_summary"));
        assert_eq!(micro_average(&[]), None);
    }
}
