//! Any transcript in, sessions out: readers of agent transcript formats, detected by content, and
//! the writer of the canonical form.
//!
//! * [`open`]: [`detect`] a file's format and [`read_path`] its sessions; [`formats`]: the list of formats.
//! * [`reader`]: what a format has to offer; [`input`] and [`sample`]: what it is given.
//! * [`records`], [`mend`] and [`fields`]: lines and JSON as they stand in real files, damage included.
//! * [`content`], [`order`], [`naming`] and `outlet`: what formats have in common on the way to sessions.
//! * `chat`, `values` and `archive`: messages in the manner of Chat, files of one session a document or a line, zip files.
//! * `sqlite`: databases of unknown origin, opened without running anything of them.
//! * [`losses`]: what was not taken over, counted; [`error`]: what stops an import.
//! * [`truncate`] and [`write_canonical`]: what happens to a session afterwards.
//!
//! Adding a format is adding one file under `formats/` and one row in [`formats::FORMATS`].
//!
//! Nothing is lost without a count, and no text decides who spoke: only the structure of a file does.

mod archive;
mod chat;
pub mod content;
mod cut;
pub mod error;
pub mod fields;
pub mod formats;
pub mod input;
pub mod losses;
pub mod mend;
pub mod naming;
pub mod open;
pub mod order;
mod outlet;
pub mod reader;
pub mod records;
pub mod sample;
mod sqlite;
mod values;
mod write;

pub use cut::{Cut, truncate};
pub use error::ImportError;
pub use formats::FORMATS;
pub use input::{History, Input, Limits};
pub use losses::{Losses, Skipped, Tally};
pub use open::{detect, format_of, read, read_each, read_path};
pub use reader::{Confidence, Each, Imported, Reader};
pub use sample::Sample;
pub use write::write_canonical;
