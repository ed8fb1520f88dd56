//! How far an import is, shown on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use laundromat_import::Candidate;

/// Shows how many bytes are read. Where standard error is no terminal, nothing is shown.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new(candidates: &[Candidate]) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(candidates.iter().map(|candidate| candidate.bytes).sum());
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}, {msg} {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("0 sessions,");
        Self(bar)
    }

    /// One more session is written.
    pub(super) fn session(&self) {
        // Sessions are few beside the bytes they are made of: counting them in the message is cheap.
        let before = self.0.message().split(' ').next().and_then(|count| count.parse::<u64>().ok()).unwrap_or_default();
        self.0.set_message(format!("{} sessions,", before + 1));
    }

    /// A file is done.
    pub(super) fn file(&self, candidate: &Candidate) {
        self.0.inc(candidate.bytes);
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
