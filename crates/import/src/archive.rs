//! Zip archives as an input: entries are unpacked into memory one by one and never written anywhere. What
//! an archive says of itself is checked before anything is unpacked, and again while it is.

use std::io::{Read, Seek, SeekFrom};

use zip::ZipArchive;

use crate::error::ImportError;
use crate::input::Input;

/// How much of an archive is taken at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArchiveLimits {
    /// Entries.
    pub(crate) entries: u64,
    /// Bytes of one entry, unpacked.
    pub(crate) entry: u64,
    /// Bytes of all entries, unpacked.
    pub(crate) sum: u64,
    /// How many times larger than packed an entry may be, if it is larger than [`SMALL`].
    pub(crate) ratio: u64,
}

/// Entries up to this size may be packed as tightly as they like.
const SMALL: u64 = 1 << 20;

impl ArchiveLimits {
    /// The limits for `input`: an entry is a document.
    pub(crate) fn of(input: &Input) -> Self {
        // Deflate reaches 1032; logs that repeat a history at each step stay far below.
        Self { entries: 200_000, entry: input.limits().document, sum: 64 << 30, ratio: 1000 }
    }
}

/// What can be read and gone through in any order.
pub(crate) trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}

/// An archive whose table of entries was checked.
pub(crate) struct Archive<'i> {
    input: &'i Input,
    zip: ZipArchive<Box<dyn Source + 'i>>,
    entries: Vec<Entry>,
}

/// An entry by its name.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its name in the archive.
    pub(crate) name: String,
    index: usize,
    size: u64,
}

impl<'i> Archive<'i> {
    /// Opens the archive that `input` is.
    ///
    /// # Errors
    /// Where it is none, breaks a limit, has a name twice, is encrypted, or its entries overlap.
    pub(crate) fn open(input: &'i Input, limits: ArchiveLimits) -> Result<Self, ImportError> {
        let mut source = input.source()?;
        // Asked for beforehand: the table itself is read as a whole.
        let declared = declared_entries(source.as_mut()).map_err(|error| input.unreadable(error))?;
        if let Some(count) = declared.filter(|count| *count > limits.entries) {
            return Err(too_many(input, count, limits));
        }
        source.seek(SeekFrom::Start(0)).map_err(|error| input.unreadable(error))?;
        let mut zip = ZipArchive::new(source).map_err(|error| bad(input, "table of entries", error.to_string()))?;
        if zip.len() as u64 > limits.entries {
            return Err(too_many(input, zip.len() as u64, limits));
        }
        if zip.has_duplicate_names() {
            return Err(bad(input, "table of entries", "a name stands there twice"));
        }
        let entries = entries(input, &zip, limits)?;
        let overlaps =
            zip.has_overlapping_files().map_err(|error| bad(input, "table of entries", error.to_string()))?;
        if overlaps {
            return Err(bad(input, "table of entries", "entries share their bytes"));
        }
        Ok(Self { input, zip, entries })
    }

    /// The files in it, in the order of its table.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The content of an entry; or why it is damaged.
    ///
    /// # Errors
    /// Where its size is not the one that the archive declares.
    pub(crate) fn unpack(&mut self, entry: &Entry) -> Result<Result<Vec<u8>, String>, ImportError> {
        let mut bytes = Vec::new();
        let read = match self.zip.by_index(entry.index) {
            Ok(file) => file.take(entry.size.saturating_add(1)).read_to_end(&mut bytes),
            Err(error) => return Ok(Err(format!("cannot be unpacked: {error}"))),
        };
        match read {
            // The unpacker stops at the declared size, and says so in words only.
            Err(error) if error.to_string().contains("declared") => {
                let problem = format!("unpacks to more than the {} bytes it declares", entry.size);
                return Err(bad(self.input, &entry.name, problem));
            }
            Err(error) => return Ok(Err(format!("cannot be unpacked: {error}"))),
            Ok(_) => {}
        }
        if bytes.len() as u64 != entry.size {
            let problem = format!("unpacks to {} bytes, not the {} it declares", bytes.len(), entry.size);
            return Err(bad(self.input, &entry.name, problem));
        }
        Ok(Ok(bytes))
    }
}

