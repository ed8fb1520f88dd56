//! Writing sessions in the canonical form, one file each, whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use laundromat_session::{Session, canonical};

use crate::error::ImportError;
use crate::input::Input;

/// Writes `session` as `<id>.json` in the folder `dir`, which is made where it is missing, and gives the
/// path. A file that holds just this already is left alone; any other one is never overwritten.
///
/// # Errors
/// Where the id cannot name a file, another session has the name, or the system refuses.
pub fn write_canonical(session: &Session, dir: &Path) -> Result<PathBuf, ImportError> {
    stage(session, dir)?.commit()
}

/// A session that is on disk, but has no name yet. Dropped, it is gone.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    temporary: PathBuf,
}

/// Writes `session` beside its place in the folder `dir`, so that sessions can be written at the same time and
/// get their names one after another.
///
/// # Errors
/// Where the id cannot name a file, or the system refuses.
pub fn stage(session: &Session, dir: &Path) -> Result<Staged, ImportError> {
    if !canonical::is_id(&session.id) {
        return Err(ImportError::BadId { id: session.id.clone() });
    }
    let path = dir.join(format!("{}.json", session.id));
    let failed = |source| ImportError::Write { path: path.clone(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    let (temporary, file) = temporary(dir, &session.id).map_err(failed)?;
    let staged = Staged { path: path.clone(), temporary };
    write(file, &canonical::write(session)).map_err(failed)?;
    Ok(staged)
}

impl Staged {
    /// Gives the session its name. A file that holds just this already is left alone.
    ///
    /// # Errors
    /// Where another session has the name, or the system refuses.
    pub fn commit(self) -> Result<PathBuf, ImportError> {
        match put(&self.temporary, &self.path) {
            Ok(()) => Ok(self.path.clone()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.compare().map(|()| self.path.clone()),
            Err(source) => Err(ImportError::Write { path: self.path.clone(), source }),
        }
    }

    /// Whether the file that has the name holds the same.
    fn compare(&self) -> Result<(), ImportError> {
        let there = Input::file(&self.path).document()?;
        let new = Input::file(&self.temporary).document()?;
        if there == new {
            return Ok(());
        }
        Err(ImportError::Occupied { path: self.path.clone(), difference: difference(&there, &new) })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone already where it was renamed.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// How the session in a file differs from the `new` one, in words.
fn difference(there: &[u8], new: &[u8]) -> String {
    let session = |bytes| std::str::from_utf8(bytes).ok().and_then(|text| canonical::read(text).ok());
    let (Some(old), Some(new)) = (session(there), session(new)) else {
        return "no session in the canonical form".to_owned();
    };
    let common = old.turns.iter().zip(&new.turns).take_while(|(old, new)| old == new).count();
    let (olds, news) = (old.turns.len(), new.turns.len());
    match () {
        () if old.id != new.id => format!("the session \"{}\"", old.id),
        () if common < olds.min(news) => {
            format!("a session of the same id that differs from turn {} on", common + 1)
        }
        () if olds != news => format!("the same session with {olds} turns, where the new one has {news}"),
        () if old.title != new.title || old.origin != new.origin => {
            "the same turns with another title or origin".to_owned()
        }
        () => "the same session, written in another way".to_owned(),
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
        assert!(matches!(&error, ImportError::Occupied { path: named, .. } if *named == path));
        assert_eq!(canonical::read(&fs::read_to_string(&path).expect("reads")), Ok(session("a", "x")));
        assert_eq!(fs::read_dir(&dir).expect("lists").count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_taken_name_is_told_with_what_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let long =
            Session { turns: ["x", "y", "z"].map(|text| Turn::text_of(Role::User, text)).to_vec(), ..session("a", "") };
        let path = write_canonical(&long, dir).expect("written");
        let told = |session: &Session| {
            let error = write_canonical(session, dir).expect_err("taken").to_string();
            let told = error.strip_prefix(&format!("{}: holds something else: ", path.display())).expect("the file");
            told.strip_suffix("; name another folder with --out, or remove this file").expect("a remedy").to_owned()
        };
        let short = Session { turns: long.turns[..2].to_vec(), ..long.clone() };
        assert_eq!(told(&short), "the same session with 3 turns, where the new one has 2");
        let mut other = long.clone();
        other.turns[1] = Turn::text_of(Role::Assistant, "y");
        assert_eq!(told(&other), "a session of the same id that differs from turn 2 on");
        let titled = Session { title: Some("t".to_owned()), ..long.clone() };
        assert_eq!(told(&titled), "the same turns with another title or origin");
        fs::write(&path, canonical::write(&long).replace('\n', "")).expect("written");
        assert_eq!(told(&long), "the same session, written in another way");
        fs::write(&path, canonical::write(&session("b", "x"))).expect("written");
        assert_eq!(told(&long), "the session \"b\"");
        fs::write(&path, b"\xFF").expect("written");
        assert_eq!(told(&long), "no session in the canonical form");
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
