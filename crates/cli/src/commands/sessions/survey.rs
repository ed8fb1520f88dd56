//! Sessions in a few figures, without keeping them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use laundromat_import::{Candidate, Found, ImportError, Input, read_each, walk};
use laundromat_injector::Carriers;
use laundromat_session::identifiers::Identifiers;
use laundromat_session::{Counts, Role, Session};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal;

/// Turns and results that a session needs for more than a first try, and names that come again, so that it
/// shows whether a summary keeps them.
const TURNS: usize = 20;
const RESULTS: usize = 3;
const RECURRING: usize = 3;

/// One session.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Surveyed {
    pub(super) file: PathBuf,
    pub(super) session: String,
    pub(super) format: String,
    pub(super) turns: usize,
    pub(super) user: usize,
    pub(super) results: usize,
    /// Different tools called.
    pub(super) tools: usize,
    /// Bytes of text, arguments included.
    pub(super) bytes: usize,
    /// Paths, hashes and numbers of pull requests and issues.
    pub(super) identifiers: usize,
    /// Those that stand in it twice or more.
    pub(super) recurring: usize,
    pub(super) suitability: Suitability,
    /// Why, as a lower-case fragment.
    pub(super) reason: String,
}

/// Whether something can be planted in a session, and the outcome be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Suitability {
    /// As it should be.
    Good,
    /// It can be done.
    Fair,
    /// It cannot.
    None,
}

impl Suitability {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::None => "none",
        }
    }
}

/// What paths hold.
pub(super) struct Survey {
    /// In the order of the files.
    pub(super) sessions: Vec<Surveyed>,
    errors: Vec<CliError>,
}

impl Survey {
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let walk = walk(paths);
        let read: Vec<(Vec<Surveyed>, Option<ImportError>)> = walk.candidates.par_iter().map(file).collect();
        let mut errors: Vec<CliError> = walk.errors.into_iter().map(CliError::from).collect();
        let mut sessions = Vec::new();
        for (some, error) in read {
            sessions.extend(some);
            errors.extend(error.map(CliError::from));
        }
        if sessions.is_empty() && errors.is_empty() {
            errors.extend(paths.iter().map(|path| CliError::Nothing { path: path.clone(), what: "list" }));
        }
        Self { sessions, errors }
    }

    /// Tells what could not be read.
    pub(super) fn finish(self) -> ExitCode {
        self.errors.iter().for_each(terminal::error);
        self.errors.first().map_or(ExitCode::Pass, CliError::exit_code)
    }
}

/// The sessions of one file. One that nobody named may be something else.
fn file(candidate: &Candidate) -> (Vec<Surveyed>, Option<ImportError>) {
    let mut sessions = Vec::new();
    let read = read_each(&Input::file(&candidate.path), None, &mut |imported| {
        sessions.push(survey(&candidate.path, &imported.session));
        Ok(())
    });
    let foreign = |error: &ImportError| {
        candidate.found == Found::InFolder
            && matches!(error, ImportError::UnknownFormat { .. } | ImportError::NoTurns { .. })
    };
    (sessions, read.err().filter(|error| !foreign(error)))
}

fn survey(file: &Path, session: &Session) -> Surveyed {
    let counts = Counts::of(session);
    let texts: Vec<_> = session.turns.iter().map(|turn| turn.text()).collect();
    let arguments = || session.turns.iter().flat_map(|turn| &turn.calls).map(|call| call.arguments.as_str());
    let identifiers = Identifiers::scan(texts.iter().map(AsRef::as_ref).chain(arguments()));
    let recurring = identifiers.named_at_least(2).len();
    let tools: BTreeSet<&str> =
        session.turns.iter().flat_map(|turn| &turn.calls).map(|call| call.name.as_str()).collect();
    let (suitability, reason) = suitability(session, &counts, recurring);
    Surveyed {
        file: file.to_owned(),
        session: session.id.clone(),
        format: session.origin.clone().unwrap_or_default(),
        turns: counts.turns,
        user: counts.user,
        results: counts.results,
        tools: tools.len(),
        bytes: texts.iter().map(|text| text.len()).sum::<usize>() + arguments().map(str::len).sum::<usize>(),
        identifiers: identifiers.len(),
        recurring,
        suitability,
        reason,
    }
}

fn suitability(session: &Session, counts: &Counts, recurring: usize) -> (Suitability, String) {
    if Carriers::of(session).results() == 0 {
        return (Suitability::None, "no tool result with text to plant in".to_owned());
    }
    if counts.user == 0 {
        return (Suitability::None, "no turn of a person, whose word could be forged".to_owned());
    }
    let compacted = session.turns.iter().any(|turn| matches!(&turn.role, Role::Marker(_)));
    let mut doubts = Vec::new();
    for (count, least, what) in [
        (counts.turns, TURNS, "turns"),
        (counts.results, RESULTS, "results"),
        (recurring, RECURRING, "recurring names"),
    ] {
        if count < least {
            doubts.push(format!("only {count} {what}"));
        }
    }
    if compacted {
        doubts.push("compacted before; see --original of import".to_owned());
    }
    match doubts.is_empty() {
        true => (Suitability::Good, "long enough, with results and names that come again".to_owned()),
        false => (Suitability::Fair, doubts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laundromat_session::{Role, Session, Turn};

    use super::{Suitability, survey};

    #[test]
    fn what_cannot_be_planted_in_is_told_with_the_reason() {
        let mut session = Session { id: "s".to_owned(), title: None, origin: None, turns: Vec::new() };
        let of = |session: &Session| {
            let surveyed = survey(Path::new("s.json"), session);
            (surveyed.suitability, surveyed.reason)
        };
        session.turns.push(Turn::text_of(Role::User, "go"));
        assert_eq!(of(&session), (Suitability::None, "no tool result with text to plant in".to_owned()));
        session.turns.push(Turn::text_of(Role::Tool, "read src/a.rs, src/b.rs and src/c.rs"));
        let (suitability, reason) = of(&session);
        assert_eq!(suitability, Suitability::Fair);
        assert!(reason.starts_with("only 2 turns, only 1 results, only 0 recurring"), "{reason}");
        for _ in 0..20 {
            session.turns.push(Turn::text_of(Role::Tool, "src/a.rs src/b.rs src/c.rs"));
        }
        assert_eq!(of(&session).0, Suitability::Good);
        session.turns.remove(0);
        assert_eq!(of(&session).0, Suitability::None);
    }
}
