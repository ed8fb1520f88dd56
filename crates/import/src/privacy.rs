//! Making sessions private before they are written: keys, tokens, passwords, e-mail addresses, phone
//! numbers, user names in paths and names of private hosts get pseudonyms. The same thing has the same
//! pseudonym throughout an import, so that who is who survives; it is made with a [`Salt`] that is not written.
//!
//! * `rules`: secrets that have a shape of their own, as data (`rules.toml`), to be added to.
//! * `assigned`: secrets known by what stands before them; `value`: whether a value looks like one.
//! * `personal`: what tells who or where someone is.
//! * `detect`: all of these in one pass over a text; `boundary`: words in escaped text.
//! * `apply`: a whole session; JSON stays JSON. `pseudonym`: what stands in the place of things.
//!
//! It is pure: a [`Session`](laundromat_session::Session) goes in and one comes out, with counts by kind.

mod apply;
mod assigned;
mod boundary;
mod detect;
mod personal;
mod pseudonym;
mod rules;
mod value;

pub use apply::{Privacy, Redactions};
pub use pseudonym::Salt;
