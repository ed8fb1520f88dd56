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
