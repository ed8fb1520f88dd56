//! Creating and appending to a store. One process writes it at a time; a batch is one transaction.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use laundromat_session::Plant;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::observed;
use crate::reader;
use crate::rows::{Call, CallKey, Observed, Spent, Trial};

/// The version of `schema.sql`, kept in SQLite's `user_version`.
pub(crate) const SCHEMA_VERSION: i64 = 3;
/// Name of the store in a run's folder.
pub const FILE_NAME: &str = "run.sqlite";
/// Name of the file whose lock says that the store is being written.
const LOCK_NAME: &str = "run.lock";

/// One thing to append.
#[derive(Debug)]
pub enum Write {
    /// A request body, once for all who send it.
    Body {
        /// blake3 of the body.
        digest: [u8; 32],
        /// What it begins with, up to the model's name.
        head: Vec<u8>,
        /// blake3 of the text that follows.
        text: [u8; 32],
    },
    /// The text of request bodies, once for all models that are sent it.
    Text {
        /// blake3 of the text.
        digest: [u8; 32],
        /// The text, compressed with zstd.
        zstd: Vec<u8>,
    },
    /// A call is about to be made: until its reply is there, it may have to be paid for again.
    Asked(CallKey),
    /// A call with its reply.
    Call(Box<Call>),
    /// A trial.
    Trial(Box<Trial>),
    /// What the program of an exec arm did in a trial.
    Observed(Box<Observed>),
    /// What was planted in a session by an attack.
    Specimen {
        /// The session's id.
        session: String,
        /// The attack's name.
        attack: String,
        /// The plant.
        plant: Box<Plant>,
    },
}

/// An open store that may be written.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Held until the store is dropped; the system gives it back when the process is killed.
    _lock: File,
}