/// The entries that are files, each within its limits.
fn entries<R: Read + Seek>(
    input: &Input,
    zip: &ZipArchive<R>,
    limits: ArchiveLimits,
) -> Result<Vec<Entry>, ImportError> {
    let mut entries = Vec::new();
    let mut sum: u64 = 0;
    for index in 0..zip.len() {
        let table = "table of entries";
        let about = zip.by_index_data(index).map_err(|error| bad(input, table, error.to_string()))?;
        let name = about.name().map_err(|error| bad(input, table, error.to_string()))?.into_owned();
        let (size, packed) = (about.size(), about.compressed_size());
        sum = sum.saturating_add(size);
        if size > limits.entry {
            return Err(bad(
                input,
                &name,
                format!("{size} bytes unpacked, the largest entry that is read has {}", limits.entry),
            ));
        }
        if size > SMALL && size / limits.ratio > packed {
            let problem = format!("{size} bytes unpacked from {packed}, more than {} times as many", limits.ratio);
            return Err(bad(input, &name, problem));
        }
        if about.encrypted() {
            return Err(bad(input, &name, "encrypted"));
        }
        if about.is_file() && !about.is_symlink() {
            entries.push(Entry { name, index, size });
        }
    }
    if sum > limits.sum {
        let problem = format!("{sum} bytes unpacked, the most that is read of one archive are {}", limits.sum);
        return Err(bad(input, "all entries", problem));
    }
    Ok(entries)
}

fn too_many(input: &Input, count: u64, limits: ArchiveLimits) -> ImportError {
    bad(input, "table of entries", format!("{count} entries, the most that are read are {}", limits.entries))
}

fn bad(input: &Input, place: &str, problem: impl Into<String>) -> ImportError {
    ImportError::BadArchive { path: input.path().to_owned(), place: place.to_owned(), problem: problem.into() }
}

