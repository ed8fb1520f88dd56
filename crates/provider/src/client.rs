//! Sending: one client for all calls of a run. It sends a body as it is, tries transport failures
//! again, and reads a reply to its end. The key goes into one header and nowhere else.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use laundromat_session::Message;
use reqwest::Certificate;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName};

use crate::body::Body;
use crate::budget;
use crate::builtin::reader;
use crate::cassette::{Cassette, Recorded};
use crate::failure::{CallFailure, FailureKind};
use crate::key::CallKey;
use crate::keys::Keys;
use crate::limits::{Ended, Limiter, Pace, headers};
use crate::log::Logged;
use crate::model::{Endpoint, Model, READER};
use crate::reply::{self, Completion, Served, Usage};
use crate::retry::{Failed, Retry};

/// Longest reply that is read.
const LONGEST_REPLY: usize = 16 << 20;
/// How long to wait for what is no call of a model.
const LONGEST_LOOK: Duration = Duration::from_secs(30);
/// The header that carries the call's key, by which a server's log can be compared with ours.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");

/// The environment variable that names a file of further certificate authorities. `SSL_CERT_FILE` replaces the
/// system's, as it does for other programs; this one is beside them.
pub const CA_FILE: &str = "LAUNDROMAT_CA_FILE";

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For one attempt, its reply included.
    pub attempt: Duration,
    /// From the first attempt of a call to its last, the pauses between them included.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), attempt: Duration::from_secs(600), total: Duration::from_secs(1800) }
    }
}

/// How calls are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// How often to try.
    pub retry: Retry,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How much at once and how fast, at each account.
    pub pace: Pace,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A key is not set.
    #[error("{}; put the key for {url} in it", match names.as_slice() {
        [name] => format!("the environment variable {name} is not set"),
        names => format!("none of the environment variables {} is set", names.join(", ")),
    })]
    NoKey {
        /// The variables that would do.
        names: Vec<String>,
        /// What the key is for.
        url: String,
    },
    /// A key cannot stand in a header.
    #[error("the environment variable {name} holds characters that no key has; put the key alone in it")]
    BadKey {
        /// The variable.
        name: String,
    },
    /// The file of further certificate authorities is of no use.
    #[error(
        "{}: {problem}; {CA_FILE} names a file of certificates in PEM that are trusted beside the system's",
        path.display()
    )]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The TLS or HTTP machinery cannot be set up.
    #[error("no HTTP client: {0}")]
    Setup(#[from] reqwest::Error),
}

/// Why a call has no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// No attempt got one.
    Failed(CallFailure),
    /// The cassette does not have it.
    NotRecorded,
}

/// Who answers the calls of a run: the models themselves, or a cassette.
#[derive(Debug)]
pub struct Client(Source);

#[derive(Debug)]
enum Source {
    Network(Box<Network>),
    Cassette(Arc<Cassette>),
}

/// Sending over the network.
#[derive(Debug)]
pub(crate) struct Network {
    http: reqwest::Client,
    /// For servers on this machine, which no proxy can reach.
    local: reqwest::Client,
    keys: Keys,
    /// Limits of each account, by address and key variable.
    limiters: HashMap<(String, String), Arc<Limiter>>,
    retry: Retry,
    timeouts: Timeouts,
}

impl Client {
    /// A client for `models`; reads their keys from the environment now, so that a missing one is
    /// known before anything is spent.
    ///
    /// # Errors
    /// When a key is missing or cannot be sent.
    pub fn new<'m>(models: impl IntoIterator<Item = &'m Model>, sending: Sending) -> Result<Self, ClientError> {
        // A second client in one process finds the provider installed, which is what it wants.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let authorities = authorities(std::env::var_os(CA_FILE).filter(|path| !path.is_empty()).map(PathBuf::from))?;
        let builder = || {
            reqwest::Client::builder()
                .connect_timeout(sending.timeouts.connect)
                .tcp_nodelay(true)
                .tls_certs_merge(authorities.clone())
                .pool_max_idle_per_host(256)
                // Trying again is for `send` alone.
                .retry(reqwest::retry::never())
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("laundromat/", env!("CARGO_PKG_VERSION")))
        };
        let endpoints: Vec<&Endpoint> = models.into_iter().filter_map(Model::as_endpoint).collect();
        let keys = Keys::of(endpoints.iter().copied())?;
        let mut limiters = HashMap::new();
        for endpoint in endpoints {
            limiters.entry(account(endpoint)).or_insert_with(|| Arc::new(Limiter::new(sending.pace)));
        }
        Ok(Self(Source::Network(Box::new(Network {
            http: builder().build()?,
            local: builder().no_proxy().build()?,
            keys,
            limiters,
            retry: sending.retry,
            timeouts: sending.timeouts,
        }))))
    }

    /// A client that asks nobody: what comes back is what `cassette` has. It needs no keys.
    pub fn replaying(cassette: Arc<Cassette>) -> Self {
        Self(Source::Cassette(cassette))
    }

    /// The cassette that answers, where one does.
    pub fn cassette(&self) -> Option<&Cassette> {
        match &self.0 {
            Source::Network(_) => None,
            Source::Cassette(cassette) => Some(cassette),
        }
    }

    /// The network, where models answer and no cassette does.
    pub(crate) fn network(&self) -> Option<&Network> {
        match &self.0 {
            Source::Network(network) => Some(network),
            Source::Cassette(_) => None,
        }
    }

    /// Asks `model`. A built-in model gets the messages alone: neither arm, session nor plant.
    ///
    /// # Errors
    /// When no attempt got a reply that is a chat completion.
    pub async fn ask(
        &self,
        model: &Model,
        messages: &[Message],
        body: &Body,
        key: &CallKey,
    ) -> Result<Logged, Unanswered> {
        if let Source::Cassette(cassette) = &self.0
            && let Some(recorded) = cassette.find(key)
        {
            return match recorded.clone() {
                Recorded::Reply(logged) => Ok(logged),
                Recorded::Failure(failure) => Err(Unanswered::Failed(failure)),
            };
        }
        match (model, &self.0) {
            (Model::BuiltinReader, _) => {
                let started = Instant::now();
                let reply = reader::reply(READER, messages);
                Ok(Logged {
                    reply,
                    latency_us: micros(started),
                    attempts: 1,
                    usage: Usage::default(),
                    served: Served { model: READER.to_owned(), ..Served::default() },
                    reason: None,
                })
            }
            (Model::Chat(endpoint), Source::Network(network)) => {
                network.send(endpoint, body, key).await.map_err(Unanswered::Failed)
            }
            (Model::Chat(_), Source::Cassette(_)) => Err(Unanswered::NotRecorded),
        }
    }
}

