//! `sessions pick`: a choice that anyone can make again, over formats and lengths alike.

use std::collections::BTreeMap;

use laundromat_session::seed::Seed;

use super::list;
use super::survey::{Suitability, Survey, Surveyed};
use crate::args::SessionsPick;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{json, note};

pub(super) fn run(args: &SessionsPick) -> Result<ExitCode, CliError> {
    let mut survey = Survey::of(&args.paths);
    let sessions = std::mem::take(&mut survey.sessions);
    let picked = pick(sessions, args.n, args.seed);
    match args.json {
        true => json(&picked),
        false => list::print(&picked),
    }
    if picked.len() < args.n {
        note(&format!("{} sessions can be planted in; {} were asked for", picked.len(), args.n));
    }
    Ok(survey.finish())
}

/// `n` sessions: one after another from each stratum, in each the good ones first, and else by the seed alone.
fn pick(sessions: Vec<Surveyed>, n: usize, seed: u64) -> Vec<Surveyed> {
    let mut strata: BTreeMap<(String, usize), Vec<Surveyed>> = BTreeMap::new();
    for session in sessions.into_iter().filter(|session| session.suitability != Suitability::None) {
        strata.entry((session.format.clone(), length(session.turns))).or_default().push(session);
    }
    let lot = |name: &str| Seed { seed, session: name, attack: "" }.bytes("pick");
    for sessions in strata.values_mut() {
        // Taken from the end.
        sessions.sort_by_key(|one| {
            (one.suitability == Suitability::Good, lot(&one.session), one.file.clone(), one.session.clone())
        });
    }
    let mut order: Vec<(String, usize)> = strata.keys().cloned().collect();
    order.sort_by_key(|(format, length)| lot(&format!("{format} {length}")));
    let mut picked = Vec::new();
    while picked.len() < n {
        let before = picked.len();
        for stratum in &order {
            if picked.len() < n {
                picked.extend(strata.get_mut(stratum).and_then(Vec::pop));
            }
        }
        if picked.len() == before {
            break;
        }
    }
    picked
}

/// Short, middling or long.
fn length(turns: usize) -> usize {
    match turns {
        0..40 => 0,
        40..120 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::{Suitability, Surveyed, pick};

    fn sessions() -> Vec<Surveyed> {
        let one = |format: &str, number: usize, turns: usize, suitability| Surveyed {
            file: format!("{format}{number}").into(),
            session: format!("{format}-{number}"),
            format: format.to_owned(),
            turns,
            user: 1,
            results: 3,
            tools: 1,
            bytes: 1,
            identifiers: 0,
            recurring: 0,
            suitability,
            reason: String::new(),
        };
        let mut all: Vec<Surveyed> = (0..30).map(|number| one("many", number, 20, Suitability::Good)).collect();
        all.push(one("few", 1, 20, Suitability::Fair));
        all.push(one("few", 2, 200, Suitability::Good));
        all.push(one("none", 3, 20, Suitability::None));
        all
    }

    fn ids(picked: &[Surveyed]) -> Vec<String> {
        picked.iter().map(|one| one.session.clone()).collect()
    }

    #[test]
    fn every_stratum_has_its_turn() {
        let picked = ids(&pick(sessions(), 3, 1));
        assert!(picked.contains(&"few-1".to_owned()) && picked.contains(&"few-2".to_owned()), "{picked:?}");
        assert_eq!(pick(sessions(), 100, 1).len(), 32, "all that can be planted in");
    }

    #[test]
    fn the_choice_depends_on_the_seed_and_on_nothing_else() {
        let mut reversed = sessions();
        reversed.reverse();
        assert_eq!(ids(&pick(sessions(), 6, 7)), ids(&pick(reversed, 6, 7)));
        assert_ne!(ids(&pick(sessions(), 6, 7)), ids(&pick(sessions(), 6, 8)));
    }
}
