//! Any transcript in, sessions out: readers of agent transcript formats, detected by content, and
//! the writer of the canonical form.
//!
//! * [`walk`](mod@walk): from paths and folders to what may be a session.
//! * [`open`]: [`detect`] a file's format and [`read_path`] its sessions; [`formats`]: the list of formats.
//! * [`reader`]: what a format has to offer; [`input`] and [`sample`]: what it is given.
//! * [`records`], [`mend`] and [`fields`]: lines and JSON as they stand in real files, damage included.
//! * [`content`], [`order`], [`naming`] and `outlet`: what formats have in common on the way to sessions.
//! * `chat`, `gemini` and `replies`: messages in the manner of Chat and of Gemini, replies put together of their pieces.
//! * `values` and `archive`: files of one session a document or a line, zip files.
//! * `sqlite`: databases of unknown origin, opened without running anything of them.
//! * [`losses`]: what was not taken over, counted; [`error`]: what stops an import.
//! * [`privacy`]: no one's keys, addresses and names in what is written.
//! * [`export`](mod@export): sessions in the formats of others.
//! * [`truncate`], [`stage`] and [`write_canonical`]: what happens to a session afterwards.
//!
//! Adding a format is adding one file under `formats/` and one row in [`formats::FORMATS`].
//!
//! Nothing is lost without a count, and no text decides who spoke: only the structure of a file does.

mod archive;
mod by_name;
mod chat;
pub mod content;
mod cut;
pub mod error;
pub mod export;
pub mod fields;
pub mod formats;
mod gemini;
pub mod input;
pub mod losses;
pub mod mend;
pub mod naming;
pub mod open;
pub mod order;
mod outlet;
pub mod privacy;
pub mod reader;
pub mod records;
mod replies;
pub mod sample;
mod sqlite;
mod values;
pub mod walk;
mod write;

pub use cut::{Cut, truncate};
pub use error::ImportError;
pub use export::{Exported, LeftOut, Target, export};
pub use formats::FORMATS;
pub use input::{History, Input, Limits};
pub use losses::{Losses, Skipped, Tally};
pub use open::{detect, format_of, read, read_each, read_path};
pub use privacy::{Privacy, Redactions, Salt};
pub use reader::{Confidence, Each, Imported, Reader};
pub use sample::Sample;
pub use walk::{Candidate, Found, Walk, walk};
pub use write::{Staged, stage, write_canonical};
