//! Sending: one client for all calls of a run. It sends a body as it is, tries transport failures
//! again, and reads a reply to its end. The key goes into one header and nowhere else.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use laundromat_session::Message;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::body::Body;
use crate::builtin::reader;
use crate::failure::{CallFailure, FailureKind};
use crate::key::CallKey;
use crate::log::Logged;
use crate::model::{Endpoint, Model, READER};
use crate::reply::{self, Completion, Usage};
use crate::retry::Retry;

/// Longest reply that is read.
const LONGEST_REPLY: usize = 16 << 20;
/// The header that carries the call's key, by which a server's log can be compared with ours.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For one attempt, its reply included.
    pub attempt: Duration,
    /// For all attempts of a call and the pauses between them.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), attempt: Duration::from_secs(600), total: Duration::from_secs(1800) }
    }
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
    /// The TLS or HTTP machinery cannot be set up.
    #[error("no HTTP client: {0}")]
    Setup(#[from] reqwest::Error),
}

/// A client for the models of a run.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    /// For servers on this machine, which no proxy can reach.
    local: reqwest::Client,
    keys: HashMap<String, SecretString>,
    retry: Retry,
    timeouts: Timeouts,
}

impl Client {
    /// A client for `models`; reads their keys from the environment now, so that a missing one is
    /// known before anything is spent.
    ///
    /// # Errors
    /// When a key is missing or cannot be sent.
    pub fn new<'m>(
        models: impl IntoIterator<Item = &'m Model>,
        retry: Retry,
        timeouts: Timeouts,
    ) -> Result<Self, ClientError> {
        // A second client in one process finds the provider installed, which is what it wants.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            reqwest::Client::builder()
                .connect_timeout(timeouts.connect)
                .tcp_nodelay(true)
                .pool_max_idle_per_host(256)
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("laundromat/", env!("CARGO_PKG_VERSION")))
        };
        let mut keys = HashMap::new();
        for model in models {
            if let Model::Chat(endpoint) = model {
                keys.extend(keys_of(endpoint)?);
            }
        }
        Ok(Self { http: builder().build()?, local: builder().no_proxy().build()?, keys, retry, timeouts })
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
    ) -> Result<Logged, CallFailure> {
        match model {
            Model::BuiltinReader => {
                let started = Instant::now();
                let reply = reader::reply(READER, messages);
                Ok(Logged {
                    reply,
                    latency_us: micros(started),
                    attempts: 1,
                    usage: Usage::default(),
                    served_model: READER.to_owned(),
                })
            }
            Model::Chat(endpoint) => self.send(endpoint, body, key).await,
        }
    }

    async fn send(&self, endpoint: &Endpoint, body: &Body, key: &CallKey) -> Result<Logged, CallFailure> {
        let deadline = Instant::now() + self.timeouts.total;
        let mut attempt = 1;
        loop {
            let started = Instant::now();
            let allowed = self.timeouts.attempt.min(deadline.saturating_duration_since(started));
            let (mut failure, told) = match self.attempt(endpoint, body, key, allowed).await {
                Ok((reply, completion)) => {
                    return Ok(Logged {
                        reply,
                        latency_us: micros(started),
                        attempts: attempt,
                        usage: completion.usage,
                        served_model: completion.served_model,
                    });
                }
                Err(failed) => failed,
            };
            failure.attempts = attempt;
            failure.said = self.scrub(&failure.said);
            let delay = if failure.kind.is_transport() { self.retry.delay(attempt, told, key) } else { None };
            match delay {
                Some(delay) if Instant::now() + delay < deadline => tokio::time::sleep(delay).await,
                _ => return Err(failure),
            }
            attempt += 1;
        }
    }

    /// One attempt: a reply and what it holds, or the failure and the delay the server asks for.
    async fn attempt(
        &self,
        endpoint: &Endpoint,
        body: &Body,
        key: &CallKey,
        allowed: Duration,
    ) -> Result<(Vec<u8>, Completion), (CallFailure, Option<Duration>)> {
        let http = if is_local(&endpoint.url) { &self.local } else { &self.http };
        let mut request = http
            .post(&endpoint.url)
            .timeout(allowed)
            .header(CONTENT_TYPE, "application/json")
            .header(REQUEST_ID, blake3::Hash::from_bytes(*key).to_hex().as_str())
            .body(body.bytes.clone());
        request = request.headers(endpoint.headers(|name| self.keys.get(name)));
        let response = request.send().await.map_err(|error| (lost(&error), None))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = read(response).await.map_err(|failure| (failure, None))?;
        let completion = reply::read(endpoint.route, status.as_u16(), &headers, &bytes, SystemTime::now())?;
        Ok((bytes, completion))
    }

    /// `text` without any key of ours, whoever put it there.
    fn scrub(&self, text: &str) -> String {
        self.keys.values().fold(text.to_owned(), |text, key| text.replace(key.expose_secret(), "[key]"))
    }
}

/// What `endpoint` needs of the environment: the first of its keys that is set, and the other variables
/// that go into its headers.
fn keys_of(endpoint: &Endpoint) -> Result<Vec<(String, SecretString)>, ClientError> {
    let mut keys = Vec::new();
    let names: Vec<&str> = endpoint.keys.iter().map(|source| source.env.as_str()).collect();
    match names.iter().find(|name| is_set(name)) {
        Some(name) => keys.push(read_key(name)?),
        None if endpoint.needs_key() => return Err(no_key(&names, endpoint)),
        None => {}
    }
    for name in endpoint.variables() {
        if !is_set(name) {
            return Err(no_key(&[name], endpoint));
        }
        keys.push(read_key(name)?);
    }
    Ok(keys)
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn no_key(names: &[&str], endpoint: &Endpoint) -> ClientError {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    ClientError::NoKey { names, url: endpoint.url.clone() }
}

fn read_key(name: &str) -> Result<(String, SecretString), ClientError> {
    let key = std::env::var(name).unwrap_or_default();
    if key.is_empty() || HeaderValue::from_str(&key).is_err() || key.contains(char::is_whitespace) {
        return Err(ClientError::BadKey { name: name.to_owned() });
    }
    Ok((name.to_owned(), SecretString::from(key)))
}

/// Reads a reply to its end; one that ends early or never ends is a failure, whatever it says.
async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, CallFailure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if bytes.len() + chunk.len() > LONGEST_REPLY {
            let said = format!("the reply is longer than {LONGEST_REPLY} bytes");
            return Err(CallFailure { kind: FailureKind::Protocol, status: None, said, attempts: 0 });
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
    CallFailure { kind, status: None, said, attempts: 0 }
}

fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    ["127.", "localhost", "[::1]"].iter().any(|local| host.starts_with(local))
}

fn micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}
