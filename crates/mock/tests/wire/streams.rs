//! Replies as events: they add up to what one body would have said, and break in the ways that streams break.

use std::io::ErrorKind;
use std::num::NonZeroUsize;

use laundromat_mock::{Fault, FaultKind, Form, Mock, Route, Script, When};
use serde_json::{Value, json};

use crate::client::{Client, STATED, flat_text, user};
use crate::reading;

const STREAMED: [Route; 6] =
    [Route::Chat, Route::Azure, Route::Responses, Route::Codex, Route::Anthropic, Route::Gemini];

fn body(route: Route) -> Value {
    let mut body = user(route, Some("Sei kurz: für dich, “ganz” kurz."), &flat_text());
    if matches!(route, Route::Chat | Route::Azure) {
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

fn start(fault: Option<FaultKind>, chunk: usize) -> Mock {
    let script = Script::default()
        .launder(Form::FlatSplit, 1.0)
        .cached(0.25)
        .stream_chunk_bytes(NonZeroUsize::new(chunk).unwrap());
    let fault = fault.map(|kind| Fault::new(kind, When::Probability(1.0)));
    Mock::start(fault.into_iter().fold(script, Script::fault)).unwrap()
}

#[test]
fn the_events_of_a_stream_add_up_to_the_one_body_whatever_the_chunks() {
    for route in STREAMED {
        for chunk in [1, 7, 100_000] {
            let mock = start(None, chunk);
            let mut client = Client::new(mock.port());
            let reply = client.streamed(route, "k", body(route)).unwrap();
            assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{}", route.name());
            assert_eq!(reply.chunks, reply.body.len().div_ceil(chunk));
            let streamed = reading::read(route, &reading::whole(route, &reply.body).unwrap());
            assert_eq!(streamed.class, "Complete");
            assert!(streamed.text.contains(STATED));
            if route != Route::Codex {
                let whole = client.route(route, "k", &body(route)).unwrap();
                assert_eq!(streamed, reading::read(route, &whole.json()), "{}", route.name());
            }
            assert!(mock.calls().iter().all(|call| call.answered && call.status == Some(200)));
        }
    }
}

#[test]
fn every_end_of_a_call_is_the_same_in_a_stream() {
    let kinds = [
        FaultKind::Truncated,
        FaultKind::Refused,
        FaultKind::ContentFilter,
        FaultKind::FilteredText,
        FaultKind::RefusalText,
        FaultKind::Empty,
        FaultKind::ReasoningOnly,
        FaultKind::ToolCall,
        FaultKind::UnknownFinish,
        FaultKind::LateError,
    ];
    for route in STREAMED.into_iter().filter(|route| *route != Route::Codex) {
        for kind in kinds.into_iter().filter(|kind| (route, *kind) != (Route::Azure, FaultKind::ContentFilter)) {
            let mock = start(Some(kind), 512);
            let mut client = Client::new(mock.port());
            let whole = reading::read(route, &client.route(route, "k", &body(route)).unwrap().json());
            let reply = client.streamed(route, "k", body(route)).unwrap();
            let mut streamed = reading::read(route, &reading::whole(route, &reply.body).unwrap());
            if route == Route::Anthropic {
                // The last event counts what was written, not what of it was thought.
                streamed.tokens[3] = whole.tokens[3];
            }
            assert_eq!(streamed, whole, "{} {}", route.name(), kind.name());
        }
    }
}

#[test]
fn a_codex_stream_ends_with_no_output_in_its_last_event() {
    let mock = start(None, 512);
    let reply = Client::new(mock.port()).route(Route::Codex, "k", &body(Route::Codex)).unwrap();
    let events = reading::events(&reply.body);
    let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["response"]["output"]), (&json!("response.completed"), &json!([])));
    let done = events.iter().filter(|event| event.contains("response.output_item.done")).count();
    assert_eq!(done, 1);
}

#[test]
fn usage_of_a_chat_stream_is_given_only_when_asked_for() {
    let mock = start(None, 512);
    let reply = Client::new(mock.port()).streamed(Route::Chat, "k", user(Route::Chat, None, "x")).unwrap();
    assert!(!String::from_utf8(reply.body).unwrap().contains("usage"));
}

#[test]
fn a_stream_can_end_before_its_marker_break_off_or_hold_no_json() {
    for route in STREAMED {
        let broken = |kind| {
            let mock = start(Some(kind), 64);
            Client::new(mock.port()).streamed(route, "k", body(route))
        };
        let early = broken(FaultKind::EarlyEnd).unwrap();
        assert_eq!((early.status, reading::whole(route, &early.body)), (200, None), "{}", route.name());
        assert!(!early.body.is_empty());
        assert_eq!(broken(FaultKind::DropMidBody).unwrap_err().kind(), ErrorKind::UnexpectedEof, "{}", route.name());
        let malformed = broken(FaultKind::Malformed).unwrap();
        let first = reading::events(&malformed.body).swap_remove(0);
        assert!(serde_json::from_str::<Value>(&first).is_err(), "{first}");
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_follows_some_text() {
    for route in STREAMED {
        let mock = start(Some(FaultKind::LateError), 512);
        let reply = Client::new(mock.port()).streamed(route, "k", body(route)).unwrap();
        let text = String::from_utf8(reply.body.clone()).unwrap();
        assert!(reply.status == 200 && text.contains("## Goal") && !text.contains("## Open"), "{text}");
        let whole = reading::whole(route, &reply.body).unwrap();
        assert!(!whole["error"].is_null(), "{}", route.name());
    }
}

#[test]
fn gemini_streams_as_events_only() {
    let mock = start(None, 512);
    let headers = [("x-goog-api-key", "mock-key"), ("content-type", "application/json")];
    let body = user(Route::Gemini, None, "x").to_string();
    let reply = Client::new(mock.port())
        .call("POST", "/v1beta/models/m:streamGenerateContent", &headers, body.as_bytes())
        .unwrap();
    assert_eq!((reply.status, reply.header("x-mock-rule")), (400, Some("mock_sse_only")));
}
