//! Each invariant has a patch that breaks it. This test applies every patch of `tests/mutants/` to a
//! copy of the repository and fails if the test that the patch names stays green.
//!
//! A patch begins with two lines: `breaks: ...` in words, and `test: ...`, arguments of `cargo test`.
//! It takes minutes, so it is run by `just mutants` and in CI.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::repo;

struct Mutant {
    name: String,
    patch: PathBuf,
    breaks: String,
    test: Vec<String>,
}

fn mutants() -> Vec<Mutant> {
    let mut patches: Vec<PathBuf> = fs::read_dir(repo("tests/mutants"))
        .expect("patches")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    patches.sort();
    patches
        .into_iter()
        .map(|patch| {
            let text = fs::read_to_string(&patch).expect("a patch");
            let head = |word: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(word));
                line.unwrap_or_else(|| panic!("{}: no line \"{word}\"", patch.display())).trim().to_owned()
            };
            Mutant {
                name: patch.file_stem().expect("a name").to_string_lossy().into_owned(),
                breaks: head("breaks:"),
                test: head("test:").split_whitespace().map(str::to_owned).collect(),
                patch,
            }
        })
        .collect()
}

/// Copies what git knows or would add, so that a working tree is tested as it stands.
fn copy_to(folder: &Path) {
    let listed = git(&repo("."), &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for name in String::from_utf8(listed.stdout).expect("names").split('\0').filter(|name| !name.is_empty()) {
        let from = repo(name);
        if from.is_file() {
            let to = folder.join(name);
            fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
            fs::copy(from, to).expect("copied");
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn cargo_test(folder: &Path, mutant: &Mutant, last: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .current_dir(folder)
        .arg("test")
        .args(&mutant.test)
        .args(last)
        .env("CARGO_TARGET_DIR", repo("target/mutants"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("cargo")
}

#[test]
#[ignore = "takes minutes: just mutants"]
fn every_mutant_is_caught() {
    let folder = tempfile::tempdir().expect("a folder");
    copy_to(folder.path());
    let mutants = mutants();
    assert!(mutants.len() >= 4);
    let mut missed = Vec::new();
    for mutant in &mutants {
        let green = cargo_test(folder.path(), mutant, &[]);
        let output = String::from_utf8_lossy(&green.stdout).into_owned();
        assert!(
            green.status.success() && output.contains(" 1 passed"),
            "{}: the test is not green before the patch\n{output}{}",
            mutant.name,
            String::from_utf8_lossy(&green.stderr)
        );
        let patch = mutant.patch.canonicalize().expect("a path");
        let patch = patch.to_str().expect("a name");
        git(folder.path(), &["apply", patch]);
        let built = cargo_test(folder.path(), mutant, &["--no-run"]);
        assert!(built.status.success(), "{}: does not build\n{}", mutant.name, String::from_utf8_lossy(&built.stderr));
        let caught = !cargo_test(folder.path(), mutant, &[]).status.success();
        git(folder.path(), &["apply", "--reverse", patch]);
        println!("{} {}: {}", if caught { "caught" } else { "MISSED" }, mutant.name, mutant.breaks);
        if !caught {
            missed.push(mutant.name.as_str());
        }
    }
    assert!(missed.is_empty(), "these mutants stay green: {missed:?}");
}
