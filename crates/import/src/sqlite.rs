//! SQLite files of agent programs, opened so that nothing in them runs and nothing of them is changed.
//!
//! A transcript database comes from another machine, so its schema is taken for hostile: only real tables
//! are read, plain columns of them, row by row over the row id, with cells up to the record limit and a
//! budget of work that grows with the size of the file. Rows that cannot be read are told one by one.
//!
//! * [`wal`]: what stands in a write-ahead log beside the file, merged in memory.
//! * [`cells`]: rows as JSON objects, so that formats read rows and exports with the same eyes.

mod cells;
mod wal;

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::ImportError;
use crate::input::Input;

pub(crate) use cells::Column;

/// What every SQLite file begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Work that any file may cause, in steps of SQLite's machine, and more for each byte of the file.
const STEPS: u64 = 50_000_000;
const STEPS_A_BYTE: u64 = 8;
/// How often the budget is looked at.
const STEPS_A_LOOK: i32 = 10_000;
/// A row takes at least so many bytes of the file: a pointer to it, its length, its id and a cell.
const SMALLEST_ROW: u64 = 8;
/// How many rows of a table are read at most, since all their ids are held.
const MOST_ROWS: u64 = 10_000_000;

/// An open database.
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    bytes: u64,
    longest_cell: u64,
    notes: Vec<String>,
}

/// One row of a table, as far as it is needed to find and to order it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// Row id.
    pub(crate) row: i64,
    /// The cells that were asked for; `None` where there is none.
    pub(crate) cells: Vec<Option<String>>,
}

/// The rows of a table, and why there are no more where the file is damaged.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In the order of the table.
    pub(crate) rows: Vec<Key>,
    /// Where and why the reading ended early.
    pub(crate) cut: Option<String>,
}

/// The rows of one session.
#[derive(Debug)]
pub(crate) struct SessionRows {
    /// The session's id.
    pub(crate) id: String,
    /// Row of the session itself, where it has one.
    pub(crate) head: Option<i64>,
    /// Its messages, in the order of their table.
    pub(crate) rows: Vec<Key>,
}

impl Index {
    /// `messages` by session, in the order of `heads`; of both the first cell is the session's id. Messages
    /// whose session has no row come last.
    pub(crate) fn sessions(heads: &Self, messages: Self) -> Vec<SessionRows> {
        let mut sessions: Vec<SessionRows> = Vec::with_capacity(heads.rows.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        for key in &heads.rows {
            let id = key.cells.first().cloned().flatten().unwrap_or_default();
            if places.insert(id.clone(), sessions.len()).is_none() {
                sessions.push(SessionRows { id, head: Some(key.row), rows: Vec::new() });
            }
        }
        for key in messages.rows {
            let id = key.cells.first().cloned().flatten().unwrap_or_default();
            let place = *places.entry(id.clone()).or_insert_with(|| {
                sessions.push(SessionRows { id, head: None, rows: Vec::new() });
                sessions.len() - 1
            });
            if let Some(session) = sessions.get_mut(place) {
                session.rows.push(key);
            }
        }
        sessions
    }
}

impl Key {
    /// The cell at `at` as a whole number, zero where it is none.
    pub(crate) fn number(&self, at: usize) -> i64 {
        self.cells.get(at).and_then(Option::as_ref).and_then(|cell| cell.parse().ok()).unwrap_or_default()
    }
}

/// Whether `head` is the beginning of a SQLite file.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

impl Database {
    /// Opens `input`: a file where it stands, bytes and a file with a log beside it in memory.
    ///
    /// # Errors
    /// Where it cannot be read or is no database.
    pub(crate) fn open(input: &Input) -> Result<Self, ImportError> {
        let mut notes = Vec::new();
        let path = input.path().to_owned();
        let refused = |error: &rusqlite::Error| bad(&path, "the file", &error.to_string());
        let (mut connection, bytes) = match image(input, &mut notes)? {
            Some(image) => in_memory(image).map_err(|error| refused(&error))?,
            None => {
                let bytes = std::fs::metadata(&path).map_err(|source| input.unreadable(source))?.len();
                (in_place(&path).map_err(|error| refused(&error))?, bytes)
            }
        };
        let longest_cell = input.limits().record;
        secure(&mut connection, bytes, longest_cell).map_err(|error| refused(&error))?;
        // The schema is read here, so that a damaged one is told as such.
        connection
            .query_row("SELECT count(*) FROM main.sqlite_schema", [], |_| Ok(()))
            .map_err(|error| bad(&path, "the schema", &error.to_string()))?;
        Ok(Self { connection, path, bytes, longest_cell, notes })
    }

