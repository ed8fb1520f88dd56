//! The head of an input, for detection: its bytes, and its first records opened as far as they were read.

use std::collections::BTreeMap;
use std::io::Read;

use memchr::memmem;

use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::mend::{close, has_surrogate_escape, mend, trim};
use crate::records::Line;
use crate::sqlite::{Database, is_database};

/// How much of a file is looked at, at least.
const HEAD: usize = 256 * 1024;
/// How far the end of the first record is looked for beyond that.
const FIRST_RECORD: usize = 32 << 20;
/// How many records are opened.
const RECORDS: usize = 64;
/// How many names of a folder are looked at.
const ENTRIES: usize = 4096;

/// How the content is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One JSON document, over many lines or on a line of its own.
    Document,
    /// One record a line; also anything that is not JSON at all.
    Lines,
    /// A folder.
    Folder,
}

/// The head of an input.
#[derive(Debug)]
pub struct Sample {
    /// File name without its folder; a hint at most.
    pub name: String,
    /// The first bytes, for formats that are no JSON.
    pub head: Vec<u8>,
    /// How the content is laid out.
    pub layout: Layout,
    /// Names in the folder, where it is one, sorted.
    pub entries: Vec<String>,
    /// The tables of a SQLite file with their columns; none where it is no database or cannot be opened.
    pub tables: BTreeMap<String, Vec<String>>,
    records: Vec<String>,
}

impl Sample {
    /// Looks at the head of `input`.
    pub(crate) fn of(input: &Input) -> Result<Self, ImportError> {
        if input.memory().is_none() && input.path().is_dir() {
            let listing = std::fs::read_dir(input.path()).map_err(|source| input.unreadable(source))?;
            let mut entries: Vec<String> = listing
                .take(ENTRIES)
                .filter_map(Result::ok)
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            entries.sort();
            let layout = Layout::Folder;
            return Ok(Self {
                name: input.name(),
                head: Vec::new(),
                layout,
                entries,
                tables: BTreeMap::new(),
                records: Vec::new(),
            });
        }
        let (head, whole) = read_head(input)?;
        let (layout, records) = open(&head, whole);
        let tables = if is_database(&head) { tables(input) } else { BTreeMap::new() };
        Ok(Self { name: input.name(), head, layout, entries: Vec::new(), tables, records })
    }

    /// Whether it is a SQLite file whose table `table` has all of `columns`. Where the file cannot be opened,
    /// the names in its head tell, so that its reader can say what is wrong.
    pub(crate) fn has_table(&self, table: &str, columns: &[&str]) -> bool {
        if self.tables.is_empty() && is_database(&self.head) {
            return columns.iter().all(|name| memmem::find(&self.head, name.as_bytes()).is_some());
        }
        let there = self.tables.get(table);
        columns.iter().all(|column| there.is_some_and(|names| names.iter().any(|name| name == column)))
    }

    /// The first records that are JSON objects or lists: of a document just one, of lines up to 64. What
    /// lies beyond the head is cut off, with brackets closed.
    pub fn records(&self) -> impl Iterator<Item = Line<'_>> {
        self.records.iter().filter_map(|text| Line::parse(text).ok())
    }

    /// The first records that are JSON objects.
    pub fn objects(&self) -> impl Iterator<Item = Fields<'_>> {
        self.records().filter_map(|line| match line {
            Line::Object(fields) => Some(fields),
            Line::List(_) => None,
        })
    }
}

fn tables(input: &Input) -> BTreeMap<String, Vec<String>> {
    let Ok(database) = Database::open(input) else { return BTreeMap::new() };
    let names = database.tables().unwrap_or_default();
    names.into_iter().filter_map(|name| Some((name.clone(), database.columns(&name)?))).collect()
}

/// The first bytes, and whether they are all.
fn read_head(input: &Input) -> Result<(Vec<u8>, bool), ImportError> {
    let mut reader = input.open()?;
    let mut head = Vec::new();
    let mut wanted = HEAD;
    loop {
        let missing = wanted - head.len();
        let read =
            reader.by_ref().take(missing as u64).read_to_end(&mut head).map_err(|source| input.unreadable(source))?;
        if read < missing {
            return Ok((head, true));
        }
        if head.len() >= FIRST_RECORD || memchr::memchr(b'\n', &head[head.len() - missing..]).is_some() {
            return Ok((head, false));
        }
        wanted = head.len() * 2;
    }
}