/// What a look at an address brought.
pub(crate) struct Looked {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// One attempt's end.
struct Attempted {
    /// A reply and what it holds, or the failure and the delay the server asks for.
    result: Result<(Vec<u8>, Completion), (CallFailure, Option<Duration>)>,
    /// How long the server says that the account has nothing left.
    exhausted: Option<Duration>,
}

impl Attempted {
    fn lost(failure: CallFailure) -> Self {
        Self { result: Err((failure, None)), exhausted: None }
    }

    /// What it says about the account's limits.
    fn ended(&self) -> Ended {
        match &self.result {
            Ok((_, completion)) => {
                let usage = completion.usage;
                Ended::Answered(usage.input.zip(usage.output).map(|(input, output)| input.saturating_add(output)))
            }
            Err((failure, _)) => match failure.kind {
                FailureKind::RateLimit => Ended::RateLimited,
                FailureKind::Overloaded | FailureKind::Server | FailureKind::Timeout => Ended::Overloaded,
                _ => Ended::Otherwise,
            },
        }
    }
}

impl Network {
    async fn send(&self, endpoint: &Endpoint, body: &Body, key: &CallKey) -> Result<Logged, CallFailure> {
        let limiter = self.limiters.get(&account(endpoint));
        let tokens = budget::max_output(endpoint.fields()).unwrap_or(0) + body.bytes.len().div_ceil(4) as u64;
        let permit = async || match limiter {
            Some(limiter) => Some(limiter.permit(tokens).await),
            None => None,
        };
        let mut permitted = permit().await;
        // Waiting for one's turn is no fault of the server's, so the deadline begins with the first attempt.
        let deadline = Instant::now() + self.timeouts.total;
        let (mut attempts, mut counted) = (0, 0);
        loop {
            let started = Instant::now();
            let allowed = self.timeouts.attempt.min(deadline.saturating_duration_since(started));
            let attempted = self.attempt(endpoint, body, key, allowed).await;
            attempts += 1;
            if let Some(permit) = permitted.take() {
                permit.end(attempted.ended());
            }
            if let Some((limiter, exhausted)) = limiter.zip(attempted.exhausted) {
                limiter.pause(exhausted.min(self.retry.longest));
            }
            let (mut failure, told) = match attempted.result {
                Ok((reply, completion)) => {
                    return Ok(Logged {
                        reply,
                        latency_us: micros(started),
                        attempts,
                        usage: completion.usage,
                        served: completion.served,
                        reason: completion.reason,
                    });
                }
                Err(failed) => failed,
            };
            failure.attempts = attempts;
            let failed = Failed { kind: failure.kind, told, retryable: failure.retryable };
            counted += u32::from(failed.counts());
            match self.retry.delay(failed, counted, key) {
                Some(delay) if Instant::now() + delay < deadline => tokio::time::sleep(delay).await,
                _ => return Err(failure),
            }
            permitted = permit().await;
            if Instant::now() >= deadline {
                return Err(failure);
            }
        }
    }

    fn http(&self, url: &str) -> &reqwest::Client {
        if is_local(url) { &self.local } else { &self.http }
    }

