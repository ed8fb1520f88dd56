//! Writing sessions in the canonical form, one file each, whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use laundromat_session::{Session, canonical};

use crate::error::ImportError;

/// Writes `session` as `<id>.json` in the folder `dir`, which is made where it is missing, and gives the
/// path. A file that holds just this already is left alone; any other one is never overwritten.
///
/// # Errors
/// Where the id cannot name a file, another session has the name, or the system refuses.
pub fn write_canonical(session: &Session, dir: &Path) -> Result<PathBuf, ImportError> {
    if !canonical::is_id(&session.id) {
        return Err(ImportError::BadId { id: session.id.clone() });
    }
    let path = dir.join(format!("{}.json", session.id));
    let text = canonical::write(session);
    let failed = |source| ImportError::Write { path: path.clone(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    if holds(&path, &text)? {
        return Ok(path);
    }
    let (temporary, file) = temporary(dir, &session.id).map_err(failed)?;
    let done = write(file, &text).and_then(|()| put(&temporary, &path));
    // Gone already where it was renamed.
    let _ = fs::remove_file(&temporary);
    match done {
        Ok(()) => Ok(path),
        // Another writer was faster: fine if it wrote the same.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && holds(&path, &text)? => Ok(path),
        Err(error) => Err(failed(error)),
    }
}

/// Whether the file holds `text`.
///
/// # Errors
/// Where it holds anything else.
fn holds(path: &Path, text: &str) -> Result<bool, ImportError> {
    match fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(true),
        Ok(_) => Err(ImportError::Occupied { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(ImportError::Read { path: path.to_owned(), source }),
    }
}

/// A new file beside the target, under a name that nobody reads.
fn temporary(dir: &Path, id: &str) -> io::Result<(PathBuf, File)> {
    let mut number = 0;
    loop {
        let path = dir.join(format!(".{id}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn write(mut file: File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives the file its name, unless that is taken. A link fails where the name is taken; where the file
/// system has no links, a rename does.
fn put(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(temporary, path),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use laundromat_session::{Role, Session, Turn, canonical};

    use super::write_canonical;
    use crate::error::ImportError;

    fn session(id: &str, text: &str) -> Session {
        Session { id: id.to_owned(), title: None, origin: None, turns: vec![Turn::text_of(Role::User, text)] }
    }

    #[test]
    fn a_session_is_written_once_and_never_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("new");
        let path = write_canonical(&session("a", "x"), &dir).expect("written");
        assert_eq!(path, dir.join("a.json"));
        assert_eq!(canonical::read(&fs::read_to_string(&path).expect("reads")), Ok(session("a", "x")));
        assert_eq!(write_canonical(&session("a", "x"), &dir).expect("the same"), path);
        let error = write_canonical(&session("a", "y"), &dir).expect_err("another");
        assert!(matches!(&error, ImportError::Occupied { path: named } if *named == path));
        assert_eq!(canonical::read(&fs::read_to_string(&path).expect("reads")), Ok(session("a", "x")));
        assert_eq!(fs::read_dir(&dir).expect("lists").count(), 1, "no temporary file is left");
    }

    #[test]
    fn an_id_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = write_canonical(&session("../a", "x"), folder.path()).expect_err("refused");
        assert!(matches!(error, ImportError::BadId { .. }));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "x").expect("written");
        let error = write_canonical(&session("a", "x"), &file).expect_err("refused");
        assert!(error.to_string().contains("a.json: cannot be written: "), "{error}");
    }
}