    /// What a person should know about how the file was read.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of all real tables. A view or a virtual table is none: reading it would run code.
    pub(crate) fn tables(&self) -> Result<Vec<String>, ImportError> {
        let sql =
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_%'";
        let names = self.connection.prepare(sql).and_then(|mut statement| {
            let names = statement.query_map([], |row| row.get::<_, String>(0))?;
            names.collect::<Result<Vec<_>, _>>()
        });
        names.map_err(|error| bad(&self.path, "the schema", &error.to_string()))
    }

    /// The plain columns of the real table `table`; `None` where there is no such table. A generated column
    /// is left out: reading it would run code.
    pub(crate) fn columns(&self, table: &str) -> Option<Vec<String>> {
        let sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1 COLLATE NOCASE";
        self.connection.query_row(sql, [table], |_| Ok(())).optional().ok()??;
        let sql = "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden = 0";
        let mut statement = self.connection.prepare(sql).ok()?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0)).ok()?;
        names.collect::<Result<Vec<_>, _>>().ok()
    }

    /// Whether the real table `table` has all of `columns`.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        let there = self.columns(table).unwrap_or_default();
        columns.iter().all(|column| there.iter().any(|name| name.eq_ignore_ascii_case(column)))
    }

    /// All rows of `table` with the cells `columns`, of which missing ones are `None`.
    ///
    /// # Errors
    /// Where there is no such table, or it holds more rows than the file can.
    pub(crate) fn index(&self, table: &str, columns: &[&str]) -> Result<Index, ImportError> {
        let Some(there) = self.columns(table) else {
            return Err(bad(&self.path, &format!("table {table}"), "it is missing, or no real table"));
        };
        let list: Vec<String> = columns
            .iter()
            .map(|column| match there.iter().any(|name| name.eq_ignore_ascii_case(column)) {
                true => quoted(column),
                false => "NULL".to_owned(),
            })
            .collect();
        let sql = format!("SELECT _rowid_, {} FROM main.{} NOT INDEXED", list.join(", "), quoted(table));
        let mut statement = self
            .connection
            .prepare(&sql)
            .map_err(|error| bad(&self.path, &format!("table {table}"), &error.to_string()))?;
        let mut rows =
            statement.query([]).map_err(|error| bad(&self.path, &format!("table {table}"), &error.to_string()))?;
        let mut index = Index::default();
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(index),
                Err(error) => {
                    index.cut = Some(cut(table, index.rows.last(), &error));
                    return Ok(index);
                }
            };
            if index.rows.len() as u64 > (self.bytes / SMALLEST_ROW).min(MOST_ROWS) {
                let problem = format!("more rows than its size allows, or more than {MOST_ROWS}");
                return Err(bad(&self.path, &format!("table {table}"), &problem));
            }
            let cells = (1..=columns.len()).map(|at| row.get_ref(at).ok().and_then(cells::label)).collect();
            index.rows.push(Key { row: row.get(0).unwrap_or_default(), cells });
        }
    }

    /// The row `row` of `table` as a JSON object of `columns`, and how much of it had to be repaired.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn row(&self, table: &str, columns: &[Column], row: i64) -> Result<(String, usize), String> {
        let there = self.columns(table).unwrap_or_default();
        let present: Vec<&Column> =
            columns.iter().filter(|column| there.iter().any(|name| name.eq_ignore_ascii_case(column.name()))).collect();
        let list: Vec<String> = present.iter().map(|column| quoted(column.name())).collect();
        let sql = format!("SELECT {} FROM main.{} WHERE _rowid_ = ?1", list.join(", "), quoted(table));
        let told = |error: &rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::TooBig) => {
                format!("table {table}, row {row}: longer than {} bytes, the largest that is read", self.longest_cell)
            }
            _ => format!("table {table}, row {row}: {error}"),
        };
        let mut statement = self.connection.prepare_cached(&sql).map_err(|error| told(&error))?;
        let read = statement.query_row([row], |row| {
            let values = (0..present.len()).map(|at| row.get_ref(at)).collect::<Result<Vec<ValueRef<'_>>, _>>()?;
            Ok(cells::object(&present, &values))
        });
        read.map_err(|error| told(&error))
    }
}

