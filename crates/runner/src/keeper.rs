//! The store behind the call log: one thread owns it and writes in group commits. A reply is on disk
//! before it is judged.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::thread::JoinHandle;

use laundromat_provider::{Body, CallKey, CallLog, Logged, Served, Usage};
use laundromat_store::{Call, Store, StoreError, TrialId, Write};
use tokio::sync::{mpsc, oneshot};
use zstd::bulk::Compressor;

use crate::error::RunError;

/// Writes waiting for the store; a full queue slows the run down instead of growing.
const QUEUE: usize = 256;

/// What is handed to the store's thread.
enum Request {
    Write(Vec<Write>, Option<oneshot::Sender<Result<(), StoreFailed>>>),
    LookUp(CallKey, oneshot::Sender<Result<Option<Call>, StoreFailed>>),
}

/// The store failed; the thread's end says how.
#[derive(Debug, Clone, Copy)]
struct StoreFailed;

/// What the log needs to file a call.
#[derive(Debug)]
pub struct Filed {
    /// What the call is for.
    pub purpose: &'static str,
    /// Which trial asked.
    pub trial: TrialId,
    /// blake3 of the request body.
    pub body: [u8; 32],
    /// What keeps the body, where that was not handed over before.
    pub keep_body: Vec<Write>,
}

/// What keeps bodies that follow each other: the text that neighbours share is compressed and kept once.
#[derive(Debug, Default)]
pub(crate) struct Texts<'b> {
    last: Option<(&'b [u8], [u8; 32])>,
}

impl<'b> Texts<'b> {
    /// What keeps `body`.
    pub(crate) fn keep(&mut self, body: &'b Body) -> Vec<Write> {
        let (head, text) = body.parts();
        let mut writes = Vec::with_capacity(2);
        let digest = match self.last {
            Some((last, digest)) if last == text => digest,
            _ => {
                let digest = *blake3::hash(text).as_bytes();
                writes.push(Write::Text { digest, zstd: compress(text) });
                digest
            }
        };
        self.last = Some((text, digest));
        writes.push(Write::Body { digest: body.digest, head: head.to_vec(), text: digest });
        writes
    }
}

/// A handle to the store's thread.
#[derive(Debug)]
pub struct Keeper {
    queue: mpsc::Sender<Request>,
    /// Keys of calls committed before this start: only these are looked up.
    known: HashSet<CallKey>,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Request")
    }
}

impl Keeper {
    /// Starts the thread that owns `store`.
    ///
    /// # Errors
    /// When the store cannot be read or no thread can be started.
    pub fn start(store: Store) -> Result<Self, RunError> {
        let known = store.call_keys()?.into_iter().collect();
        let (queue, requests) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || keep(store, requests))
            .map_err(|error| RunError::Internal(format!("no thread for the store: {error}")))?;
        Ok(Self { queue, known, thread })
    }

    /// Hands a write over without waiting for the disk.
    ///
    /// # Errors
    /// When the store has failed.
    pub async fn write(&self, write: Write) -> Result<(), RunError> {
        self.queue.send(Request::Write(vec![write], None)).await.map_err(|_| ended())
    }

    /// Hands writes over from a thread that may block.
    ///
    /// # Errors
    /// When the store has failed.
    pub fn write_blocking(&self, writes: Vec<Write>) -> Result<(), RunError> {
        self.queue.blocking_send(Request::Write(writes, None)).map_err(|_| ended())
    }

    /// Waits until everything handed over is on disk, and ends the thread.
    ///
    /// # Errors
    /// When the store has failed.
    pub fn finish(self) -> Result<(), RunError> {
        let Self { queue, thread, .. } = self;
        drop(queue);
        match thread.join() {
            Ok(ended) => Ok(ended?),
            Err(_) => Err(RunError::Internal("the store's thread panicked".to_owned())),
        }
    }
}

/// The thread has ended early. Why is for [`Keeper::finish`] to say: many who wait notice at once.
fn ended() -> RunError {
    RunError::Internal("the store's thread has ended".to_owned())
}

impl CallLog for Keeper {
    type Context = Filed;
    type Error = RunError;

