//! What the trials of a run share: the gateway, the checkouts of git refs, and the folder of them all.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use laundromat_provider::gateway::Gateway;
use laundromat_session::fault::{Fault, Place as At};
use tempfile::TempDir;

use super::arm::{ExecArm, Place};
use super::checkout;
use super::environment;
use crate::error::RunError;
use crate::inputs::{ArmKind, Inputs};

/// Ready to run programs.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(super) gateway: Gateway,
    /// Where each arm's program is run, by the arm's name.
    folders: HashMap<String, PathBuf>,
    /// Holds checkouts and the folders of trials; gone with the run.
    room: TempDir,
}

impl Programs {
    /// Gets ready where `inputs` has exec arms.
    ///
    /// # Errors
    /// When an arm would hand a key over, a ref cannot be checked out, or the system gives no port or folder.
    pub(crate) async fn start(inputs: &Inputs) -> Result<Option<Self>, RunError> {
        let arms: Vec<(&ExecArm, &Path)> = inputs
            .arms
            .iter()
            .filter_map(|arm| match arm {
                ArmKind::Exec { arm, path } => Some((&**arm, path.as_path())),
                ArmKind::Built(_) => None,
            })
            .collect();
        if arms.is_empty() {
            return Ok(None);
        }
        let keys = environment::keys(inputs.experiment.models());
        let internal = |what: &str, error: std::io::Error| RunError::Internal(format!("{what}: {error}"));
        let room = tempfile::tempdir().map_err(|error| internal("no folder for programs", error))?;
        let mut folders = HashMap::new();
        for (arm, path) in arms {
            let fault = |place: &str, problem: String, remedy: &str| RunError::Faults {
                path: path.to_owned(),
                faults: vec![Fault::new(At::of_path(place), problem, remedy)],
            };
            if let Some((place, key)) = environment::handed_over(arm, &keys) {
                let problem = format!("this holds the value of {key}, and no program is given a key");
                return Err(fault(&place, problem, "the program asks through the gateway; take the value out"));
            }
            let folder = match &arm.place {
                Place::Folder(folder) => folder.canonicalize().map_err(|error| {
                    fault("cwd", format!("{}: {error}", folder.display()), "name a folder that is there")
                })?,
                Place::Git { repository, reference } => {
                    let folder = room.path().join(format!("checkout-{}", arm.name));
                    checkout::commit(repository, reference)
                        .and_then(|commit| checkout::check_out(repository, &commit, &folder))
                        .map_err(|problem| fault("git", problem, "check repository and ref"))?;
                    folder
                }
            };
            if !is_there(arm, &folder) {
                let problem = format!("there is no program \"{}\"", arm.command[0].escape_debug());
                return Err(fault("command", problem, "install it, or check its name; a path is taken from cwd"));
            }
            folders.insert(arm.name.clone(), folder);
        }
        let gateway = Gateway::start(0).await.map_err(|error| internal("no port for the gateway", error))?;
        Ok(Some(Self { gateway, folders, room }))
    }

    /// Where the program of `arm` is run.
    pub(super) fn folder(&self, arm: &str) -> &Path {
        self.folders.get(arm).map_or(Path::new("."), PathBuf::as_path)
    }

    /// A folder for one trial, gone when it is dropped.
    pub(super) fn home(&self) -> std::io::Result<TempDir> {
        tempfile::tempdir_in(self.room.path())
    }
}

/// Whether the program of `arm` can be found before any trial needs it: a trial without its program is over for good.
fn is_there(arm: &ExecArm, folder: &Path) -> bool {
    let program = &arm.command[0];
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let path = arm.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    std::env::split_paths(&path).any(|entry| folder.join(entry).join(program).is_file())
}

/// What decides the trials of an exec arm beside its file: the commit of a ref, and the files of its folder that
/// the command names.
///
/// # Errors
/// A ref that names no commit.
pub(crate) fn sources(arm: &ExecArm) -> Result<Vec<u8>, String> {
    let mut sources = Vec::new();
    match &arm.place {
        Place::Git { repository, reference } => {
            sources.extend(checkout::commit(repository, reference)?.into_bytes());
        }
        Place::Folder(folder) => {
            for word in arm.command.iter().filter(|word| Path::new(word).is_relative()) {
                let path = folder.join(word);
                if path.is_file()
                    && let Ok(bytes) = fs::read(&path)
                {
                    sources.extend_from_slice(blake3::hash(&bytes).as_bytes());
                }
            }
        }
    }
    Ok(sources)
}
