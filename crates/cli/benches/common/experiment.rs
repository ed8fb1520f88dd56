//! The experiment that is run: many sessions, two specimens of each, four arms.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::common::sessions::Corpus;

/// Attacks x arms: requests that are built for a session.
pub(crate) const BUILT_A_SESSION: usize = 8;
/// Trials in flight.
pub(crate) const CONCURRENCY: usize = 32;

/// Who is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Models<'a> {
    /// The reader and the rules, in the process itself.
    Builtin,
    /// An endpoint, for summaries and for verdicts.
    Chat {
        /// Its base URL.
        url: &'a str,
        /// The environment variable that holds its key.
        key_env: &'a str,
    },
}

/// How large the experiment is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Sessions.
    pub(crate) sessions: usize,
    /// Summarizers, which share what is built but not the body: it names the model.
    pub(crate) summarizers: usize,
    /// Repetitions, which share the body as well.
    pub(crate) repetitions: usize,
}

impl Shape {
    /// One summarizer and one repetition, so that every trial has a request of its own.
    pub(crate) fn unshared(sessions: usize) -> Self {
        Self { sessions, summarizers: 1, repetitions: 1 }
    }

    /// All trials.
    pub(crate) fn trials(self) -> usize {
        self.sessions * BUILT_A_SESSION * self.summarizers * self.repetitions
    }
}

/// Writes the sessions of `shape` and an experiment over them into `folder`; gives the experiment's file name.
pub(crate) fn write(folder: &Path, shape: Shape, models: Models<'_>) -> String {
    let name = format!("bench-{}", shape.sessions);
    let into = folder.join(&name);
    fs::create_dir_all(&into).expect("a folder");
    let corpus = Corpus::read();
    for number in 0..shape.sessions {
        let session = corpus.session(number);
        assert!((50_000..70_000).contains(&session.len()), "session {number} has {} bytes", session.len());
        fs::write(into.join(format!("s{number:05}.json")), session).expect("written");
    }
    let place = match models {
        Models::Builtin => String::new(),
        Models::Chat { url, key_env } => format!("base-url = {url:?}\nkey-env = {key_env:?}\n"),
    };
    let named = |builtin: &str, chat: String| match models {
        Models::Builtin => builtin.to_owned(),
        Models::Chat { .. } => chat,
    };
    let mut text = format!(
        "schema = \"laundromat-experiment/1\"\nname = {name:?}\nseed = 1\nrepetitions = {}\nsessions = [\"{name}/*.json\"]\n\
         attacks = [\"standing-approval\", \"clean\"]\n\
         arms = [\"hermes-0.19\", \"hermes-main\", \"hermes-split\", \"hermes-typed\"]\n",
        shape.repetitions
    );
    for number in 1..=shape.summarizers {
        let model = named("builtin:reader", format!("summarizer-{number}"));
        let _ = write!(text, "[[summarizers]]\nname = \"s{number}\"\nmodel = {model:?}\n{place}");
    }
    let judge = named("builtin:rules", "a-judge".to_owned());
    let _ = write!(text, "[judge]\nmodel = {judge:?}\n{place}[limits]\nconcurrency = {CONCURRENCY}\n");
    let file = format!("{name}.toml");
    fs::write(folder.join(&file), text).expect("written");
    file
}
