//! Reading a run back: for reports, and for resuming.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use laundromat_session::{Exposure, Outcome, Plant, Reading};
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::observed;
use crate::rows::{Call, CallKey, Captured, Cell, Returned, Spent, Trial, TrialId};
use crate::writer::{FILE_NAME, SCHEMA_VERSION};

/// A stored run, opened for reading only.
#[derive(Debug)]
pub struct Run {
    connection: Connection,
    path: PathBuf,
    manifest: Manifest,
}

impl Run {
    /// Opens the run in `folder`.
    ///
    /// # Errors
    /// When there is no run, another version wrote it, or it cannot be read.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE_NAME);
        if !path.is_file() {
            return Err(StoreError::Missing { path });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)
            .map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let found = version(&connection).map_err(|source| StoreError::Open { path: path.clone(), source })?;
        if found != SCHEMA_VERSION {
            return Err(StoreError::Version { path, found, known: SCHEMA_VERSION });
        }
        let manifest = manifest(&connection, &path)?.ok_or_else(|| StoreError::Missing { path: path.clone() })?;
        Ok(Self { connection, path, manifest })
    }

    /// What the run is of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Every trial, by session, attack, arm, summarizer and repetition.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn trials(&self) -> Result<Vec<Trial>, StoreError> {
        trials(&self.connection, &self.path)
    }

    /// Calls `each` with every call, by purpose and trial, one at a time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn each_call(&self, mut each: impl FnMut(Call)) -> Result<(), StoreError> {
        let failed = |source| StoreError::Sql { path: self.path.clone(), source };
        let sql = format!("{SELECT_CALLS} order by purpose desc, session, attack, arm, summarizer, rep, key");
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let rows = statement.query_map([], call).map_err(failed)?;
        for row in rows {
            each(row.map_err(failed)?);
        }
        Ok(())
    }

    /// Whether there is a run in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE_NAME).is_file()
    }

    /// Copies the whole run into `folder`, which is made where it is not there.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn copy_to(&self, folder: &Path) -> Result<(), StoreError> {
        std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
        let path = folder.join(FILE_NAME);
        let failed = |source| StoreError::Sql { path: path.clone(), source };
        self.connection.execute("vacuum into ?1", params![path.to_string_lossy()]).map_err(failed)?;
        // A copy keeps the tables' version only where it is said again.
        let copy = Connection::open(&path).map_err(failed)?;
        copy.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(failed)
    }

    /// What was planted in a session by an attack.
    ///
    /// # Errors
    /// When the store cannot be read or the plant is not there.
    pub fn plant(&self, session: &str, attack: &str) -> Result<Plant, StoreError> {
        let json: Option<String> = self
            .connection
            .query_row(
                "select plant from specimens where session = ?1 and attack = ?2",
                params![session, attack],
                |row| row.get(0),
            )
            .optional()
            .map_err(|source| StoreError::Sql { path: self.path.clone(), source })?;
        let damaged = |what: String| StoreError::Damaged { path: self.path.clone(), what };
        let json = json.ok_or_else(|| damaged(format!("the plant of {attack} in {session} is missing")))?;
        serde_json::from_str(&json).map_err(|error| damaged(format!("a plant cannot be read: {error}")))
    }

    /// The reply of a call.
    ///
    /// # Errors
    /// When the store cannot be read or the call is not there.
    pub fn reply(&self, key: &CallKey) -> Result<Vec<u8>, StoreError> {
        let call = self
            .connection
            .query_row(SELECT_CALL, params![key], call)
            .optional()
            .map_err(|source| StoreError::Sql { path: self.path.clone(), source })?;
        let damaged = |what: &str| StoreError::Damaged { path: self.path.clone(), what: what.to_owned() };
        let call = call.ok_or_else(|| damaged("a reply is missing"))?;
        zstd::decode_all(call.reply_zstd.as_slice()).map_err(|_| damaged("a reply cannot be decompressed"))
    }

    /// The summary that was judged in a trial of an exec arm; `None` where there is none, or the arm is built.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn observed_summary(&self, trial: &TrialId) -> Result<Option<String>, StoreError> {
        observed::summary(&self.connection, trial).map_err(|source| self.failed(source))
    }

    /// The context that the program of an exec arm gave back in a trial, as JSON text.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn observed_context(&self, trial: &TrialId) -> Result<Option<Vec<u8>>, StoreError> {
        let zstd = observed::context(&self.connection, trial).map_err(|source| self.failed(source))?;
        let damaged =
            |_| StoreError::Damaged { path: self.path.clone(), what: "a context cannot be decompressed".to_owned() };
        zstd.map(|zstd| zstd::decode_all(zstd.as_slice()).map_err(damaged)).transpose()
    }

    /// What the programs of exec arms gave back, by trial.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn returned(&self) -> Result<Vec<Returned>, StoreError> {
        observed::returned(&self.connection).map_err(|source| self.failed(source))
    }

    /// Every request that programs of exec arms sent, by trial and number.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn captured(&self) -> Result<Vec<(TrialId, Captured)>, StoreError> {
        observed::captured(&self.connection).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sql { path: self.path.clone(), source }
    }

    /// A request body by its digest.
    ///
    /// # Errors
    /// When the store cannot be read or the body is not there.
    pub fn body(&self, digest: &[u8; 32]) -> Result<Vec<u8>, StoreError> {
        body(&self.connection, &self.path, digest)
    }

    /// The keys of all calls.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn call_keys(&self) -> Result<Vec<CallKey>, StoreError> {
        call_keys(&self.connection).map_err(|source| StoreError::Sql { path: self.path.clone(), source })
    }
}