    async fn look_up(&self, key: &CallKey) -> Result<Option<Logged>, RunError> {
        if !self.known.contains(key) {
            return Ok(None);
        }
        let (answer, answered) = oneshot::channel();
        self.queue.send(Request::LookUp(*key, answer)).await.map_err(|_| ended())?;
        match answered.await {
            Ok(Ok(call)) => call.map(logged).transpose(),
            Ok(Err(StoreFailed)) | Err(_) => Err(ended()),
        }
    }

    async fn reserve(&self, key: CallKey) -> Result<(), RunError> {
        // Not waited for: a kill does not undo what was handed to the system, and only a count is at stake.
        self.write(Write::Asked(key)).await
    }

    async fn commit(&self, key: CallKey, filed: Filed, logged: Logged) -> Result<(), RunError> {
        let mut writes = filed.keep_body;
        writes.push(Write::Call(Box::new(Call {
            key,
            purpose: filed.purpose.to_owned(),
            trial: filed.trial,
            body: filed.body,
            reply_zstd: compress(&logged.reply),
            latency_us: logged.latency_us,
            attempts: logged.attempts,
            tokens_in: logged.usage.input,
            cached_tokens: logged.usage.cached,
            cache_write_tokens: logged.usage.cache_write,
            tokens_out: logged.usage.output,
            reasoning_tokens: logged.usage.reasoning,
            finish_reason: logged.reason,
            served_model: logged.served.model,
            served_provider: logged.served.provider,
            fingerprint: logged.served.fingerprint,
            request_id: logged.served.request_id,
        })));
        let (done, committed) = oneshot::channel();
        self.queue.send(Request::Write(writes, Some(done))).await.map_err(|_| ended())?;
        match committed.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(StoreFailed)) | Err(_) => Err(ended()),
        }
    }
}

pub(crate) fn logged(call: Call) -> Result<Logged, RunError> {
    let reply = zstd::decode_all(call.reply_zstd.as_slice())
        .map_err(|error: io::Error| RunError::Internal(format!("a stored reply cannot be decompressed: {error}")))?;
    Ok(Logged {
        reply,
        latency_us: call.latency_us,
        attempts: call.attempts,
        usage: Usage {
            input: call.tokens_in,
            cached: call.cached_tokens,
            cache_write: call.cache_write_tokens,
            output: call.tokens_out,
            reasoning: call.reasoning_tokens,
        },
        served: Served {
            model: call.served_model,
            provider: call.served_provider,
            fingerprint: call.fingerprint,
            request_id: call.request_id,
        },
        reason: call.finish_reason,
    })
}

/// Level of zstd: what is stored is written once and read rarely.
const LEVEL: i32 = -1;

/// Compresses with zstd.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    // A context costs more to make than a reply costs to compress, so each thread keeps its own.
    thread_local!(static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok()));
    COMPRESSOR.with_borrow_mut(|compressor| {
        let compressed = compressor.as_mut().and_then(|compressor| compressor.compress(bytes).ok());
        // Compressing memory to memory fails only without memory.
        compressed.unwrap_or_default()
    })
}

/// The thread: takes what has gathered, writes it in one transaction, tells who waits.
fn keep(mut store: Store, mut requests: mpsc::Receiver<Request>) -> Result<(), StoreError> {
    let mut gathered = Vec::with_capacity(QUEUE);
    while requests.blocking_recv_many(&mut gathered, QUEUE) > 0 {
        let mut batch = Vec::new();
        let mut waiting = Vec::new();
        let mut asked = Vec::new();
        for request in gathered.drain(..) {
            match request {
                Request::Write(writes, done) => {
                    batch.extend(writes);
                    waiting.extend(done);
                }
                Request::LookUp(key, answer) => asked.push((key, answer)),
            }
        }
        if !batch.is_empty()
            && let Err(error) = store.append(&batch)
        {
            for done in waiting {
                // Whoever waited may have been cancelled; the error is returned by the thread.
                let _ = done.send(Err(StoreFailed));
            }
            return Err(error);
        }
        for done in waiting {
            let _ = done.send(Ok(()));
        }
        for (key, answer) in asked {
            let call = store.call(&key)?;
            let _ = answer.send(Ok(call));
        }
    }
    store.close()
}
