//! Streams may break off anywhere: what broke off is a failure, whatever text had arrived.

use std::time::SystemTime;

use laundromat_provider::{Completion, FailureKind, Route, Stream, reply};
use proptest::prelude::*;
use reqwest::header::HeaderMap;
use serde_json::Value;

#[derive(Debug, Clone)]
struct Vector {
    id: String,
    route: Route,
    sse: String,
    terminal: bool,
}

fn vectors() -> Vec<Vector> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/wire/streams.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).expect("vectors")).expect("JSON");
    let text = |vector: &Value, name: &str| vector[name].as_str().expect("a string").to_owned();
    let vector = |vector: &Value| Vector {
        id: text(vector, "id"),
        route: text(vector, "route").replace('_', "-").parse().expect("a route"),
        sse: text(vector, "sse"),
        terminal: vector["terminal"].as_bool().expect("a boolean"),
    };
    file["vectors"].as_array().expect("a list").iter().map(vector).collect()
}

fn read(route: Route, bytes: &[u8]) -> Result<Completion, FailureKind> {
    reply::read(route, 200, &HeaderMap::new(), bytes, SystemTime::UNIX_EPOCH).map_err(|(failure, _)| failure.kind)
}

/// Whether a stream is known to be over after these bytes.
fn is_over(route: Route, bytes: &[u8]) -> bool {
    let mut stream = Stream::new(route);
    stream.push(bytes);
    stream.is_over()
}

/// Where the event that ends a stream begins: nothing before it may pass for a reply.
fn end_marker(vector: &Vector) -> usize {
    let markers: &[&str] = match vector.route {
        Route::ChatCompletions => &["\"finish_reason\":\"", "\"error\""],
        Route::Responses => &["response.completed", "response.incomplete", "response.failed"],
        Route::Anthropic => &["message_stop", "event: error"],
        _ => &["finishReason"],
    };
    let places = markers.iter().filter_map(|marker| vector.sse.find(marker));
    places.min().unwrap_or_else(|| panic!("{}: no end marker", vector.id))
}

#[test]
fn what_breaks_off_before_its_end_is_a_failure_that_may_be_tried_again() {
    for vector in vectors() {
        let marker = if vector.terminal { end_marker(&vector) } else { vector.sse.len() };
        for cut in 0..=marker {
            let prefix = &vector.sse.as_bytes()[..cut];
            let failed = reply::read(vector.route, 200, &HeaderMap::new(), prefix, SystemTime::UNIX_EPOCH);
            let (failure, _) = failed.expect_err(&vector.id);
            assert_eq!((failure.kind, failure.retryable), (FailureKind::Protocol, true), "{} at {cut}", vector.id);
        }
    }
}

#[test]
fn behind_the_end_marker_nothing_becomes_worse() {
    for vector in vectors() {
        let whole = read(vector.route, vector.sse.as_bytes());
        let mut ended = false;
        for cut in 0..=vector.sse.len() {
            match (read(vector.route, &vector.sse.as_bytes()[..cut]), &whole) {
                (Ok(prefix), Ok(whole)) => {
                    ended = true;
                    // Usage may follow the end; the text and how it ended do not change any more.
                    assert_eq!((&prefix.text, prefix.finish), (&whole.text, whole.finish), "{} at {cut}", vector.id);
                }
                (Ok(_), Err(_)) => panic!("{} at {cut}: a part of a failure passes for a reply", vector.id),
                (Err(_), _) => assert!(!ended, "{} at {cut}: what had ended is a failure", vector.id),
            }
        }
    }
}

#[test]
fn a_reader_may_stop_where_the_route_has_a_last_event() {
    for vector in vectors() {
        let (bytes, has_last_event) = (vector.sse.as_bytes(), vector.route != Route::Gemini);
        assert_eq!(is_over(vector.route, bytes), vector.terminal && has_last_event, "{}", vector.id);
        assert!(!is_over(vector.route, &bytes[..bytes.len() / 4]), "{}", vector.id);
    }
}

#[test]
fn what_follows_the_end_is_not_read() {
    let ended =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let more = format!("{ended}data: not JSON\n\n");
    assert_eq!(read(Route::ChatCompletions, more.as_bytes()).expect("a reply").text, "Done.");
    assert_eq!(read(Route::Responses, more.as_bytes()), Err(FailureKind::Protocol));
}

#[test]
fn bedrock_has_no_streams_of_events() {
    assert!(Stream::new(Route::BedrockConverse).is_over());
    assert_eq!(read(Route::BedrockConverse, b"data: {}\n\n"), Err(FailureKind::Protocol));
}

/// Pieces of streams in any order, so that much of what is tried gets past the line protocol.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vectors()).prop_flat_map(|vector| {
            let events: Vec<String> = vector.sse.split_inclusive("\n\n").map(str::to_owned).collect();
            prop::sample::select(events).prop_map(String::into_bytes)
        }),
        prop::collection::vec(any::<u8>(), 0..12),
        "(data|event|:|\\{|\\}|\\[DONE\\]|\"choices\"|\n|\r){0,6}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_are_more_than_a_failure(route in prop::sample::select(Route::ALL), status in 100_u16..600, bytes in pieces()) {
        let _ = reply::read(route, status, &HeaderMap::new(), &bytes, SystemTime::UNIX_EPOCH);
        let fresh = read(route, &bytes).ok();
        prop_assert_eq!(reply::stored(route, &bytes).ok(), fresh);
    }
}
