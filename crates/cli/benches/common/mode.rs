//! Whether to measure, or only to see that the benchmark runs.

use std::env;

/// How much to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Measure.
    Full,
    /// Go through every step once, over one session.
    Quick,
}

impl Mode {
    /// `cargo bench` says `--bench`. Whoever does not, such as `cargo test --benches`, wants no numbers;
    /// `--test` says so aloud.
    pub(crate) fn asked_for() -> Self {
        let told = |flag: &str| env::args().any(|argument| argument == flag);
        if told("--bench") && !told("--test") { Self::Full } else { Self::Quick }
    }

    /// `full`, or `quick` where nothing is measured.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}
