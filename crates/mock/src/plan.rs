//! What is done with a request, before any socket is touched.

use std::time::Duration;

use hyper::header::HeaderMap;
use serde_json::Value;

use crate::envelope::amazon_type;
use crate::fault::FaultKind;
use crate::profile::Dialect;
use crate::request::{Form, Purpose};
use crate::route::Route;
use crate::rules::key::Credentials;
use crate::sse::Events;

/// What matters of a request's head.
pub(crate) struct Head<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    pub(crate) headers: &'a HeaderMap,
}

impl<'a> Head<'a> {
    /// A header that is text.
    pub(crate) fn header(&self, name: &'static str) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn credentials(&self) -> Credentials<'a> {
        Credentials {
            authorization: self.header("authorization"),
            api_key: self.header("api-key"),
            x_api_key: self.header("x-api-key"),
            goog_api_key: self.header("x-goog-api-key"),
            version: self.header("anthropic-version"),
            account: self.header("chatgpt-account-id"),
        }
    }

    /// A member of the query, as it is written there.
    pub(crate) fn asked(&self, name: &str) -> Option<&'a str> {
        let pairs = self.query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }
}

/// What is done with a request.
pub(crate) struct Plan {
    /// What the log says; absent for requests that are no calls.
    pub(crate) note: Option<Note>,
    pub(crate) act: Act,
}

/// A call as it is logged when it has been read.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) route: Option<Route>,
    pub(crate) key: String,
    pub(crate) purpose: Purpose,
    pub(crate) form: Option<Form>,
    pub(crate) model: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) status: Option<u16>,
    pub(crate) rule: Option<&'static str>,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) body_digest: String,
}

impl Note {
    /// An id that is the same for the same attempt of the same call.
    pub(crate) fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.key.as_bytes());
        hasher.update(&self.attempt.to_le_bytes());
        hasher.finalize().to_hex()[..24].to_owned()
    }
}

pub(crate) enum Act {
    Reply(Reply),
    /// Send half of it and close.
    Cut(Reply),
    /// Close without a word.
    Drop,
    /// Wait for the client to go away, at most so long.
    Hang(Duration),
}

/// What a reply's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    /// Events, which leave in chunks.
    Events,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) media: Media,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, media: Media::Json, headers: Vec::new(), body: body.to_string().into_bytes() }
    }

    pub(crate) fn events(events: &Events) -> Self {
        Self { status: 200, media: Media::Events, headers: Vec::new(), body: events.bytes() }
    }

    /// An error, with the headers that go with one.
    pub(crate) fn error(dialect: Dialect, status: u16, body: &Value) -> Self {
        let reply = Self::json(status, body);
        match dialect.route {
            Route::Converse => reply.header("x-amzn-errortype", amazon_type(status)),
            _ => reply,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
