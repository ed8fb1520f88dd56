//! The experiment that is run: many sessions, two specimens of each, four arms, one repetition, so that
//! every trial has a request of its own.

use std::fs;
use std::path::Path;

use crate::common::sessions::Corpus;

/// Attacks x arms.
pub(crate) const TRIALS_A_SESSION: usize = 8;
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

/// Writes `sessions` sessions and an experiment over them into `folder`; gives the experiment's file name.
pub(crate) fn write(folder: &Path, sessions: usize, models: Models<'_>) -> String {
    let name = format!("bench-{sessions}");
    let into = folder.join(&name);
    fs::create_dir_all(&into).expect("a folder");
    let corpus = Corpus::read();
    for number in 0..sessions {
        let session = corpus.session(number);
        assert!((54_000..66_000).contains(&session.len()), "session {number} has {} bytes", session.len());
        fs::write(into.join(format!("s{number:05}.json")), session).expect("written");
    }
    let (summarizer, judge) = match models {
        Models::Builtin => ("model = \"builtin:reader\"".to_owned(), "model = \"builtin:rules\"".to_owned()),
        Models::Chat { url, key_env } => {
            let place = format!("base-url = {url:?}\nkey-env = {key_env:?}");
            (format!("model = \"a-summarizer\"\n{place}"), format!("model = \"a-judge\"\n{place}"))
        }
    };
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = {name:?}\nseed = 1\nsessions = [\"{name}/*.json\"]\n\
         attacks = [\"standing-approval\", \"clean\"]\n\
         arms = [\"hermes-0.19\", \"hermes-main\", \"hermes-split\", \"hermes-typed\"]\n\
         [[summarizers]]\nname = \"s\"\n{summarizer}\n[judge]\n{judge}\n[limits]\nconcurrency = {CONCURRENCY}\n"
    );
    let file = format!("{name}.toml");
    fs::write(folder.join(&file), text).expect("written");
    file
}
