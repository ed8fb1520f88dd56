//! What a transcript format has to offer: a name, an eye for its own files, and a way to read them.

use laundromat_session::Session;

use crate::error::ImportError;
use crate::input::Input;
use crate::losses::Losses;
use crate::sample::Sample;

/// How sure a reader is that a file is in its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It could be read, but has no sign of its own; other formats look the same.
    Possible,
    /// Its structure is that of the format.
    Likely,
    /// It has a sign that no other format has.
    Sure,
}

/// A transcript format.
pub trait Reader: Sync {
    /// The stable kebab-case id, used on the command line and as a session's origin.
    fn id(&self) -> &'static str;

    /// The format's name for people.
    fn title(&self) -> &'static str;

    /// How sure it is that the file is in this format; `None` when it is not. The content decides, the
    /// name is a hint at most.
    fn detect(&self, sample: &Sample) -> Option<Confidence>;

    /// Gives the sessions of the file to `each`, at least one, each as soon as it is complete: a file may
    /// hold more of them than fit into memory.
    ///
    /// # Errors
    /// Where the file cannot be read, is not in this format, or holds no conversation; and what `each` says.
    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError>;
}

/// Who gets the sessions of a file, one by one; its error ends the reading.
pub type Each<'a> = dyn FnMut(Imported) -> Result<(), ImportError> + 'a;

/// A session as it was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The session.
    pub session: Session,
    /// What was not taken over as it stood.
    pub losses: Losses,
    /// What a person should know about the session, as lower-case fragments.
    pub notes: Vec<String>,
}
