//! Whose turn text is in once a model's own chat template has written the messages down.
//!
//! A request that has roles on the wire need not have them for the model: templates may put tool output
//! into a user turn, and text that holds a model's turn tokens may open turns of its own.
//!
//! * [`source`]: a template from a file of Jinja, a `tokenizer_config.json` or a GGUF model ([`gguf`]);
//! * [`template`]: the template, compiled, and what it makes of messages;
//! * [`family`]: the turn tokens that are known;
//! * [`owner`]: whose turn each byte range of a text ends up in.
//!
//! It may use `session`. A further family of templates is one row of [`family::FAMILIES`].

pub mod family;
pub mod gguf;
pub mod owner;
pub mod source;
pub mod template;

pub use family::{Family, Owner};
pub use owner::{By, Found, Piece, Render, Span, UNKNOWN, check};
pub use source::{Source, SourceError};
pub use template::{Template, TemplateError, wire};