/// The name of a table or column as SQL has it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn cut(table: &str, last: Option<&Key>, error: &rusqlite::Error) -> String {
    match last {
        Some(key) => format!("table {table}, behind row {}: {error}", key.row),
        None => format!("table {table}: {error}"),
    }
}

fn bad(path: &Path, place: &str, problem: &str) -> ImportError {
    ImportError::BadDatabase { path: path.to_owned(), place: place.to_owned(), problem: problem.to_owned() }
}

/// The whole content, where the file cannot be read in place: bytes in memory, or a log beside the file.
fn image(input: &Input, notes: &mut Vec<String>) -> Result<Option<Vec<u8>>, ImportError> {
    if let Some(bytes) = input.memory() {
        return Ok(Some(bytes.to_vec()));
    }
    if beside(input.path(), "-journal") {
        notes
            .push("a rollback journal stands beside the file: a write was cut off, and rows may be missing".to_owned());
    }
    if !beside(input.path(), "-wal") {
        return Ok(None);
    }
    let log = Input::file(with_suffix(input.path(), "-wal")).with_limits(input.limits());
    let read = input.document().and_then(|image| Ok((image, log.document()?)));
    let merged = match read {
        Ok((image, log)) => wal::merged(image, &log, input.limits().document),
        Err(error) => Err(error.to_string()),
    };
    match merged {
        Ok(image) => Ok(Some(image)),
        Err(problem) => {
            notes.push(format!(
                "the write-ahead log beside the file was not read, the newest rows may be missing: {problem}"
            ));
            Ok(None)
        }
    }
}

/// Whether a file with something in it stands beside `path`.
fn beside(path: &Path, suffix: &str) -> bool {
    std::fs::metadata(with_suffix(path, suffix)).is_ok_and(|about| about.is_file() && about.len() > 0)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn in_memory(mut image: Vec<u8>) -> Result<(Connection, u64), rusqlite::Error> {
    // A database in memory has no write-ahead log, and one that asks for it is refused.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(1);
    }
    let mut connection = Connection::open_in_memory()?;
    let length = image.len();
    connection.deserialize_read_exact("main", Cursor::new(image), length, true)?;
    Ok((connection, length as u64))
}

/// Opens a file that nobody writes to, as far as SQLite needs to know: no lock, no other file is touched.
fn in_place(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Connection::open_with_flags(format!("file:{}?mode=ro&immutable=1", escaped(&absolute)), flags)
}

/// A path as a part of a `file:` address.
fn escaped(path: &Path) -> String {
    let mut address = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                address.push(char::from(*byte))
            }
            b'\\' if cfg!(windows) => address.push('/'),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    if address.starts_with('/') { address } else { format!("/{address}") }
}

/// Turns off all that would let a schema run code or a file cause endless work.
fn secure(connection: &mut Connection, bytes: u64, longest_cell: u64) -> Result<(), rusqlite::Error> {
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    let longest = i32::try_from(longest_cell).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest.max(1 << 16))?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    let mut left = STEPS.saturating_add(bytes.saturating_mul(STEPS_A_BYTE));
    connection.progress_handler(
        STEPS_A_LOOK,
        Some(move || {
            left = left.saturating_sub(u64::from(STEPS_A_LOOK.unsigned_abs()));
            left == 0
        }),
    )
}
