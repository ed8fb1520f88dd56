//! The arms, prompts and shields that come with laundromat: data files under `scenarios/`, embedded
//! so that the binary works alone. Adding one is adding its file.

use include_dir::{Dir, include_dir};

static ARMS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/arms");
static PROMPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/prompts");
static SHIELDS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/shields");

/// Text of the arm file `name`.
pub fn arm(name: &str) -> Option<&'static str> {
    text(&ARMS, name)
}

/// Text of the prompt file `name`.
pub fn prompt(name: &str) -> Option<&'static str> {
    text(&PROMPTS, name)
}

/// Text of the shield file `name`.
pub fn shield(name: &str) -> Option<&'static str> {
    text(&SHIELDS, name)
}

/// Names of all embedded arms, sorted.
pub fn arm_names() -> Vec<&'static str> {
    names(&ARMS)
}

/// Names of all embedded prompts, sorted.
pub fn prompt_names() -> Vec<&'static str> {
    names(&PROMPTS)
}

/// Names of all embedded shields, sorted.
pub fn shield_names() -> Vec<&'static str> {
    names(&SHIELDS)
}

fn text(folder: &'static Dir<'_>, name: &str) -> Option<&'static str> {
    folder.get_file(format!("{name}.toml"))?.contents_utf8()
}

fn names(folder: &'static Dir<'_>) -> Vec<&'static str> {
    let mut names: Vec<_> = folder.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}