    /// Looks at `url` with these headers, once: what came back, without any key.
    ///
    /// # Errors
    /// When nothing did.
    pub(crate) async fn look(&self, url: &str, headers: HeaderMap) -> Result<Looked, CallFailure> {
        let allowed = self.timeouts.attempt.min(LONGEST_LOOK);
        let sent = self.http(url).get(url).timeout(allowed).headers(headers).send().await;
        let response = sent.map_err(|error| lost(&error))?;
        let (status, headers) = (response.status(), self.keys.scrub_headers(response.headers().clone()));
        Ok(Looked { status: status.as_u16(), headers, body: self.keys.scrub(read(response).await?) })
    }

    /// The headers of calls to `endpoint`.
    pub(crate) fn headers(&self, endpoint: &Endpoint) -> HeaderMap {
        endpoint.headers(|name| self.keys.get(name))
    }

    async fn attempt(&self, endpoint: &Endpoint, body: &Body, key: &CallKey, allowed: Duration) -> Attempted {
        let http = self.http(&endpoint.url);
        let mut request = http
            .post(&endpoint.url)
            .timeout(allowed)
            .header(CONTENT_TYPE, "application/json")
            .header(REQUEST_ID, blake3::Hash::from_bytes(*key).to_hex().as_str())
            .body(body.bytes.clone());
        request = request.headers(self.headers(endpoint));
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Attempted::lost(lost(&error)),
        };
        let (status, headers) = (response.status(), self.keys.scrub_headers(response.headers().clone()));
        let exhausted = headers::exhausted(&headers, SystemTime::now());
        let bytes = match read(response).await {
            // Before it is read: what is read is quoted, cut and passed on.
            Ok(bytes) => self.keys.scrub(bytes),
            Err(failure) => return Attempted { exhausted, ..Attempted::lost(failure) },
        };
        let result = match reply::read(endpoint.route, status.as_u16(), &headers, &bytes, SystemTime::now()) {
            Ok(completion) if self.holds_key(&completion) => Err((in_pieces(), None)),
            Ok(completion) => Ok((bytes, completion)),
            Err(failed) => Err(failed),
        };
        Attempted { result, exhausted }
    }

    /// Whether the pieces of a stream make a key when they are put together.
    fn holds_key(&self, completion: &Completion) -> bool {
        [Some(&completion.text), completion.refusal.as_ref()].into_iter().flatten().any(|text| self.keys.stand_in(text))
    }
}

/// A reply of which nothing may be kept, since no piece of it is the key and all together are.
fn in_pieces() -> CallFailure {
    let said = "the server sent the key back in pieces, so that nothing of its reply is kept";
    CallFailure { retryable: false, ..CallFailure::new(FailureKind::Protocol, said) }
}

/// Reads a reply to its end; one that ends early or never ends is a failure, whatever it says.
async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, CallFailure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if bytes.len() + chunk.len() > LONGEST_REPLY {
            let said = format!("the reply is longer than {LONGEST_REPLY} bytes");
            return Err(CallFailure::new(FailureKind::Protocol, said));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// A connection that failed. The address is left out: it can hold a password.
fn lost(error: &reqwest::Error) -> CallFailure {
    let kind = if error.is_timeout() { FailureKind::Timeout } else { FailureKind::Connection };
    let mut said = String::new();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        said = inner.to_string();
        cause = inner.source();
    }
    CallFailure::new(kind, said)
}

/// Whose limits a call falls under: the address without its path, and the key's variable.
fn account(endpoint: &Endpoint) -> (String, String) {
    let (scheme, rest) = endpoint.url.split_once("://").unwrap_or(("", &endpoint.url));
    let host = rest.split('/').next().unwrap_or(rest);
    (format!("{scheme}://{host}"), endpoint.keys.iter().map(|source| source.env.as_str()).collect::<Vec<_>>().join(" "))
}

/// The certificates in the file at `path`.
fn authorities(path: Option<PathBuf>) -> Result<Vec<Certificate>, ClientError> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let fail = |problem: String| ClientError::CaFile { path: path.clone(), problem };
    let pem = std::fs::read(&path).map_err(|error| fail(format!("cannot be read: {error}")))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|_| fail("holds a broken certificate".to_owned()))?;
    if found.is_empty() { Err(fail("holds no certificate".to_owned())) } else { Ok(found) }
}

fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    ["127.", "localhost", "[::1]"].iter().any(|local| host.starts_with(local))
}

fn micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::authorities;

    #[test]
    fn a_bad_file_of_authorities_is_named() {
        let temp = tempfile::tempdir().expect("a folder");
        let said = |name: &str| authorities(Some(temp.path().join(name))).expect_err("a fault").to_string();
        assert!(said("none.pem").contains("none.pem: cannot be read"), "{}", said("none.pem"));
        fs::write(temp.path().join("empty.pem"), "no certificate\n").expect("written");
        assert!(said("empty.pem").contains("holds no certificate"), "{}", said("empty.pem"));
        let broken = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
        fs::write(temp.path().join("broken.pem"), broken).expect("written");
        assert!(said("broken.pem").contains("LAUNDROMAT_CA_FILE names a file"), "{}", said("broken.pem"));
        assert!(authorities(None).expect("nothing").is_empty());
    }
}