pub(crate) fn body(connection: &Connection, path: &Path, digest: &[u8; 32]) -> Result<Vec<u8>, StoreError> {
    let sql = "select head, zstd from bodies join texts on texts.digest = bodies.text where bodies.digest = ?1";
    let parts: Option<(Vec<u8>, Vec<u8>)> = connection
        .query_row(sql, params![digest], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(|source| StoreError::Sql { path: path.to_owned(), source })?;
    let damaged = |what: &str| StoreError::Damaged { path: path.to_owned(), what: what.to_owned() };
    let (mut body, zstd) = parts.ok_or_else(|| damaged("a request body is missing"))?;
    zstd::stream::copy_decode(zstd.as_slice(), &mut body)
        .map_err(|_| damaged("a request body cannot be decompressed"))?;
    Ok(body)
}

pub(crate) fn spent(connection: &Connection) -> rusqlite::Result<Vec<Spent>> {
    let sql =
        "select key, purpose, summarizer, body, tokens_in, cached_tokens, cache_write_tokens, tokens_out from calls";
    let row = |row: &Row<'_>| {
        Ok(Spent {
            key: row.get("key")?,
            purpose: row.get("purpose")?,
            summarizer: row.get("summarizer")?,
            body: row.get("body")?,
            tokens_in: row.get("tokens_in")?,
            cached_tokens: row.get("cached_tokens")?,
            cache_write_tokens: row.get("cache_write_tokens")?,
            tokens_out: row.get("tokens_out")?,
        })
    };
    connection.prepare(sql)?.query_map([], row)?.collect()
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(crate) fn manifest(connection: &Connection, path: &Path) -> Result<Option<Manifest>, StoreError> {
    let json: Option<String> = connection
        .query_row("select value from meta where key = 'manifest'", [], |row| row.get(0))
        .optional()
        .map_err(|source| StoreError::Sql { path: path.to_owned(), source })?;
    json.map(|json| {
        serde_json::from_str(&json).map_err(|error| StoreError::Damaged {
            path: path.to_owned(),
            what: format!("the manifest cannot be read: {error}"),
        })
    })
    .transpose()
}

pub(crate) fn trials(connection: &Connection, path: &Path) -> Result<Vec<Trial>, StoreError> {
    let failed = |source| StoreError::Sql { path: path.to_owned(), source };
    let mut statement =
        connection.prepare("select * from trials order by session, attack, arm, summarizer, rep").map_err(failed)?;
    let rows = statement.query_map([], trial).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

pub(crate) fn call_keys(connection: &Connection) -> rusqlite::Result<Vec<CallKey>> {
    connection.prepare("select key from calls")?.query_map([], |row| row.get(0))?.collect()
}

pub(crate) const SELECT_CALL: &str = "select * from calls where key = ?1";
const SELECT_CALLS: &str = "select * from calls";

pub(crate) fn call(row: &Row<'_>) -> rusqlite::Result<Call> {
    Ok(Call {
        key: row.get("key")?,
        purpose: row.get("purpose")?,
        trial: trial_id(row)?,
        body: row.get("body")?,
        reply_zstd: row.get("reply_zstd")?,
        latency_us: row.get("latency_us")?,
        attempts: row.get("attempts")?,
        tokens_in: row.get("tokens_in")?,
        cached_tokens: row.get("cached_tokens")?,
        cache_write_tokens: row.get("cache_write_tokens")?,
        tokens_out: row.get("tokens_out")?,
        reasoning_tokens: row.get("reasoning_tokens")?,
        finish_reason: row.get("finish_reason")?,
        served_model: row.get("served_model")?,
        served_provider: row.get("served_provider")?,
        fingerprint: row.get("fingerprint")?,
        request_id: row.get("request_id")?,
    })
}

pub(crate) fn trial_id(row: &Row<'_>) -> rusqlite::Result<TrialId> {
    Ok(TrialId {
        session: row.get("session")?,
        attack: row.get("attack")?,
        arm: row.get("arm")?,
        summarizer: row.get("summarizer")?,
        rep: row.get("rep")?,
    })
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    Ok(Trial {
        id: trial_id(row)?,
        cell: Cell {
            body: row.get("body")?,
            input_chars: row.get("input_chars")?,
            exposure: named::<Exposure>(row, "exposure")?,
        },
        outcome: named::<Outcome>(row, "outcome")?,
        detail: row.get("detail")?,
        gate: row.get("gate")?,
        reading: row.get::<_, Option<String>>("reading")?.map(|id| parse::<Reading>(&id)).transpose()?,
        usable: row.get("usable")?,
        summary_chars: row.get("summary_chars")?,
        identifiers: row.get("identifiers")?,
        found: row.get("found")?,
        tokens_in: row.get("tokens_in")?,
        tokens_out: row.get("tokens_out")?,
        cost: row.get("cost")?,
        call: row.get("call")?,
    })
}

pub(crate) fn named<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    parse(&row.get::<_, String>(column)?)
}

pub(crate) fn parse<T>(id: &str) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    id.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}
