//! Recorded calls in a file, so that a run can be played again without network and without keys.
//!
//! A cassette is JSON lines: a header, then one line for each call with its key, what it was for and what came back,
//! as it is in the store. It holds no request, no header and no key of the user's. A name that ends in `.zst` is
//! compressed. It is written beside its place and moved there when it is whole, so that a reader never sees half of one.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::{CallFailure, FailureKind};
use crate::key::CallKey;
use crate::log::Logged;
use crate::reply::{Served, Usage};

/// What `schema` says in a cassette's first line.
pub const SCHEMA: &str = "laundromat-cassette/1";

/// A cassette's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The date that was shown to the arms, which the requests hold.
    pub date: String,
    /// The version of laundromat that recorded it.
    pub version: String,
}

/// What came back from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// A reply.
    Reply(Logged),
    /// A failure that ends its trial.
    Failure(CallFailure),
}

/// A line after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    purpose: String,
    trial: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<LineReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<LineFailure>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineReply {
    served_model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    tokens_in: Option<u64>,
    cached_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    tokens_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
    latency_us: u64,
    attempts: u32,
    body: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFailure {
    kind: String,
    status: Option<u16>,
    said: String,
}

/// The failures that end a trial, by the name that cassettes have for them. Others are tried again by the next
/// start, and so have no place in a recording.
const FINAL: [(FailureKind, &str); 4] = [
    (FailureKind::ContextOverflow, "context-overflow"),
    (FailureKind::TooLarge, "too-large"),
    (FailureKind::Blocked, "blocked"),
    (FailureKind::Invalid, "invalid"),
];

/// Why a cassette cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The system says no.
    #[error("{}: the cassette cannot be {what}: {source}; check the path and its permissions", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The file ends too early or is no compressed file.
    #[error("{}: the cassette is cut short or damaged: {problem}; copy it again, or record it again with --record", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A line is not one of a cassette.
    #[error("{}:{line}: not a line of a cassette: {problem}; name a file that --record wrote, or record it again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// There is something else in the place of a new cassette.
    #[error("{}: there is a file here that is no cassette; name another file for --record", path.display())]
    NoCassette {
        /// The file.
        path: PathBuf,
    },
}

/// A cassette in memory.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    header: Header,
    calls: HashMap<CallKey, Recorded>,
    /// Purpose and trial of every call, to tell a changed request from one that was never made.
    named: HashSet<(String, String)>,
}

/// Why a cassette has no answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It has no call of this trial and purpose.
    Trial,
    /// It has one, of a request with other bytes or to another address.
    Request,
}

impl Cassette {
    /// Reads the cassette at `path`.
    ///
    /// # Errors
    /// When it cannot be read, naming the line.
    pub fn open(path: &Path) -> Result<Self, CassetteError> {
        let io = |source| CassetteError::Io { path: path.to_owned(), what: "read", source };
        let damaged = |problem: String| CassetteError::Damaged { path: path.to_owned(), problem };
        let unread = |source: io::Error| match source.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
                damaged(source.to_string())
            }
            _ => io(source),
        };
        let mut lines = reader(path).map_err(io)?.lines().enumerate();
        let fault =
            |line: usize, problem: String| CassetteError::Line { path: path.to_owned(), line: line + 1, problem };
        let first = lines.next().map(|(_, line)| line).transpose().map_err(unread)?;
        let first = first.ok_or_else(|| damaged("it is empty".to_owned()))?;
        let header: Header = serde_json::from_str(&first).map_err(|error| fault(0, error.to_string()))?;
        if header.schema != SCHEMA {
            return Err(fault(0, format!("unknown schema \"{}\"", header.schema.escape_debug())));
        }
        let (mut calls, mut named) = (HashMap::new(), HashSet::new());
        for (at, line) in lines {
            let (key, name, recorded) = parse(&line.map_err(unread)?).map_err(|problem| fault(at, problem))?;
            calls.insert(key, recorded);
            named.insert(name);
        }
        Ok(Self { path: path.to_owned(), header, calls, named })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was recorded.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What came back from a call.
    pub fn find(&self, key: &CallKey) -> Option<&Recorded> {
        self.calls.get(key)
    }

    /// Why [`Self::find`] finds nothing for the call that is for `purpose` in `trial`.
    pub fn why_missing(&self, purpose: &str, trial: &str) -> Missing {
        if self.named.contains(&(purpose.to_owned(), trial.to_owned())) { Missing::Request } else { Missing::Trial }
    }

    /// Whether a cassette may be written to `path`: nothing else is there, and its folder is.
    ///
    /// # Errors
    /// When it may not, so that this is known before anything is spent.
    pub fn may_be_written(path: &Path) -> Result<(), CassetteError> {
        if path.exists() && Self::open(path).is_err() {
            return Err(CassetteError::NoCassette { path: path.to_owned() });
        }
        let probe = beside(path);
        File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(|source| CassetteError::Io {
            path: path.to_owned(),
            what: "written",
            source,
        })
    }
}

