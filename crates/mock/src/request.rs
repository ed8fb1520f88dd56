//! What a request that passed the rules asks for, whatever its route: who says what, its form, its length and how
//! the reply shall come. It borrows the parsed body; nothing is copied.
//!
//! Each route has a reader of its own, which only says whose each text is. What stands in a typed block is never
//! the user's, though on some routes the block lies in a user message.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::route::Route;

/// The form of a summarizer's input, read from the request alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One user message and nothing else.
    FlatUser,
    /// System text and one user message.
    FlatSplit,
    /// Turns as messages: tool results, assistant turns, or several user turns. Where a route joins neighbours into
    /// one message, each text block is a turn.
    Typed,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A summary is asked for.
    Summarize,
    /// A verdict is asked for.
    Judge,
    /// The request was refused before that was known.
    Unknown,
}

/// Whose a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    System,
    User,
    Assistant,
    /// The result of a call.
    Tool,
}

/// One text of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) speaker: Speaker,
    pub(crate) text: &'a str,
}

/// How the reply shall come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As one JSON body.
    Whole,
    /// As events.
    Events {
        /// Whether a chat stream ends with the usage.
        usage: Usage,
    },
}

/// Whether a chat stream ends with the usage; other routes always give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Given,
    LeftOut,
}

/// A request as the answering side sees it.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) form: Form,
    pub(crate) texts: Vec<Text<'a>>,
    /// Characters of everything the model would read.
    chars: usize,
}

impl<'a> Request<'a> {
    /// Reads a body that passed the rules of `route`; `model` is what the path names.
    pub(crate) fn of(body: &'a Value, route: Route, model: Option<&'a str>) -> Self {
        let mut reader = Reader::default();
        match route {
            Route::Chat | Route::Azure => chat::read(body, &mut reader),
            Route::Responses | Route::Codex => responses::read(body, &mut reader),
            Route::Anthropic => anthropic::read(body, &mut reader),
            Route::Gemini => gemini::read(body, &mut reader),
            Route::Converse => converse::read(body, &mut reader),
        }
        let form = reader.form();
        let chars = reader.texts.iter().map(|text| text.text.chars().count()).sum();
        let model = model.or_else(|| text(body, "model")).unwrap_or_default();
        Self { model, form, texts: reader.texts, chars }
    }

    /// Tokens by the four-characters rule.
    pub(crate) fn tokens(&self) -> usize {
        self.chars.div_ceil(4)
    }

    /// Forgets the oldest texts until what is left fits, as a server does that cuts in silence.
    pub(crate) fn forget_oldest(&mut self, tokens: usize) {
        let mut dropped = 0;
        while self.tokens() > tokens && dropped < self.texts.len() {
            self.chars -= self.texts[dropped].text.chars().count();
            dropped += 1;
        }
        self.texts.drain(..dropped);
    }
}

/// Collects what a route's reader finds.
#[derive(Debug, Default)]
struct Reader<'a> {
    texts: Vec<Text<'a>>,
    systems: usize,
    users: usize,
    others: usize,
}

impl<'a> Reader<'a> {
    /// Another turn begins.
    fn turn(&mut self, speaker: Speaker) {
        match speaker {
            Speaker::System => self.systems += 1,
            Speaker::User => self.users += 1,
            Speaker::Assistant | Speaker::Tool => self.others += 1,
        }
    }

    fn say(&mut self, speaker: Speaker, text: &'a str) {
        self.texts.push(Text { speaker, text });
    }

    fn say_any(&mut self, speaker: Speaker, text: Option<&'a str>) {
        if let Some(text) = text {
            self.say(speaker, text);
        }
    }

    /// A turn of one text.
    fn turn_of(&mut self, speaker: Speaker, text: &'a str) {
        self.turn(speaker);
        self.say(speaker, text);
    }

