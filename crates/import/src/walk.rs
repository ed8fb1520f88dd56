//! From paths to what may be a session: named files, all files of folders, and folders that are one
//! session as a whole. Whether a file is a session is for its content to say, when it is read.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ImportError;
use crate::input::{Input, special};
use crate::open::recognise;
use crate::reader::Confidence;

/// Folders that hold no sessions, and many files.
const PASSED_OVER: &[&str] = &[".git"];

/// How many files of a folder are looked into where its names could be those of a session's parts.
const LOOKED_INTO: usize = 8;

/// Why something is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Someone named it, and means it to be a session.
    Named,
    /// It stands in a folder that someone named, perhaps among other things.
    InFolder,
}

/// Something that may be a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file, or the folder that is one session.
    pub path: PathBuf,
    /// Why it is looked at.
    pub found: Found,
    /// Its size in bytes, as far as the system tells; 0 for a folder.
    pub bytes: u64,
}

/// What paths lead to.
#[derive(Debug, Default)]
pub struct Walk {
    /// What may be a session, in order of name within each path.
    pub candidates: Vec<Candidate>,
    /// What cannot be looked at.
    pub errors: Vec<ImportError>,
    /// Folders without any file in them.
    pub empty: Vec<PathBuf>,
    /// Links in folders. None is followed, since it may lead out of the folder or back into it.
    pub links: usize,
    /// Pipes, sockets and devices in folders, with what they are.
    pub special: Vec<(PathBuf, &'static str)>,
}

/// Follows `paths` down to the last level.
pub fn walk(paths: &[PathBuf]) -> Walk {
    let mut walk = Walk::default();
    for path in paths {
        walk.named(path);
    }
    walk
}

impl Walk {
    fn named(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                let before = self.seen();
                self.folder(path, Found::Named);
                if before == self.seen() {
                    self.empty.push(path.to_owned());
                }
            }
            Ok(about) => self.candidate(path, Found::Named, about.len()),
            Err(source) => self.unreadable(path, source),
        }
    }

    /// A folder that is a session, or all that is in it.
    fn folder(&mut self, path: &Path, found: Found) {
        if is_session(path) {
            self.candidate(path, found, 0);
            return;
        }
        let mut entries = match fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) => entries,
            Err(source) => return self.unreadable(path, source),
        };
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            self.entry(&entry);
        }
    }

    fn entry(&mut self, entry: &DirEntry) {
        let path = entry.path();
        let about = match entry.metadata() {
            Ok(about) => about,
            Err(source) => return self.unreadable(&path, source),
        };
        let kind = about.file_type();
        if kind.is_symlink() {
            self.links += 1;
        } else if let Some(what) = special(kind) {
            self.special.push((path, what));
        } else if kind.is_file() {
            self.candidate(&path, Found::InFolder, about.len());
        } else if !PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
            self.folder(&path, Found::InFolder);
        }
    }

    fn candidate(&mut self, path: &Path, found: Found, bytes: u64) {
        self.candidates.push(Candidate { path: path.to_owned(), found, bytes });
    }

    fn unreadable(&mut self, path: &Path, source: io::Error) {
        self.errors.push(ImportError::Read { path: path.to_owned(), source });
    }

    fn seen(&self) -> (usize, usize) {
        (self.candidates.len(), self.errors.len())
    }
}

/// Whether a folder is a session itself. Where only the names of its files are like that, one of them has
/// to be of the same format.
fn is_session(path: &Path) -> bool {
    let Ok(sample) = Input::file(path).sample() else { return false };
    let Some(reader) = recognise(&sample) else { return false };
    let alike = |entry: &String| {
        let inside = Input::file(path.join(entry)).sample().ok();
        inside.and_then(|inside| recognise(&inside)).is_some_and(|other| other.id() == reader.id())
    };
    reader.detect(&sample) > Some(Confidence::Possible) || sample.entries.iter().take(LOOKED_INTO).any(alike)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Found, walk};

    #[test]
    fn all_files_of_a_folder_are_looked_at_in_order_of_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["b", "a/deep", ".git", "none"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        for name in ["z.txt", "b/x.db", "a/deep/y.jsonl", ".git/HEAD"] {
            fs::write(at(name), "12").expect("written");
        }
        let walk = walk(&[folder.path().to_owned(), at("z.txt"), at("none"), at("missing")]);
        let seen: Vec<_> = walk
            .candidates
            .iter()
            .map(|it| (it.path.strip_prefix(folder.path()).expect("inside"), it.found, it.bytes))
            .collect();
        assert_eq!(
            seen,
            [
                (Path::new("a/deep/y.jsonl"), Found::InFolder, 2),
                (Path::new("b/x.db"), Found::InFolder, 2),
                (Path::new("z.txt"), Found::InFolder, 2),
                (Path::new("z.txt"), Found::Named, 2),
            ]
        );
        assert_eq!(walk.empty, [at("none")]);
        assert_eq!(walk.errors.len(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn links_and_pipes_in_folders_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.json"), "{}").expect("written");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).expect("a link");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out.json")).expect("a link");
        std::os::unix::fs::symlink("nowhere", folder.path().join("dead.json")).expect("a link");
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let walk = walk(&[folder.path().to_owned()]);
        assert_eq!((walk.candidates.len(), walk.links, walk.errors.len()), (1, 3, 0));
        assert_eq!(walk.special, [(pipe, "a pipe")]);
    }
}
