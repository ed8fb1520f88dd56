//! Writing a view so that a reader sees the old file or the new one, never half of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ReportError;

/// The views that were written, in the order of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Their paths.
    pub files: Vec<PathBuf>,
}

impl Written {
    /// Writes `bytes` to `folder/name` and remembers the file. `name` may have folders in it.
    pub(crate) fn put(&mut self, folder: &Path, name: &str, bytes: &[u8]) -> Result<(), ReportError> {
        let path = folder.join(name);
        replace(&path, bytes).map_err(|source| ReportError::Write { path: path.clone(), source })?;
        self.files.push(path);
        Ok(())
    }
}

/// Writes beside the target first: a rename within one folder is atomic.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let done = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        // The first failure is the one worth telling; the leftover may not even exist.
        let _ = fs::remove_file(&beside);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = Written::default();
        written.put(folder.path(), "plots/a.svg", b"old").unwrap();
        written.put(folder.path(), "plots/a.svg", b"new").unwrap();
        assert_eq!(std::fs::read(&written.files[1]).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path().join("plots")).unwrap().count(), 1);
    }

    #[test]
    fn an_error_names_the_file_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rates.csv")).unwrap();
        let error = Written::default().put(folder.path(), "rates.csv", b"").unwrap_err().to_string();
        assert!(error.contains("rates.csv: cannot write the view") && error.contains("check the folder's rights"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    }
}
