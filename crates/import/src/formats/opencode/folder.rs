//! The folder of older versions: a file a session, a message, and a part. Links are not followed.

use std::fs;
use std::path::{Path, PathBuf};

use super::export::sorted;
use super::message::Messages;
use crate::chat::At;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::losses::Losses;
use crate::records::{Line, line_of};
use crate::values::Sink;

/// Puts the sessions of the folder `input`.
pub(super) fn read(input: &Input, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let root = input.path();
    let folder = Folder { input };
    for session in entries(&root.join("message"), Kind::Folder) {
        let mut reading = Messages::new(input.history());
        let id = name(&session);
        reading.draft.own_id = Some(id.clone());
        if let Some(file) = folder.session_file(&id) {
            folder.with(&file, 0, &mut Losses::default(), &mut |info, _| reading.head(info));
        }
        for (index, file) in entries(&session, Kind::File).into_iter().enumerate() {
            folder.message(&id, &file, index + 1, &mut reading);
        }
        sink.put(reading.finish())?;
    }
    Ok(())
}

struct Folder<'i> {
    input: &'i Input,
}

impl Folder<'_> {
    /// The file of the session `id`, in whichever project it is.
    fn session_file(&self, id: &str) -> Option<PathBuf> {
        let root = self.input.path().join("session");
        let mut places = entries(&root, Kind::Folder);
        places.extend([root, self.input.path().join("info")]);
        places.into_iter().map(|place| place.join(format!("{id}.json"))).find(|file| is(file, Kind::File))
    }

    /// The folder with the parts of a message; in the oldest layout it stands in that of the session.
    fn parts_folder(&self, session: &str, message: &str) -> PathBuf {
        let root = self.input.path().join("part");
        let older = root.join(session).join(message);
        if is(&older, Kind::Folder) { older } else { root.join(message) }
    }

    fn message(&self, session: &str, file: &Path, record: usize, reading: &mut Messages) {
        let mut losses = Losses::default();
        self.with(file, record, &mut losses, &mut |info, losses| {
            let own = info.text("id").map_or_else(|| stem(file), String::from);
            let mut texts = Vec::new();
            // An id that is no name of a folder has no parts.
            if own.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
                for part in entries(&self.parts_folder(session, &own), Kind::File) {
                    self.with(&part, record, losses, &mut |part, _| texts.extend(part.to_raw()));
                }
            }
            let parts = sorted(texts.iter().filter_map(|raw| Fields::of(raw)).collect());
            reading.message(info, &parts, At { file: &name(file), record });
        });
        reading.draft.losses.absorb(losses);
    }

    /// Opens the object in `file`; one that cannot be opened is counted.
    fn with(&self, file: &Path, record: usize, losses: &mut Losses, take: &mut dyn FnMut(&Fields<'_>, &mut Losses)) {
        let bytes = match Input::file(file).with_limits(self.input.limits()).document() {
            Ok(bytes) => bytes,
            Err(error) => return losses.skip(record, format!("{}: {error}", name(file))),
        };
        let mut mended = String::new();
        let (line, replacements) = line_of(&bytes, &mut mended);
        losses.repair(record, replacements);
        match line {
            Ok(Line::Object(fields)) => take(&fields, losses),
            Ok(Line::List(_)) => losses.skip(record, format!("{}: JSON, but no object", name(file))),
            Err(reason) => losses.skip(record, format!("{}: {reason}", name(file))),
        }
    }
}

/// What is looked for in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

fn is(path: &Path, kind: Kind) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| match kind {
        Kind::File => about.is_file(),
        Kind::Folder => about.is_dir(),
    })
}

/// The files or folders in `folder`, in order of their names, which are ids and ascend with time.
fn entries(folder: &Path, kind: Kind) -> Vec<PathBuf> {
    if !is(folder, Kind::Folder) {
        return Vec::new();
    }
    let Ok(listing) = fs::read_dir(folder) else { return Vec::new() };
    let paths = listing.filter_map(|entry| Some(entry.ok()?.path()));
    let json = |path: &PathBuf| kind == Kind::Folder || path.extension().is_some_and(|extension| extension == "json");
    let mut paths: Vec<PathBuf> = paths.filter(|path| is(path, kind) && json(path)).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