impl Store {
    /// Opens the store in `folder`, creating folder and store where there is none yet.
    ///
    /// # Errors
    /// When the folder cannot be written, another process holds the store, or another version wrote it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE_NAME);
        let opened = |source| StoreError::Open { path: path.clone(), source };
        let folder_failed = |source| StoreError::Folder { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(folder_failed)?;
        let lock = File::create(folder.join(LOCK_NAME)).map_err(folder_failed)?;
        // A second run of the same folder fails at once instead of paying twice.
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path }),
            Err(TryLockError::Error(source)) => return Err(folder_failed(source)),
        }
        let connection = Connection::open(&path).map_err(opened)?;
        let store = Self { connection, path: path.clone(), _lock: lock };
        store.prepare().map_err(opened)?;
        match reader::version(&store.connection).map_err(opened)? {
            0 => store.create().map_err(opened)?,
            SCHEMA_VERSION => {}
            found => return Err(StoreError::Version { path, found, known: SCHEMA_VERSION }),
        }
        Ok(store)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(Duration::from_secs(5))?;
        // The log goes over into the file in steps of 16 MB: each step waits for the disk twice.
        self.connection.pragma_update(None, "wal_autocheckpoint", 4096)?;
        // Readers may look on while the run is written.
        self.connection.pragma_update(None, "journal_mode", "wal")?;
        // A committed reply was paid for: it has to survive a power cut, not only a crash.
        self.connection.pragma_update(None, "synchronous", "full")
    }

    fn create(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch(&format!(
            "begin immediate; {} pragma user_version = {SCHEMA_VERSION}; commit",
            include_str!("schema.sql")
        ))
    }

    /// The manifest, if the run was started before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        reader::manifest(&self.connection, &self.path)
    }

    /// Freezes the manifest.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn set_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let json = serde_json::to_string(manifest).map_err(|error| self.damaged(error.to_string()))?;
        self.connection
            .execute("insert or replace into meta (key, value) values ('manifest', ?1)", params![json])
            .map_err(|source| self.failed(source))?;
        Ok(())
    }

    /// How many calls were made and have no reply: the process was killed while they were in flight, or
    /// nobody answered. Forgets them.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn take_asked(&self) -> Result<u64, StoreError> {
        self.connection.execute("delete from asked", []).map(|count| count as u64).map_err(|source| self.failed(source))
    }

    /// All trials stored so far.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn trials(&self) -> Result<Vec<Trial>, StoreError> {
        reader::trials(&self.connection, &self.path)
    }

    /// The keys of all committed calls.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn call_keys(&self) -> Result<Vec<CallKey>, StoreError> {
        reader::call_keys(&self.connection).map_err(|source| self.failed(source))
    }

    /// The committed reply of a call, compressed, with the tokens that were counted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn call(&self, key: &CallKey) -> Result<Option<Call>, StoreError> {
        self.connection
            .prepare_cached(reader::SELECT_CALL)
            .and_then(|mut statement| statement.query_row(params![key], reader::call).optional())
            .map_err(|source| self.failed(source))
    }

    /// What every committed call has used, without its reply.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent(&self) -> Result<Vec<Spent>, StoreError> {
        reader::spent(&self.connection).map_err(|source| self.failed(source))
    }

    /// The length of a request body.
    ///
    /// # Errors
    /// When the store cannot be read or the body is not there.
    pub fn body_bytes(&self, digest: &[u8; 32]) -> Result<usize, StoreError> {
        reader::body(&self.connection, &self.path, digest).map(|body| body.len())
    }

    /// Appends all of `batch` in one durable transaction. Writing the same row again changes nothing
    /// about a body or a call; a trial is replaced.
    ///
    /// # Errors
    /// When the store cannot be written; nothing of the batch is kept then.
    pub fn append(&mut self, batch: &[Write]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |source| StoreError::Sql { path: path.clone(), source };
        let transaction = self.connection.transaction().map_err(failed)?;
        for write in batch {
            match write {
                Write::Body { digest, head, text } => transaction
                    .prepare_cached("insert or ignore into bodies (digest, head, text) values (?1, ?2, ?3)")
                    .and_then(|mut statement| statement.execute(params![digest, head, text])),
                Write::Text { digest, zstd } => transaction
                    .prepare_cached("insert or ignore into texts (digest, zstd) values (?1, ?2)")
                    .and_then(|mut statement| statement.execute(params![digest, zstd])),
                Write::Asked(key) => transaction
                    .prepare_cached("insert or ignore into asked (key) values (?1)")
                    .and_then(|mut statement| statement.execute(params![key])),
                Write::Call(call) => insert_call(&transaction, call),
                Write::Trial(trial) => insert_trial(&transaction, trial),
                Write::Observed(seen) => observed::insert(&transaction, seen),
                Write::Specimen { session, attack, plant } => {
                    let plant = serde_json::to_string(plant)
                        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)));
                    plant.and_then(|plant| {
                        transaction
                            .prepare_cached(
                                "insert or ignore into specimens (session, attack, plant) values (?1, ?2, ?3)",
                            )?
                            .execute(params![session, attack, plant])
                    })
                }
            }
            .map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    /// Leaves one plain file behind, without the log beside it. Where a reader still looks on, the
    /// log stays and is read with the file.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn close(self) -> Result<(), StoreError> {
        let closed: Result<String, _> =
            self.connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0));
        match closed {
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sql { path: self.path.clone(), source }
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what }
    }
}

fn insert_call(transaction: &Transaction<'_>, call: &Call) -> rusqlite::Result<usize> {
    transaction.prepare_cached("delete from asked where key = ?1")?.execute(params![call.key])?;
    transaction
        .prepare_cached("insert or ignore into calls values (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)")?
        .execute(params![
            call.key,
            call.purpose,
            call.trial.session,
            call.trial.attack,
            call.trial.arm,
            call.trial.summarizer,
            call.trial.rep,
            call.body,
            call.reply_zstd,
            call.latency_us,
            call.attempts,
            call.tokens_in,
            call.cached_tokens,
            call.cache_write_tokens,
            call.tokens_out,
            call.reasoning_tokens,
            call.finish_reason,
            call.served_model,
            call.served_provider,
            call.fingerprint,
            call.request_id,
        ])
}

fn insert_trial(transaction: &Transaction<'_>, trial: &Trial) -> rusqlite::Result<usize> {
    transaction
        .prepare_cached("insert or replace into trials values (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20)")?
        .execute(params![
            trial.id.session,
            trial.id.attack,
            trial.id.arm,
            trial.id.summarizer,
            trial.id.rep,
            trial.cell.body,
            trial.cell.input_chars,
            trial.cell.exposure.id(),
            trial.outcome.id(),
            trial.detail,
            trial.gate,
            trial.reading.map(laundromat_session::Reading::id),
            trial.usable,
            trial.summary_chars,
            trial.identifiers,
            trial.found,
            trial.tokens_in,
            trial.tokens_out,
            trial.cost,
            trial.call,
        ])
}