/// How many entries the record at the end of an archive declares; `None` where there is no such record.
fn declared_entries(source: &mut dyn Source) -> std::io::Result<Option<u64>> {
    /// The record without its comment, and the longest comment.
    const RECORD: u64 = 22;
    const COMMENT: u64 = u16::MAX as u64;
    /// The record of large archives, and what points to it directly before the other.
    const LOCATOR: usize = 20;

    let length = source.seek(SeekFrom::End(0))?;
    let tail_start = length.saturating_sub(RECORD + COMMENT + LOCATOR as u64);
    source.seek(SeekFrom::Start(tail_start))?;
    let mut tail = Vec::new();
    source.take(length - tail_start).read_to_end(&mut tail)?;
    let Some(at) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else { return Ok(None) };
    let Some(count) = tail.get(at + 10..at + 12).and_then(|bytes| bytes.try_into().ok()) else { return Ok(None) };
    let count = u16::from_le_bytes(count);
    if count < u16::MAX {
        return Ok(Some(u64::from(count)));
    }
    let locator =
        at.checked_sub(LOCATOR).and_then(|start| tail.get(start..at)).filter(|bytes| bytes.starts_with(b"PK\x06\x07"));
    let Some(place) = locator.and_then(|bytes| bytes[8..16].try_into().ok()).map(u64::from_le_bytes) else {
        return Ok(Some(u64::from(count)));
    };
    let mut large = [0; 40];
    source.seek(SeekFrom::Start(place.min(length)))?;
    if source.read_exact(&mut large).is_err() || !large.starts_with(b"PK\x06\x06") {
        return Ok(Some(u64::from(count)));
    }
    Ok(large[32..40].try_into().ok().map(u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::{Archive, ArchiveLimits};
    use crate::input::Input;

    fn packed(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).expect("starts");
            zip.write_all(content).expect("writes");
        }
        zip.finish().expect("finishes").into_inner()
    }

    const ROOMY: ArchiveLimits = ArchiveLimits { entries: 3, entry: 8 << 20, sum: 9 << 20, ratio: 100 };

    fn refused(bytes: Vec<u8>, limits: ArchiveLimits) -> String {
        let input = Input::bytes("x.eval", bytes);
        Archive::open(&input, limits).err().expect("refused").to_string()
    }

    #[test]
    fn entries_come_out_as_they_went_in() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated, CompressionMethod::Zstd] {
            let input = Input::bytes("x.eval", packed(&[("a", b"one"), ("b/c", b"two")], method));
            let mut archive = Archive::open(&input, ROOMY).expect("opens");
            let entries = archive.entries().to_vec();
            let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(names, ["a", "b/c"]);
            assert_eq!(archive.unpack(&entries[1]).expect("fits"), Ok(b"two".to_vec()));
        }
    }

    #[test]
    fn each_limit_is_named() {
        let many = packed(&[("a", b""), ("b", b""), ("c", b""), ("d", b"")], CompressionMethod::Stored);
        let error = refused(many, ROOMY);
        assert!(error.starts_with("x.eval: table of entries: 4 entries, the most that are read are 3;"), "{error}");
        let zeros = vec![0; 2 << 20];
        for method in [CompressionMethod::Deflated, CompressionMethod::Zstd] {
            let error = refused(packed(&[("bomb", &zeros)], method), ROOMY);
            assert!(error.contains("bomb: 2097152 bytes unpacked from "), "{error}");
            assert!(error.contains("more than 100 times as many"), "{error}");
        }
        let error =
            refused(packed(&[("large", &zeros)], CompressionMethod::Stored), ArchiveLimits { entry: 9, ..ROOMY });
        assert!(error.contains("large: 2097152 bytes unpacked, the largest entry that is read has 9"), "{error}");
        let two = packed(&[("a", b"12345"), ("b", b"12345")], CompressionMethod::Stored);
        let error = refused(two, ArchiveLimits { sum: 9, ..ROOMY });
        assert!(
            error.contains("all entries: 10 bytes unpacked, the most that is read of one archive are 9"),
            "{error}"
        );
    }

    #[test]
    fn a_name_that_stands_there_twice_is_refused() {
        let mut bytes = packed(&[("aa", b"1"), ("ab", b"2")], CompressionMethod::Stored);
        while let Some(at) = memchr::memmem::find(&bytes, b"ab") {
            bytes[at + 1] = b'a';
        }
        assert!(refused(bytes, ROOMY).contains("a name stands there twice"));
    }

    #[test]
    fn an_entry_that_lies_about_its_size_is_refused() {
        let honest = packed(&[("a", &[b'x'; 300])], CompressionMethod::Deflated);
        for (declared, says) in
            [(200_u32, "unpacks to more than the 200 bytes"), (400, "unpacks to 300 bytes, not the 400")]
        {
            let mut bytes = honest.clone();
            let central = memchr::memmem::find(&bytes, b"PK\x01\x02").expect("a table");
            bytes[central + 24..central + 28].copy_from_slice(&declared.to_le_bytes());
            bytes[22..26].copy_from_slice(&declared.to_le_bytes());
            let input = Input::bytes("x.eval", bytes);
            let mut archive = Archive::open(&input, ROOMY).expect("opens");
            let entry = archive.entries()[0].clone();
            let error = archive.unpack(&entry).expect_err("refused").to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn damage_inside_an_entry_is_damage_of_that_entry() {
        let mut bytes = packed(&[("a", b"some text that is stored")], CompressionMethod::Stored);
        let at = memchr::memmem::find(&bytes, b"text").expect("stored");
        bytes[at] = b'n';
        let input = Input::bytes("x.eval", bytes);
        let mut archive = Archive::open(&input, ROOMY).expect("opens");
        let entry = archive.entries()[0].clone();
        assert!(archive.unpack(&entry).expect("no lie").is_err_and(|why| why.starts_with("cannot be unpacked: ")));
    }

    #[test]
    fn no_damage_panics() {
        let bytes = packed(&[("a", b"one"), ("b", &[7; 500])], CompressionMethod::Deflated);
        let broken = (0..bytes.len()).flat_map(|at| {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xFF;
            [bytes[..at].to_vec(), flipped]
        });
        for bytes in broken {
            let input = Input::bytes("x.eval", bytes);
            let Ok(mut archive) = Archive::open(&input, ROOMY) else { continue };
            for entry in archive.entries().to_vec() {
                let _ = archive.unpack(&entry);
            }
        }
    }
}
