//! The attacks, controls and axis values that come with laundromat, embedded from `scenarios/attacks/`.

use include_dir::{Dir, include_dir};

static ATTACKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios/attacks");

/// Text of the attack file `name`.
pub fn attack(name: &str) -> Option<&'static str> {
    ATTACKS.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// Names of all embedded attacks, sorted.
pub fn attack_names() -> Vec<&'static str> {
    let mut names: Vec<_> = ATTACKS.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}

/// The files of axis values, each with its name.
pub fn axis_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = ATTACKS.get_dir("axes").into_iter().flat_map(Dir::files);
    files.filter_map(|file| Some((file.path().file_stem()?.to_str()?, file.contents_utf8()?)))
}
