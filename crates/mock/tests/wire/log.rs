//! What is logged, in memory and on disk.

use laundromat_mock::log::read_log;
use laundromat_mock::{Bodies, Fault, FaultKind, Form, Listen, Mock, Purpose, Route, Script, When};
use serde_json::Value;

use crate::client::{CHAT, Client, flat, judge};

#[test]
fn every_call_is_logged_with_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let listen = Listen { port: 0, log: Some(file.clone()) };
    let mock = Mock::start_on(Script::default().bodies(Bodies::Keep), &listen).unwrap();
    let mut client = Client::new(mock.port());
    client.chat("one", &flat()).unwrap();
    client.chat("two", &judge("x")).unwrap();
    client.call("POST", CHAT, &[], b"{}").unwrap();
    client.chat("one", &flat()).unwrap();

    let mut calls = mock.calls();
    let bytes = flat().to_string().into_bytes();
    let digest = blake3::hash(&bytes).to_hex().to_string();
    assert_eq!(calls.iter().map(|call| call.ordinal).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(calls.iter().map(|call| call.attempt).collect::<Vec<_>>(), [1, 1, 1, 2]);
    assert_eq!(calls.iter().map(|call| call.status.unwrap()).collect::<Vec<_>>(), [200, 200, 401, 200]);
    assert!(calls.iter().all(|call| call.answered));
    assert_eq!((calls[0].key.as_str(), calls[0].model.as_deref()), ("one", Some("m")));
    assert_eq!((calls[0].purpose, calls[0].form), (Purpose::Summarize, Some(Form::FlatUser)));
    assert_eq!((&calls[0].body_digest, calls[0].body_bytes), (&digest, bytes.len()));
    assert_eq!(calls[0].body.as_deref(), Some(bytes.as_slice()));
    assert_eq!(calls[1].purpose, Purpose::Judge);
    assert!(calls.iter().all(|call| call.route == Some(Route::Chat)));
    assert_eq!((calls[2].purpose, calls[2].rule.as_deref()), (Purpose::Unknown, Some("auth")));
    assert_eq!(calls[2].key, calls[2].body_digest);

    let lines = std::fs::read_to_string(&file).unwrap();
    let answered: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["answered"].clone()).collect();
    assert_eq!(answered, [false, true, false, true, false, true, false, true]);
    for call in &mut calls {
        call.body = None;
    }
    assert_eq!(read_log(&file).unwrap(), calls);
    let again = Mock::start_on(Script::default(), &listen).unwrap_err().to_string();
    assert!(again.contains("name a new file"), "{again}");
}

#[test]
fn a_call_in_flight_is_told_apart_and_keeps_nobody_waiting() {
    let fault = Fault::new(FaultKind::Hang, When::Attempts(vec![1])).hang_ms(3_600_000);
    let mock = Mock::start(Script::default().fault(fault)).unwrap();
    let headers = [("authorization", "Bearer mock-key"), ("content-type", "application/json")];
    let mut hanging = Client::new(mock.port());
    hanging.send("POST", CHAT, &headers, flat().to_string().as_bytes()).unwrap();
    while mock.calls().is_empty() {
        std::thread::yield_now();
    }
    // The same body on another connection is the second attempt, and goes well beside the first.
    let reply = Client::new(mock.port()).call("POST", CHAT, &headers, flat().to_string().as_bytes()).unwrap();
    assert_eq!(reply.status, 200);
    let calls = mock.calls();
    assert_eq!([calls[0].answered, calls[1].answered], [false, true]);
    drop(mock);
    assert!(hanging.rest().is_empty());
}

#[test]
fn a_torn_last_line_is_left_out_and_another_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    std::fs::write(&file, "{\"ordinal\": 1").unwrap();
    assert_eq!(read_log(&file).unwrap(), []);
    std::fs::write(&file, "{\"ordinal\": 1\n").unwrap();
    assert!(read_log(&file).is_err());
}