/// Tells the layout and opens the first records.
fn open(head: &[u8], whole: bool) -> (Layout, Vec<String>) {
    let mut lines = head.split(|byte| *byte == b'\n').map(trim).filter(|line| !line.is_empty()).peekable();
    let mut first = lines.peek().map(|line| mended(line));
    let first_is_json = first.as_ref().is_some_and(|(_, json)| *json);
    // No string of a document goes over a line end; the first line of a damaged file of lines may end in one.
    let torn = lines.peek().is_some_and(|line| ends_in_string(line));
    if !first_is_json
        && !torn
        && let Some(document) = closed(head)
    {
        return (Layout::Document, vec![document]);
    }
    let mut records = Vec::new();
    while let Some(line) = lines.next() {
        // The last line may be cut off by the end of the head.
        match lines.peek() {
            None if !whole && !records.is_empty() => break,
            None if !whole => records.extend(closed(line)),
            _ if records.is_empty() => records.extend(first.take().map(|(text, _)| text)),
            _ => records.push(mended(line).0),
        }
        if records.len() == RECORDS {
            break;
        }
    }
    let alone = whole && head.split(|byte| *byte == b'\n').filter(|line| !trim(line).is_empty()).count() == 1;
    (if alone && first_is_json { Layout::Document } else { Layout::Lines }, records)
}

fn ends_in_string(line: &[u8]) -> bool {
    let (mut in_string, mut escape) = (false, false);
    for byte in line {
        match byte {
            _ if escape => escape = false,
            b'\\' if in_string => escape = true,
            b'"' => in_string = !in_string,
            _ => {}
        }
    }
    in_string
}

/// A line as it is opened, and whether it is JSON. Most lines need no repair, which is cheaper to see than to do.
fn mended(line: &[u8]) -> (String, bool) {
    if !has_surrogate_escape(line)
        && let Ok(text) = std::str::from_utf8(line)
        && is_json(text)
    {
        return (text.to_owned(), true);
    }
    let text = mend(line).text;
    let json = is_json(&text);
    (text, json)
}

fn closed(bytes: &[u8]) -> Option<String> {
    close(&mend(trim(bytes)).text).filter(|text| is_json(text))
}

fn is_json(text: &str) -> bool {
    Line::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Layout, Sample};
    use crate::input::Input;
    use crate::records::Line;

    fn sample(text: &str) -> Sample {
        Input::bytes("x", text.as_bytes().to_vec()).sample().expect("reads")
    }

    #[test]
    fn layouts() {
        for (text, layout, count) in [
            ("{\"a\":1}\n{\"a\":2}\n", Layout::Lines, 2),
            ("{\"a\":1}\n", Layout::Document, 1),
            ("{\n \"a\": [\n  1\n ]\n}\n", Layout::Document, 1),
            ("[\n{\"a\":1}\n]\n", Layout::Document, 1),
            ("[\n{\"a\":NaN}\n]\n", Layout::Document, 1),
            // A torn first line does not make it a document.
            ("{\"a\":1,\"b\n{\"a\":2}\n", Layout::Lines, 1),
            ("\0\0\n\"x\"\n{\"a\":2}\n", Layout::Lines, 1),
            ("hello\nworld", Layout::Lines, 0),
            ("", Layout::Lines, 0),
        ] {
            let sample = sample(text);
            assert_eq!((sample.layout, sample.records().count()), (layout, count), "{text:?}");
        }
    }

    #[test]
    fn a_document_longer_than_the_head_is_closed() {
        let items = "{\"role\":\"user\",\n\"content\":\"hello\"},\n".repeat(20_000);
        let sample = sample(&format!("{{\"schema\":\"s\",\n\"messages\":[\n{items}{{}}]}}"));
        assert_eq!(sample.layout, Layout::Document);
        let fields = sample.objects().next().expect("one");
        assert_eq!(fields.text("schema").as_deref(), Some("s"));
        assert!(fields.items("messages").is_some_and(|items| items.len() > 1000));
    }

    #[test]
    fn a_first_record_longer_than_the_head_is_read() {
        let long = "x".repeat(1 << 20);
        let sample = sample(&format!("{{\"a\":\"{long}\"}}\n{{\"a\":\"2\"}}\n"));
        assert_eq!(sample.layout, Layout::Lines);
        let Some(Line::Object(fields)) = sample.records().next() else { panic!("an object") };
        assert_eq!(fields.text("a").map(|text| text.len()), Some(1 << 20));
    }

    #[test]
    fn a_folder_is_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("b.json"), "{}").expect("written");
        std::fs::write(folder.path().join("a.json"), "{}").expect("written");
        let sample = Input::file(folder.path()).sample().expect("reads");
        assert_eq!((sample.layout, sample.entries), (Layout::Folder, vec!["a.json".to_owned(), "b.json".to_owned()]));
    }
}
