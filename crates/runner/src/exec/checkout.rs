//! Git refs: resolved to a commit when the arm is read, checked out beside the run when it starts. The
//! repository itself is not changed.

use std::path::Path;
use std::process::Command;

/// The commit that `reference` names in `repository`.
pub(super) fn commit(repository: &Path, reference: &str) -> Result<String, String> {
    let wanted = format!("{reference}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
    let commit = git(repository, &arguments).map_err(|why| {
        let why = if why.is_empty() { "it names no commit".to_owned() } else { why };
        format!("\"{}\" in {}: {why}", reference.escape_debug(), repository.display())
    })?;
    Ok(commit.trim().to_owned())
}

/// Checks `commit` of `repository` out into `folder`, which must not be there yet.
pub(super) fn check_out(repository: &Path, commit: &str, folder: &Path) -> Result<(), String> {
    // A clone that shares objects leaves the repository as it is; a worktree would be noted in it.
    let (from, to) = (repository.to_string_lossy(), folder.to_string_lossy());
    git(Path::new("."), &["clone", "--quiet", "--shared", "--no-checkout", "--", &from, &to])?;
    git(folder, &["checkout", "--quiet", "--detach", commit]).map(|_| ())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or_default().escape_debug().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{check_out, commit, git};

    #[test]
    fn a_ref_is_checked_out_as_it_was_and_its_repository_stays_as_it_is() {
        let temp = tempfile::tempdir().expect("a folder");
        let repository = temp.path().join("r");
        fs::create_dir(&repository).expect("made");
        let run = |arguments: &[&str]| git(&repository, arguments).expect("git");
        run(&["init", "--quiet"]);
        for text in ["one", "two"] {
            fs::write(repository.join("f"), text).expect("written");
            run(&["add", "f"]);
            run(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "-m", text]);
        }
        run(&["tag", "old", "HEAD~1"]);
        let old = commit(&repository, "old").expect("a commit");
        let folder = temp.path().join("out");
        check_out(&repository, &old, &folder).expect("checked out");
        assert_eq!(fs::read_to_string(folder.join("f")).expect("text"), "one");
        assert_eq!(fs::read_to_string(repository.join("f")).expect("text"), "two");
        let told = commit(&repository, "no-such-ref").expect_err("no commit");
        assert!(told.starts_with("\"no-such-ref\" in ") && told.ends_with("it names no commit"), "{told}");
        assert!(commit(&repository, "--all").is_err(), "an option is no ref");
    }
}
