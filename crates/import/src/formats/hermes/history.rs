//! The session before it was compacted. A compaction leaves the old messages, and puts a summary behind them
//! with copies of the first and of the last ones around it.

use std::collections::HashSet;

use laundromat_session::Turn;

use super::row::{Entry, State};

/// How many messages a compaction copies at the beginning at most, as far as they are looked for.
const LONGEST_HEAD: usize = 32;

/// The messages without summaries, and without the copies that a compaction made.
pub(super) fn original(entries: Vec<Entry>) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut seen: HashSet<String> = HashSet::new();
    // Whether a copy may come now: copies stand behind the archived messages and behind a summary.
    let mut copies = false;
    let mut archived = false;
    for entry in entries {
        copies |= archived && entry.state == State::Active;
        archived = entry.state == State::Archived;
        if entry.turns.iter().any(is_summary) {
            drop_copied_head(&mut out);
            copies = true;
            let said: Vec<Turn> = entry.turns.into_iter().filter(|turn| !is_summary(turn)).collect();
            let rest = Entry { turns: said, state: entry.state };
            if !rest.turns.is_empty() && seen.insert(words(&rest)) {
                out.push(rest);
            }
            continue;
        }
        let new = seen.insert(words(&entry));
        if copies && !new {
            continue;
        }
        copies = false;
        out.push(entry);
    }
    out
}

fn is_summary(turn: &Turn) -> bool {
    turn.synthetic.as_deref() == Some("compact_summary")
}

/// What a message says and calls, to know it again.
fn words(entry: &Entry) -> String {
    let turns = entry.turns.iter().map(|turn| format!("{:?}", (&turn.role, &turn.parts, &turn.calls, &turn.call_id)));
    turns.collect()
}

/// Takes away the copies of the first messages that stand before a summary.
fn drop_copied_head(out: &mut Vec<Entry>) {
    let longest = (out.len() / 2).min(LONGEST_HEAD);
    let same = |length: &usize| {
        let tail = out.len() - length;
        out[..*length].iter().map(words).eq(out[tail..].iter().map(words))
    };
    if let Some(length) = (1..=longest).rev().find(same) {
        out.truncate(out.len() - length);
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Role, Turn};

    use super::original;
    use crate::formats::hermes::row::{Entry, State};

    /// Small letters are archived, large ones are not, `S` and `s` are summaries.
    fn kept(script: &str) -> String {
        let entries = script.chars().map(|name| {
            let mut turn = Turn::text_of(Role::User, name.to_ascii_lowercase().to_string());
            turn.synthetic = name.eq_ignore_ascii_case(&'s').then(|| "compact_summary".to_owned());
            let state = if name.is_ascii_lowercase() { State::Archived } else { State::Active };
            Entry { turns: vec![turn], state }
        });
        original(entries.collect()).iter().map(|entry| entry.turns[0].text().into_owned()).collect()
    }

    #[test]
    fn summaries_and_copies_go() {
        for (script, wanted) in [
            ("ABC", "abc"),
            // A person may say the same again.
            ("ABA", "aba"),
            ("abcSD", "abcd"),
            ("abcASCD", "abcd"),
            ("abcascdABSDE", "abcde"),
            // Not behind a summary, and not at once behind it.
            ("abcSDC", "abcdc"),
        ] {
            assert_eq!(kept(script), wanted, "{script}");
        }
    }
}