/// What a compressed file begins with.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a file is compressed is read from its bytes: a cassette may have been unpacked, or given another name.
fn reader(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    Ok(if file.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        Box::new(BufReader::new(zstd::Decoder::with_buffer(file)?))
    } else {
        Box::new(file)
    })
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Where a cassette is written before it is moved to its place.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn parse(line: &str) -> Result<(CallKey, (String, String), Recorded), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let key = *blake3::Hash::from_hex(&line.key).map_err(|error| format!("key: {error}"))?.as_bytes();
    let recorded = match (line.reply, line.failure) {
        (Some(reply), None) => Recorded::Reply(Logged {
            usage: Usage {
                input: reply.tokens_in,
                cached: reply.cached_tokens,
                cache_write: reply.cache_write_tokens,
                output: reply.tokens_out,
                reasoning: reply.reasoning_tokens,
            },
            reply: reply.body.into_bytes(),
            latency_us: reply.latency_us,
            attempts: reply.attempts,
            served: Served {
                model: reply.served_model,
                provider: reply.provider,
                fingerprint: reply.fingerprint,
                request_id: reply.request_id,
            },
            reason: reply.reason,
        }),
        (None, Some(failure)) => {
            let kind = FINAL.iter().find(|(_, name)| *name == failure.kind).map(|(kind, _)| *kind);
            let kind = kind.ok_or_else(|| format!("unknown failure \"{}\"", failure.kind.escape_debug()))?;
            Recorded::Failure(CallFailure {
                status: failure.status,
                attempts: 1,
                ..CallFailure::new(kind, failure.said)
            })
        }
        _ => return Err("a call has either a reply or a failure".to_owned()),
    };
    Ok((key, (line.purpose, line.trial), recorded))
}

/// A cassette being written.
pub struct CassetteWriter {
    path: PathBuf,
    out: Out,
}

impl std::fmt::Debug for CassetteWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CassetteWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

enum Out {
    Plain(BufWriter<File>),
    Compressed(Box<zstd::Encoder<'static, BufWriter<File>>>),
}

/// What a line says beside what came back.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The call's key.
    pub key: &'a CallKey,
    /// What the call is for.
    pub purpose: &'a str,
    /// The trial's name.
    pub trial: &'a str,
}

impl CassetteWriter {
    /// Begins a cassette that will stand at `path`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, header: &Header) -> Result<Self, CassetteError> {
        let io = |source| CassetteError::Io { path: path.to_owned(), what: "written", source };
        let file = BufWriter::new(File::create(beside(path)).map_err(io)?);
        let out = if is_compressed(path) {
            let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL).map_err(io)?;
            // One flipped bit would otherwise unpack to another reply.
            encoder.include_checksum(true).map_err(io)?;
            Out::Compressed(Box::new(encoder))
        } else {
            Out::Plain(file)
        };
        let mut writer = Self { path: path.to_owned(), out };
        writer.line(header)?;
        Ok(writer)
    }

    /// Adds a call. A reply that is no text was never read as a completion, and is left out.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, named: Named<'_>, recorded: &Recorded) -> Result<(), CassetteError> {
        let (reply, failure) = match recorded {
            Recorded::Reply(logged) => {
                let Ok(body) = String::from_utf8(logged.reply.clone()) else { return Ok(()) };
                let reply = LineReply {
                    served_model: logged.served.model.clone(),
                    provider: logged.served.provider.clone(),
                    fingerprint: logged.served.fingerprint.clone(),
                    request_id: logged.served.request_id.clone(),
                    reason: logged.reason.clone(),
                    tokens_in: logged.usage.input,
                    cached_tokens: logged.usage.cached,
                    cache_write_tokens: logged.usage.cache_write,
                    tokens_out: logged.usage.output,
                    reasoning_tokens: logged.usage.reasoning,
                    latency_us: logged.latency_us,
                    attempts: logged.attempts,
                    body,
                };
                (Some(reply), None)
            }
            Recorded::Failure(failure) => {
                let Some((_, kind)) = FINAL.iter().find(|(kind, _)| *kind == failure.kind) else { return Ok(()) };
                let (kind, said) = ((*kind).to_owned(), failure.said.clone());
                (None, Some(LineFailure { kind, status: failure.status, said }))
            }
        };
        let key = blake3::Hash::from_bytes(*named.key).to_hex().to_string();
        let (purpose, trial) = (named.purpose.to_owned(), named.trial.to_owned());
        self.line(&Line { key, purpose, trial, reply, failure })
    }

    /// Puts the whole cassette in its place.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self) -> Result<(), CassetteError> {
        let io = |source| CassetteError::Io { path: self.path.clone(), what: "written", source };
        let file = match self.out {
            Out::Plain(file) => file,
            Out::Compressed(encoder) => encoder.finish().map_err(io)?,
        };
        let file = file.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(io)?;
        fs::rename(beside(&self.path), &self.path).map_err(io)
    }

    fn line<T: Serialize>(&mut self, line: &T) -> Result<(), CassetteError> {
        let mut bytes = serde_json::to_vec(line).unwrap_or_default();
        bytes.push(b'\n');
        let written = match &mut self.out {
            Out::Plain(file) => file.write_all(&bytes),
            Out::Compressed(encoder) => encoder.write_all(&bytes),
        };
        written.map_err(|source| CassetteError::Io { path: self.path.clone(), what: "written", source })
    }
}

