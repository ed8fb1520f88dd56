//! A folder of wire vectors against all of it: transcripts through the normal form, requests through
//! options, profiles and validator, requests that have to be refused through the validator, replies and
//! streams through their readers. Files that are missing are named; values are compared strictly.

mod difference;
mod options;
mod replies;
mod transcript;
mod vectors;

use std::io;

use serde_json::Value;

use crate::route::Route;

pub use difference::difference;

/// What came of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The file's name.
    pub file: String,
    /// What became of it.
    pub coverage: Coverage,
    /// What failed, by vector.
    pub failures: Vec<Failure>,
    /// Requests whose options are not those of their profile. They are checked as they are.
    pub own_options: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// This many vectors were checked.
    Vectors(usize),
    /// There is no such file.
    Missing,
}

impl Coverage {
    /// The vectors that were checked.
    pub fn vectors(self) -> usize {
        match self {
            Self::Vectors(vectors) => vectors,
            Self::Missing => 0,
        }
    }
}

/// A vector that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The vector's id.
    pub vector: String,
    /// What is wrong.
    pub what: String,
}

/// Routes as the names of wire files have them.
pub(crate) fn file_name(route: Route) -> String {
    route.id().replace('-', "_")
}

/// The route of this name in a wire file.
pub(crate) fn route_named(name: &str) -> Option<Route> {
    Route::ALL.iter().copied().find(|route| file_name(*route) == name)
}

/// Checks every file of a folder of wire vectors; `read` gives the text of one, by name.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn check(read: impl Fn(&str) -> io::Result<String>) -> io::Result<Vec<Checked>> {
    let folder = Folder { read: &read };
    let transcripts = folder.json("transcripts.json")?;
    let mut files = vec![vectors::transcripts(transcripts.as_ref())];
    for route in Route::ALL {
        let name = format!("requests_{}.json", file_name(*route));
        files.push(folder.each(&name, |vector, own| vectors::request(*route, vector, transcripts.as_ref(), own))?);
    }
    files.push(folder.each("requests_judge.json", |vector, _| vectors::judge(vector))?);
    files.push(folder.each("negative_requests.json", |vector, _| vectors::negative(vector))?);
    for route in Route::ALL {
        let name = format!("responses_{}.json", file_name(*route));
        files.push(folder.each(&name, |vector, _| replies::response(*route, vector))?);
    }
    files.push(folder.each("streams.json", |vector, _| replies::stream(vectors::route_of(vector)?, vector))?);
    Ok(files)
}

impl Checked {
    fn new(file: &str, coverage: Coverage) -> Self {
        Self { file: file.to_owned(), coverage, failures: Vec::new(), own_options: Vec::new() }
    }

    fn broken(file: &str, what: String) -> Self {
        let failures = vec![Failure { vector: file.to_owned(), what }];
        Self { failures, ..Self::new(file, Coverage::Vectors(0)) }
    }
}

/// What a file holds.
type Content = Result<Value, String>;

struct Folder<'r> {
    read: &'r dyn Fn(&str) -> io::Result<String>,
}

impl Folder<'_> {
    /// The file's content; `None` where there is no such file.
    fn json(&self, name: &str) -> io::Result<Option<Content>> {
        match (self.read)(name) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}")))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Checks each vector of a file.
    fn each(&self, name: &str, check: impl Fn(&Value, &mut OwnOptions) -> Result<(), String>) -> io::Result<Checked> {
        let content = match self.json(name)? {
            None => return Ok(Checked::new(name, Coverage::Missing)),
            Some(Err(what)) => return Ok(Checked::broken(name, what)),
            Some(Ok(content)) => content,
        };
        let Some(all) = content["vectors"].as_array() else {
            return Ok(Checked::broken(name, "there is no list \"vectors\"".to_owned()));
        };
        let mut checked = Checked::new(name, Coverage::Vectors(all.len()));
        for (index, vector) in all.iter().enumerate() {
            let id = vector["id"].as_str().map_or_else(|| format!("vectors[{index}]"), str::to_owned);
            let mut own = OwnOptions::None;
            if let Err(what) = check(vector, &mut own) {
                checked.failures.push(Failure { vector: id.clone(), what });
            }
            if own == OwnOptions::Some {
                checked.own_options.push(id);
            }
        }
        Ok(checked)
    }
}

/// Whether a vector's options are other than those of its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnOptions {
    None,
    Some,
}
