//! laundromat's own form: what it writes, it reads back unchanged.

use laundromat_session::canonical;

use crate::error::ImportError;
use crate::input::Input;
use crate::losses::Losses;
use crate::reader::{Confidence, Each, Imported, Reader};
use crate::sample::Sample;

/// What a schema of this form starts with, whatever its version: an unknown version is told by name.
const SCHEMAS: &str = "laundromat-session/";

/// The canonical form.
#[derive(Debug)]
pub(super) struct Canonical;

impl Reader for Canonical {
    fn id(&self) -> &'static str {
        "laundromat"
    }

    fn title(&self) -> &'static str {
        "laundromat session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let schema = sample.objects().next()?.text("schema")?.into_owned();
        schema.starts_with(SCHEMAS).then_some(Confidence::Sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let text = input.text()?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let session =
            canonical::read(text).map_err(|faults| ImportError::Faults { path: input.path().to_owned(), faults })?;
        each(Imported { session, losses: Losses::default(), notes: Vec::new() })
    }
}
