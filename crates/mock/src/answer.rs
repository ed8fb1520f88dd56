//! What the model is said to have done, whatever the route: the text, and how the call ended. Each route has a
//! file of its own that puts it in that route's shape, as one body or as events.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use crate::fault::FaultKind;
use crate::plan::Reply;
use crate::profile::Dialect;
use crate::request::Delivery;
use crate::route::Route;

/// A fixed date: replies are the same bytes in every run.
pub(crate) const CREATED: u64 = 1_790_000_000;
/// The one tool that the model ever asks for, and with what.
const TOOL: &str = "read_file";
const ARGUMENTS: &str = "{\"path\":\"README.md\"}";
/// A reason to end that no list of reasons holds.
const UNLISTED: &str = "unlisted_reason";

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// Without the prefix that each route has for its ids.
    id: &'a str,
    model: &'a str,
    dialect: Dialect,
    end: End,
    text: Option<&'a str>,
    reasoning: Option<&'static str>,
    tokens: Tokens,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stop,
    Length,
    /// The model declined, in these words.
    Refusal(&'static str),
    /// The provider stopped it.
    Filtered,
    Call,
    /// By a reason that no list of reasons holds, or by none.
    Unlisted,
    /// After it had begun.
    Failed,
}

/// Tokens by the four-characters rule.
#[derive(Debug, Clone, Copy)]
struct Tokens {
    /// All that was read, the cached part included.
    input: usize,
    cached: usize,
    /// All that was written, reasoning included.
    output: usize,
    reasoning: usize,
}

impl Tokens {
    fn total(self) -> usize {
        self.input + self.output
    }
}

/// What was asked, as far as the answer repeats it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) dialect: Dialect,
    pub(crate) tokens: usize,
    /// How many of them are said to come from a cache.
    pub(crate) cached: usize,
}

impl<'a> Answer<'a> {
    /// The answer `text`; `fault` is the way in which the call ended, where it did not end well.
    pub(crate) fn new(asked: Asked<'a>, text: &'a str, fault: Option<FaultKind>) -> Self {
        let half = &text[..text.floor_char_boundary(text.len() / 2)];
        let (end, text, reasoning) = match fault {
            Some(FaultKind::Truncated) => (End::Length, Some(half), None),
            Some(FaultKind::Refused) => (End::Refusal("I can't help with that."), None, None),
            Some(FaultKind::ContentFilter) => (End::Filtered, None, None),
            Some(FaultKind::FilteredText) => (End::Filtered, Some(half), None),
            Some(FaultKind::RefusalText) => {
                (End::Stop, Some("I'm sorry, but I can't help with summarizing this conversation."), None)
            }
            Some(FaultKind::Empty) => (End::Stop, Some(""), None),
            Some(FaultKind::ReasoningOnly) => {
                (End::Stop, Some(""), Some("The transcript is long; which parts matter most?"))
            }
            Some(FaultKind::ToolCall) => (End::Call, None, None),
            Some(FaultKind::UnknownFinish) => (End::Unlisted, Some(text), None),
            Some(FaultKind::LateError) => (End::Failed, Some(half), None),
            _ => (End::Stop, Some(text), None),
        };
        let refusal = match end {
            End::Refusal(words) => words.len(),
            _ => 0,
        };
        let thought = reasoning.map_or(0, str::len);
        let written = text.map_or(0, |text| text.chars().count()) + refusal + thought;
        let tokens = Tokens {
            input: asked.tokens,
            cached: asked.cached.min(asked.tokens),
            output: written.div_ceil(4),
            reasoning: thought.div_ceil(4),
        };
        Self { id: asked.id, model: asked.model, dialect: asked.dialect, end, text, reasoning, tokens }
    }

    /// The text, where there is any.
    fn written(&self) -> Option<&'a str> {
        self.text.filter(|text| !text.is_empty())
    }

    /// The reply on the answer's route. `spoilt` is the way in which the reply itself is broken.
    pub(crate) fn reply(&self, delivery: Delivery, spoilt: Option<FaultKind>) -> Reply {
        match delivery {
            Delivery::Whole => {
                let (status, body) = match self.dialect.route {
                    Route::Chat | Route::Azure => (200, chat::body(self)),
                    Route::Responses | Route::Codex => (200, responses::body(self)),
                    Route::Anthropic => (200, anthropic::body(self)),
                    Route::Gemini => (200, gemini::body(self)),
                    // Nothing of an error is ever in a 200 there.
                    Route::Converse => (if self.end == End::Failed { 424 } else { 200 }, converse::body(self)),
                };
                let mut reply = match status {
                    200 => Reply::json(200, &body),
                    status => Reply::error(self.dialect, status, &body),
                };
                if matches!(spoilt, Some(FaultKind::Malformed | FaultKind::EarlyEnd)) {
                    reply.body.truncate(reply.body.len() / 2);
                }
                reply
            }
            Delivery::Events { usage } => {
                let mut events = match self.dialect.route {
                    Route::Responses | Route::Codex => responses::events(self),
                    Route::Anthropic => anthropic::events(self),
                    Route::Gemini => gemini::events(self),
                    Route::Chat | Route::Azure | Route::Converse => chat::events(self, usage),
                };
                match spoilt {
                    Some(FaultKind::Malformed) => events.spoil(),
                    Some(FaultKind::EarlyEnd) => events.end_early(),
                    _ => {}
                }
                Reply::events(&events)
            }
        }
    }
}
