//! A streamed reply: events become the body that the same call would have had without streaming. A stream
//! that ends before its end marker is a failure, whatever text has arrived.

use crate::members::{Members, Object, Shape, object};
use crate::route::Route;
use crate::sse::{Decoder, Event};
use crate::streams::{anthropic, chat, gemini, responses};

/// Why a stream gives no body.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    /// It broke off.
    #[error("the stream broke off before its end")]
    Cut,
    /// An event holds no JSON.
    #[error("an event of the stream is no JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// An event holds something else than it should.
    #[error("in an event of the stream, {0}")]
    Shape(#[from] Shape),
    /// A piece of text comes without the block that it belongs to.
    #[error("an event of the stream belongs to no content block")]
    NoBlock,
    /// The route has streams of another kind.
    #[error("there are no events on route {0}")]
    NoEvents(Route),
}

/// Whether more of a stream is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More may come.
    Open,
    /// What follows is of no interest.
    Over,
}

/// Puts the body of one route together.
pub(crate) trait Assemble: std::fmt::Debug + Send {
    /// Takes the next event.
    fn take(&mut self, event: &Event) -> Result<Progress, StreamError>;
    /// The body; `None` where the end marker is missing.
    fn body(self: Box<Self>) -> Option<Object>;
}

impl Event {
    /// The data as a JSON object.
    pub(crate) fn json(&self) -> Result<Object, StreamError> {
        match serde_json::from_slice(&self.data)? {
            serde_json::Value::Object(object) => Ok(object),
            value => Ok(object("data", &value).cloned()?),
        }
    }

    /// What the event is about: its JSON says so, else its name.
    pub(crate) fn kind<'a>(&'a self, json: &'a Object) -> Option<&'a str> {
        json.label("type").or(self.name.as_deref())
    }
}

/// Reads a stream as it comes in.
#[derive(Debug)]
pub struct Stream {
    decoder: Decoder,
    /// The body so far, or why there will be none.
    body: Result<Box<dyn Assemble>, StreamError>,
    progress: Progress,
}

impl Stream {
    /// A stream on `route` of which nothing has come in yet.
    pub fn new(route: Route) -> Self {
        let body: Result<Box<dyn Assemble>, StreamError> = match route {
            Route::ChatCompletions => Ok(Box::<chat::Chat>::default()),
            Route::Responses => Ok(Box::<responses::Responses>::default()),
            Route::Anthropic => Ok(Box::<anthropic::Anthropic>::default()),
            Route::Gemini => Ok(Box::<gemini::Gemini>::default()),
            Route::BedrockConverse => Err(StreamError::NoEvents(route)),
        };
        let progress = if body.is_ok() { Progress::Open } else { Progress::Over };
        Self { decoder: Decoder::default(), body, progress }
    }

    /// Takes the next bytes, cut anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.is_over() {
            return;
        }
        for event in self.decoder.push(chunk) {
            let Ok(body) = &mut self.body else { return };
            if event.data.trim_ascii().is_empty() {
                continue;
            }
            match body.take(&event) {
                Ok(progress) => self.progress = progress,
                Err(error) => {
                    self.body = Err(error);
                    self.progress = Progress::Over;
                }
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Whether nothing that could still come in matters: the end marker is there, an error is, or the
    /// stream is broken. Gemini has no last event; its streams are read until the connection ends.
    pub fn is_over(&self) -> bool {
        self.progress == Progress::Over
    }

    /// The body of a stream that has come in as a whole.
    pub(crate) fn read(route: Route, bytes: &[u8]) -> Result<Object, StreamError> {
        let mut stream = Self::new(route);
        stream.push(bytes);
        stream.body?.body().ok_or(StreamError::Cut)
    }
}
