//! The last step of every reader: drafts of sessions become [`Imported`] ones, named, with results behind
//! their calls, and are handed on one by one.

use laundromat_session::{Session, Turn};

use crate::error::ImportError;
use crate::input::Input;
use crate::losses::Losses;
use crate::naming::{Ids, session_id};
use crate::order::results_after_calls;
use crate::reader::{Each, Imported};

/// A session while it is read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The id that the file gives it; without one it is named after the file.
    pub(crate) own_id: Option<String>,
    /// A short title for people.
    pub(crate) title: Option<String>,
    /// The turns so far, in the order of the file.
    pub(crate) turns: Vec<Turn>,
    /// What was not taken over as it stood.
    pub(crate) losses: Losses,
    /// What a person should know, as lower-case fragments.
    pub(crate) notes: Vec<String>,
}

/// Where the drafts of one file go.
pub(crate) struct Outlet<'a, 'b> {
    input: &'a Input,
    format: &'static str,
    each: &'a mut Each<'b>,
    ids: Ids,
    /// The first draft, until it is known whether others follow: then all are numbered.
    first: Option<Draft>,
    given: usize,
    /// The losses of the first draft without turns, for the error of a file without any.
    empty: Option<String>,
}

impl<'a, 'b> Outlet<'a, 'b> {
    /// The outlet for `input`, read as `format`.
    pub(crate) fn new(input: &'a Input, format: &'static str, each: &'a mut Each<'b>) -> Self {
        Self { input, format, each, ids: Ids::default(), first: None, given: 0, empty: None }
    }

    /// Takes one draft; one without turns is passed over.
    ///
    /// # Errors
    /// What the receiver says.
    pub(crate) fn put(&mut self, draft: Draft) -> Result<(), ImportError> {
        if draft.turns.is_empty() {
            self.empty.get_or_insert_with(|| draft.losses.to_string());
            return Ok(());
        }
        match (self.first.take(), self.given) {
            (None, 0) => {
                self.first = Some(draft);
                Ok(())
            }
            (None, _) => self.give(draft, Numbered::Yes),
            (Some(first), _) => {
                self.give(first, Numbered::Yes)?;
                self.give(draft, Numbered::Yes)
            }
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Where no draft had a turn, and what the receiver says.
    pub(crate) fn finish(mut self) -> Result<(), ImportError> {
        if let Some(only) = self.first.take() {
            return self.give(only, Numbered::No);
        }
        if self.given == 0 {
            let losses = self.empty.unwrap_or_else(|| Losses::default().to_string());
            return Err(ImportError::NoTurns { path: self.input.path().to_owned(), format: self.format, losses });
        }
        Ok(())
    }

    fn give(&mut self, draft: Draft, numbered: Numbered) -> Result<(), ImportError> {
        let Draft { own_id, title, turns, mut losses, notes } = draft;
        self.given += 1;
        let stem = self.input.stem();
        let name = match numbered {
            Numbered::Yes => session_id(own_id.as_deref(), &format!("{stem}-{}", self.given)),
            Numbered::No => session_id(own_id.as_deref(), &stem),
        };
        let session = Session {
            id: self.ids.unique(&name),
            title,
            origin: Some(self.format.to_owned()),
            turns: results_after_calls(turns, &mut losses),
        };
        (self.each)(Imported { session, losses, notes })
    }
}

/// Whether sessions without an id of their own carry their number.
#[derive(Debug, Clone, Copy)]
enum Numbered {
    Yes,
    No,
}
