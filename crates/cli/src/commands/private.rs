//! What the arguments say about privacy: rules from a file, and the salt of the pseudonyms.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use laundromat_import::{ImportError, Input, Privacy, Salt};

use crate::args::Redaction;
use crate::error::CliError;

/// Bytes of a salt that is made.
const SALT: usize = 32;
/// Bytes that a salt has at least: fewer can be tried out.
const SHORTEST: usize = 16;

/// What sessions are made private with; `None` where that is not wanted.
pub(crate) fn privacy(args: &Redaction) -> Result<Option<Privacy>, CliError> {
    if args.no_redact {
        return Ok(None);
    }
    let salt = match &args.salt {
        Some(path) => kept_salt(path)?,
        None => Salt::of(&random()?),
    };
    let rules = args.rules.as_deref().map(|path| Input::file(path).text()).transpose()?;
    let privacy = Privacy::new(rules.as_deref(), salt)
        .map_err(|faults| ImportError::Faults { path: args.rules.clone().unwrap_or_default(), faults })?;
    Ok(Some(privacy))
}

/// The salt in a file, which is made where it is missing, for its owner only.
fn kept_salt(path: &Path) -> Result<Salt, CliError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let unwritable = |source| ImportError::Write { path: path.to_owned(), source };
    match options.open(path) {
        Ok(mut file) => {
            let hex: String = random()?.iter().map(|byte| format!("{byte:02x}")).collect();
            file.write_all(format!("{hex}\n").as_bytes()).map_err(unwritable)?;
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(source) => return Err(unwritable(source).into()),
    }
    let bytes = fs::read(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
    let text = bytes.trim_ascii();
    if text.len() < SHORTEST {
        return Err(CliError::ShortSalt { path: path.to_owned(), shortest: SHORTEST });
    }
    Ok(Salt::of(text))
}

fn random() -> Result<[u8; SALT], CliError> {
    let mut bytes = [0; SALT];
    getrandom::fill(&mut bytes)
        .map_err(|error| CliError::Internal(format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::kept_salt;

    #[test]
    fn a_salt_is_made_once_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("salt");
        kept_salt(&path).expect("made");
        let made = fs::read(&path).expect("reads");
        assert_eq!(made.len(), 65);
        kept_salt(&path).expect("read");
        assert_eq!(fs::read(&path).expect("reads"), made);
        fs::write(&path, "short").expect("written");
        assert!(kept_salt(&path).is_err());
    }
}