/// The failure of this kind that is shown as `text`, the way [`CallFailure`] shows itself: a store keeps a failed
/// call only as the words in its trial's row.
pub fn failure_shown_as(kind: FailureKind, text: &str) -> Option<CallFailure> {
    let blank = CallFailure { attempts: 1, ..CallFailure::new(kind, "") };
    let words = blank.to_string();
    let (what, remedy) = words.split_once("; ")?;
    let middle = text.strip_prefix(what)?.strip_suffix(remedy)?.strip_suffix("; ")?;
    let (status, said) = match middle.strip_prefix(" (HTTP ") {
        Some(rest) => {
            let (status, said) = rest.split_once(')')?;
            (Some(status.parse().ok()?), said)
        }
        None => (None, middle),
    };
    let said = if said.is_empty() { "" } else { said.strip_prefix(": ")? };
    Some(CallFailure { status, said: said.to_owned(), ..blank })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Cassette, CassetteWriter, FINAL, Header, Named, Recorded, SCHEMA, failure_shown_as};
    use crate::failure::CallFailure;
    use crate::log::Logged;
    use crate::reply::{Served, Usage};

    fn header() -> Header {
        Header {
            schema: SCHEMA.to_owned(),
            experiment: "e".to_owned(),
            date: "2026-03-04".to_owned(),
            version: "0".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let logged = Logged {
            reply: b"{\n \"a\": \"\\u0041\" }".to_vec(),
            latency_us: 7,
            attempts: 2,
            usage: Usage { input: Some(1), output: Some(2), reasoning: Some(1), ..Usage::default() },
            served: Served { model: "m".to_owned(), fingerprint: Some("fp".to_owned()), ..Served::default() },
            reason: Some("stop".to_owned()),
        };
        let failure = CallFailure { status: Some(400), attempts: 1, ..CallFailure::new(FINAL[0].0, "too long") };
        let calls = [([1; 32], Recorded::Reply(logged)), ([2; 32], Recorded::Failure(failure))];
        let temp = tempfile::tempdir().expect("a folder");
        for name in ["a.jsonl", "a.jsonl.zst"] {
            let path = temp.path().join(name);
            Cassette::may_be_written(&path).expect("it may");
            let mut writer = CassetteWriter::create(&path, &header()).expect("made");
            for (key, recorded) in &calls {
                writer.add(Named { key, purpose: "summarize", trial: "s/a/b/c/1" }, recorded).expect("added");
            }
            assert!(!path.exists(), "half a cassette is in no one's way");
            writer.finish().expect("finished");
            Cassette::may_be_written(&path).expect("a cassette may be written again");
            let cassette = Cassette::open(&path).expect("a cassette");
            assert_eq!(cassette.header(), &header());
            for (key, recorded) in &calls {
                assert_eq!(cassette.find(key), Some(recorded));
            }
            // A flipped bit of a packed one is noticed, or changes nothing.
            let bytes = fs::read(&path).expect("bytes");
            for at in 0..bytes.len() * usize::from(name.ends_with("zst")) {
                let mut flipped = bytes.clone();
                flipped[at] ^= 4;
                let damaged = temp.path().join("damaged");
                fs::write(&damaged, flipped).expect("written");
                let opened = Cassette::open(&damaged).map(|read| read.calls == cassette.calls);
                assert!(opened.unwrap_or(true), "byte {at}");
                fs::remove_file(damaged).expect("removed");
            }
            assert_eq!(cassette.find(&[3; 32]), None);
            assert_eq!(fs::read_dir(temp.path()).expect("a folder").filter_map(Result::ok).count(), 1);
            fs::remove_file(path).expect("removed");
        }
    }

    #[test]
    fn a_broken_line_is_named_and_another_file_is_kept() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("a.jsonl");
        let first = serde_json::to_string(&header()).expect("JSON");
        fs::write(&path, format!("{first}\n{{\"key\": \"zz\"}}\n")).expect("written");
        let error = Cassette::open(&path).expect_err("broken").to_string();
        assert!(error.contains("a.jsonl:2: not a line of a cassette"), "{error}");
        let error = Cassette::may_be_written(&path).expect_err("something else").to_string();
        assert!(error.contains("that is no cassette"), "{error}");
        let error = Cassette::may_be_written(&temp.path().join("no/folder.jsonl")).expect_err("no folder").to_string();
        assert!(error.contains("cannot be written"), "{error}");
    }

    #[test]
    fn a_failure_is_known_by_its_words() {
        for (kind, _) in FINAL {
            for (status, said) in [(Some(400), "too long; really"), (None, ""), (Some(413), ""), (None, "x")] {
                let failure = CallFailure { status, attempts: 1, ..CallFailure::new(kind, said) };
                assert_eq!(failure_shown_as(kind, &failure.to_string()), Some(failure));
            }
            assert_eq!(failure_shown_as(kind, "something else"), None);
        }
    }
}
