//! What the tests of the binary share.

#![allow(dead_code, reason = "not every test file uses all of it")]

pub(crate) mod destinations;
pub(crate) mod paid;

use std::path::PathBuf;

use assert_cmd::Command;

/// The binary, not asked for colours or a terminal.
pub(crate) fn laundromat() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laundromat"));
    command.env("NO_COLOR", "1");
    command
}

/// A path in the repository.
pub(crate) fn repo(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
