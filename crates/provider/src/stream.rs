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
    /// A piece comes without the block that it belongs to, or without a type.
    #[error("an event of the stream holds a piece of no known block or type")]
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
        stream.body()
    }

    fn body(self) -> Result<Object, StreamError> {
        self.body?.body().ok_or(StreamError::Cut)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::Stream;
    use crate::members::Object;
    use crate::route::Route;

    /// Routes and texts of the vectors.
    fn streams() -> Vec<(Route, String)> {
        let file: Value = serde_json::from_str(include_str!("../../../tests/wire/streams.json")).expect("vectors");
        let text = |vector: &Value, name: &str| vector[name].as_str().expect("a string").to_owned();
        let stream =
            |vector: &Value| (text(vector, "route").replace('_', "-").parse().expect("a route"), text(vector, "sse"));
        file["vectors"].as_array().expect("a list").iter().map(stream).collect()
    }

    fn in_chunks<'a>(route: Route, chunks: impl IntoIterator<Item = &'a [u8]>) -> (bool, Result<Object, String>) {
        let mut stream = Stream::new(route);
        chunks.into_iter().for_each(|chunk| stream.push(chunk));
        (stream.is_over(), stream.body().map_err(|error| error.to_string()))
    }

    #[test]
    fn a_stream_cut_in_two_anywhere_is_the_same_stream() {
        for (route, text) in streams() {
            let whole = in_chunks(route, [text.as_bytes()]);
            for cut in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(cut);
                assert_eq!(in_chunks(route, [head, tail]), whole, "{route} at {cut} of {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_are_the_same_stream(
            (route, text) in prop::sample::select(streams()),
            sizes in prop::collection::vec(1_usize..40, 1..8),
        ) {
            let mut rest = text.as_bytes();
            let chunks = sizes.iter().cycle().map_while(|size| {
                let chunk;
                (chunk, rest) = rest.split_at((*size).min(rest.len()));
                (!chunk.is_empty()).then_some(chunk)
            });
            prop_assert_eq!(in_chunks(route, chunks), in_chunks(route, [text.as_bytes()]));
        }
    }
}
