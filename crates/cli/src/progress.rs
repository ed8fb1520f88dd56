//! How a run is shown while it goes on: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use laundromat_report::escape::visible;
use laundromat_runner::Event;
use laundromat_session::Outcome;

use crate::terminal;

/// How often a line is printed where there is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows the events of a run.
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines(Mutex<Lines>),
}

/// What plain lines need to remember.
pub(crate) struct Lines {
    planned: u64,
    done: u64,
    unscored: u64,
    printed: Instant,
}

impl Progress {
    /// A bar where standard error is a terminal, plain lines elsewhere.
    pub(crate) fn new() -> Self {
        if std::io::stderr().is_terminal() {
            Self::Bar(ProgressBar::no_length())
        } else {
            Self::Lines(Mutex::new(Lines { planned: 0, done: 0, unscored: 0, printed: Instant::now() }))
        }
    }

    pub(crate) fn show(&self, event: &Event) {
        match self {
            Self::Bar(bar) => show_bar(bar, event),
            Self::Lines(lines) => lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner).show(event),
        }
    }
}

fn show_bar(bar: &ProgressBar, event: &Event) {
    match event {
        Event::Started { planned, stored, asked } => {
            note_asked(*asked);
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} trials, {eta} left {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_length(*planned);
            bar.set_position(*stored);
        }
        Event::Trial { id, outcome } => {
            bar.inc(1);
            if *outcome != Outcome::Scored {
                bar.set_message(visible(&format!("({outcome}: {}/{})", id.session, id.arm)).into_owned());
            }
            if bar.length() == Some(bar.position()) {
                bar.finish_and_clear();
            }
        }
        Event::Draining => bar.abandon_with_message("stopping: trials in flight are finished and saved"),
    }
}

/// Says what an earlier start may have paid for without keeping it.
fn note_asked(asked: u64) {
    if asked > 0 {
        terminal::note(&format!(
            "{asked} calls were in flight when the run was last stopped, or got no answer; they are made again"
        ));
    }
}

impl Lines {
    fn show(&mut self, event: &Event) {
        match event {
            Event::Started { planned, stored, asked } => {
                note_asked(*asked);
                (self.planned, self.done) = (*planned, *stored);
                match stored {
                    0 => terminal::note(&format!("{planned} trials to run")),
                    stored => terminal::note(&format!("{planned} trials, {stored} of them stored already")),
                }
            }
            Event::Trial { outcome, .. } => {
                self.done += 1;
                self.unscored += u64::from(*outcome != Outcome::Scored);
                if self.done == self.planned || self.printed.elapsed() >= PAUSE {
                    self.printed = Instant::now();
                    terminal::note(&format!("{}/{} trials, {} not scored", self.done, self.planned, self.unscored));
                }
            }
            Event::Draining => terminal::note("stopping: trials in flight are finished and saved"),
        }
    }
}
