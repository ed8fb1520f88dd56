//! Session ids: made from a file's own id or its name, fit for file names and table rows.

use std::collections::HashSet;

use laundromat_session::canonical::is_id;

/// Longest id.
const LONGEST: usize = 100;

/// `own` or, where there is none, `stem`, with every character that an id cannot have replaced by `-`.
pub fn session_id(own: Option<&str>, stem: &str) -> String {
    [own.unwrap_or_default(), stem]
        .into_iter()
        .map(sanitized)
        .find(|id| is_id(id))
        .unwrap_or_else(|| "session".to_owned())
}

fn sanitized(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let id: String = name.trim().chars().map(fit).take(LONGEST).collect();
    // A name of replaced characters only says nothing.
    if id.chars().any(|c| c.is_ascii_alphanumeric()) {
        id.trim_start_matches(['.', '-']).trim_end_matches('-').to_owned()
    } else {
        String::new()
    }
}

/// Ids given so far in one file, so that none is given twice.
#[derive(Debug, Default)]
pub struct Ids(HashSet<String>);

impl Ids {
    /// `id`, or `id-2`, `id-3`, ... where it is taken.
    pub fn unique(&mut self, id: &str) -> String {
        let mut candidate = id.to_owned();
        let mut number = 1;
        while !self.0.insert(candidate.clone()) {
            number += 1;
            let suffix = format!("-{number}");
            candidate = format!("{}{suffix}", &id[..id.len().min(LONGEST - suffix.len())]);
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::canonical::is_id;

    use super::{Ids, session_id};

    #[test]
    fn ids_fit() {
        for (own, stem, wanted) in [
            (Some("3a-b_c.d"), "file", "3a-b_c.d"),
            (None, "my file (2)", "my-file--2"),
            (Some("../../etc"), "file", "etc"),
            (Some(""), "file", "file"),
            (Some("\u{4f60}"), "file", "file"),
            (None, "", "session"),
        ] {
            let id = session_id(own, stem);
            assert_eq!(id, wanted);
            assert!(is_id(&id));
        }
        assert_eq!(session_id(Some(&"x".repeat(300)), "file").len(), 100);
    }

    #[test]
    fn no_id_is_given_twice() {
        let mut ids = Ids::default();
        let long = "x".repeat(100);
        assert_eq!(ids.unique("a"), "a");
        assert_eq!(ids.unique("a"), "a-2");
        assert_eq!(ids.unique("a"), "a-3");
        assert_eq!(ids.unique(&long), long);
        assert!(is_id(&ids.unique(&long)));
    }
}
