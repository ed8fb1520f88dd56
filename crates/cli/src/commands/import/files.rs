//! One file: its sessions are read, shortened where that is wanted, and written one after another.

use std::path::PathBuf;

use laundromat_import::{
    Candidate, Found, History, ImportError, Imported, Input, Losses, Privacy, Redactions, Staged, read_each, stage,
    truncate,
};
use laundromat_session::Counts;

use crate::args::Import;
use crate::error::CliError;

/// What came of one file.
pub(super) struct FileReport {
    pub(super) path: PathBuf,
    found: Found,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    pub(super) errors: Vec<CliError>,
    pub(super) ended: Ended,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It holds sessions, or has to.
    Read,
    /// It stands in a folder and is no session.
    PassedOver,
}

/// One session.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) format: String,
    pub(super) counts: Counts,
    pub(super) losses: Losses,
    pub(super) redactions: Redactions,
    /// On disk without a name as yet.
    staged: Option<Staged>,
}

impl FileReport {
    pub(super) fn new(candidate: &Candidate) -> Self {
        Self {
            path: candidate.path.clone(),
            found: candidate.found,
            rows: Vec::new(),
            notes: Vec::new(),
            errors: Vec::new(),
            ended: Ended::Read,
        }
    }

    /// Reads the file, and tells after each session.
    pub(super) fn read(&mut self, args: &Import, privacy: Option<&Privacy>, mut after: impl FnMut(&mut Self)) {
        let history = if args.original { History::Original } else { History::Live };
        let input = Input::file(&self.path).with_history(history);
        let read = read_each(&input, args.format.as_deref(), &mut |imported| {
            self.session(args, privacy, imported);
            after(self);
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(error) if self.rows.is_empty() && self.is_no_session(&error) => self.ended = Ended::PassedOver,
            Err(error) => self.errors.push(error.into()),
        }
    }

    /// Whether a file that nobody named is just something else.
    fn is_no_session(&self, error: &ImportError) -> bool {
        self.found == Found::InFolder
            && matches!(
                error,
                ImportError::UnknownFormat { .. } | ImportError::NotThisFormat { .. } | ImportError::NoTurns { .. }
            )
    }

    fn session(&mut self, args: &Import, privacy: Option<&Privacy>, mut imported: Imported) {
        let path = self.path.display();
        if let Some(first) = args.first {
            let cut = truncate(&mut imported.session, usize::try_from(first).unwrap_or(usize::MAX));
            if cut.results_lost > 0 {
                self.notes.push(format!("{path}: {} calls lost their result to --first {first}", cut.results_lost));
            }
        }
        for skipped in &imported.losses.skipped_first {
            self.notes.push(format!("{path}: record {}: skipped: {}", skipped.record, skipped.reason));
        }
        self.notes.extend(imported.notes.iter().map(|text| format!("{path}: {text}")));
        if args.strict && !imported.losses.nothing_lost() {
            self.errors.push(CliError::Lost {
                path: self.path.clone(),
                session: imported.session.id,
                losses: imported.losses.to_string(),
            });
            return;
        }
        let (session, redactions) = match privacy {
            Some(privacy) => privacy.redact(imported.session),
            None => (imported.session, Redactions::default()),
        };
        match stage(&session, &args.out) {
            Ok(staged) => self.rows.push(Row {
                counts: Counts::of(&session),
                id: session.id,
                format: session.origin.unwrap_or_default(),
                losses: imported.losses,
                redactions,
                staged: Some(staged),
            }),
            Err(error) => self.errors.push(error.into()),
        }
    }

    /// Gives the sessions so far their names; one whose name is taken is no row any more.
    pub(super) fn commit(&mut self) {
        let errors = &mut self.errors;
        self.rows.retain_mut(|row| match row.staged.take().map(Staged::commit) {
            None | Some(Ok(_)) => true,
            Some(Err(error)) => {
                errors.push(error.into());
                false
            }
        });
    }
}