    /// Every text in a JSON value, names of members included.
    fn say_all(&mut self, speaker: Speaker, value: &'a Value) {
        match value {
            Value::String(text) => self.say(speaker, text),
            Value::Array(items) => items.iter().for_each(|item| self.say_all(speaker, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.say(speaker, name);
                    self.say_all(speaker, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn form(&self) -> Form {
        match (self.others, self.users, self.systems) {
            (0, 0 | 1, 0) => Form::FlatUser,
            (0, 0 | 1, _) => Form::FlatSplit,
            _ => Form::Typed,
        }
    }
}

/// A member that is text.
fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// A member that is a list; an empty one where there is none.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Form, Request, Speaker};
    use crate::route::Route;

    fn body(messages: &Value) -> Value {
        json!({"model": "m", "messages": messages})
    }

    fn chat(body: &Value) -> Request<'_> {
        Request::of(body, Route::Chat, None)
    }

    #[test]
    fn forms_are_told_apart_by_structure_alone() {
        let system = json!({"role": "system", "content": "s"});
        let user = json!({"role": "user", "content": [{"type": "text", "text": "[USER]: u"}]});
        let assistant = json!({"role": "assistant", "content": "a"});
        for (messages, form) in [
            (json!([user]), Form::FlatUser),
            (json!([system, user]), Form::FlatSplit),
            (json!([system, user, user]), Form::Typed),
            (json!([user, assistant]), Form::Typed),
        ] {
            assert_eq!(chat(&body(&messages)).form, form, "{messages}");
        }
    }

    #[test]
    fn all_that_the_model_reads_is_counted() {
        let call = json!({"id": "c", "function": {"name": "four", "arguments": "{\"a\":1}"}});
        let body = body(&json!([
            {"role": "user", "content": [{"type": "text", "text": "zwölf"}]},
            {"role": "assistant", "content": null, "reasoning_content": "why", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ]));
        let request = chat(&body);
        assert_eq!(request.chars, 5 + 3 + 4 + 7 + 2);
        assert_eq!(request.tokens(), 6);
    }

    /// The same conversation in each route's words: system text, a user, a call with its result, a user.
    fn typed(route: Route) -> Value {
        match route {
            Route::Chat | Route::Azure => json!({"model": "m", "messages": [
                {"role": "system", "content": "sys"}, {"role": "user", "content": "ask"},
                {"role": "assistant", "content": "look", "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"p\":\"v\"}"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "out"}, {"role": "user", "content": "sum"}]}),
            Route::Responses | Route::Codex => json!({"model": "m", "instructions": "sys", "input": [
                {"role": "user", "content": "ask"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "look"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"p\":\"v\"}"},
                {"type": "function_call_output", "call_id": "c", "output": "out"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "sum"}]}]}),
            Route::Anthropic => json!({"model": "m", "system": "sys", "messages": [
                {"role": "user", "content": "ask"},
                {"role": "assistant", "content": [{"type": "text", "text": "look"},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {"p": "v"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "out"},
                    {"type": "text", "text": "sum"}]}]}),
            Route::Gemini => json!({"systemInstruction": {"parts": [{"text": "sys"}]}, "contents": [
                {"role": "user", "parts": [{"text": "ask"}]},
                {"role": "model", "parts": [{"text": "look"}, {"functionCall": {"name": "f", "args": {"p": "v"}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "out"}}}]},
                {"role": "user", "parts": [{"text": "sum"}]}]}),
            Route::Converse => json!({"system": [{"text": "sys"}], "messages": [
                {"role": "user", "content": [{"text": "ask"}]},
                {"role": "assistant", "content": [{"text": "look"},
                    {"toolUse": {"toolUseId": "c", "name": "f", "input": {"p": "v"}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "out"}]}},
                    {"text": "sum"}]}]}),
        }
    }

    #[test]
    fn every_route_tells_who_said_what() {
        for route in Route::ALL {
            let body = typed(*route);
            let request = Request::of(&body, *route, Some("m"));
            assert_eq!((request.form, request.model), (Form::Typed, "m"), "{}", route.name());
            let said = |speaker| {
                let texts = request.texts.iter().filter(|text| text.speaker == speaker).map(|text| text.text);
                texts.collect::<Vec<_>>().join(" ")
            };
            assert_eq!(said(Speaker::System), "sys");
            assert_eq!(said(Speaker::User), "ask sum", "{}", route.name());
            assert!(said(Speaker::Assistant).starts_with("look f "), "{}", said(Speaker::Assistant));
            assert!(said(Speaker::Tool).ends_with("out"), "{}", said(Speaker::Tool));
        }
    }

    #[test]
    fn two_texts_in_one_user_message_are_two_turns_where_the_route_joins_neighbours() {
        let texts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        let both = body(&json!([{"role": "user", "content": texts}]));
        assert_eq!(Request::of(&both, Route::Chat, None).form, Form::FlatUser);
        for route in [Route::Anthropic, Route::Converse] {
            assert_eq!(Request::of(&both, route, None).form, Form::Typed);
        }
        let gemini = json!({"contents": [{"role": "user", "parts": texts}]});
        assert_eq!(Request::of(&gemini, Route::Gemini, None).form, Form::Typed);
    }

    #[test]
    fn what_does_not_fit_is_forgotten_from_the_front() {
        let both =
            body(&json!([{"role": "system", "content": "x".repeat(40)}, {"role": "user", "content": "y".repeat(8)}]));
        let mut request = chat(&both);
        request.forget_oldest(5);
        assert_eq!((request.tokens(), request.texts.len()), (2, 1));
        request.forget_oldest(1);
        assert_eq!((request.tokens(), request.texts.len()), (0, 0));
    }
}
