//! Each kind of fault on the wire.

use std::io::ErrorKind;
use std::time::Duration;

use laundromat_mock::{AppliesTo, Fault, FaultKind, Form, Mock, Retry, Script, When};
use serde_json::{Value, json};

use crate::client::{CHAT, Client, Reply, flat, judge};

fn always(kind: FaultKind) -> Fault {
    Fault::new(kind, When::Probability(1.0)).hang_ms(0)
}

fn mock(fault: Fault) -> Mock {
    Mock::start(Script::default().launder(Form::FlatUser, 1.0).fault(fault)).unwrap()
}

/// The choice and its message.
fn choice(reply: &Reply) -> (Value, Value) {
    assert_eq!(reply.status, 200);
    let choice = reply.json()["choices"][0].clone();
    (choice["finish_reason"].clone(), choice["message"].clone())
}

#[test]
fn every_kind_does_what_it_says_and_is_logged() {
    for kind in FaultKind::ALL {
        let mock = mock(always(*kind));
        let reply = Client::new(mock.port()).chat("k", &flat());
        match kind {
            FaultKind::Drop | FaultKind::Hang | FaultKind::DropMidBody => {
                assert_eq!(reply.unwrap_err().kind(), ErrorKind::UnexpectedEof, "{kind:?}");
            }
            _ => check(*kind, &reply.unwrap()),
        }
        let calls = mock.calls();
        assert_eq!((calls.len(), calls[0].fault), (1, Some(*kind)));
        let cut = matches!(kind, FaultKind::Drop | FaultKind::Hang | FaultKind::DropMidBody);
        assert_eq!(calls[0].answered, !cut, "{kind:?}");
        assert_eq!(calls[0].status.is_none(), matches!(kind, FaultKind::Drop | FaultKind::Hang));
    }
}

fn check(kind: FaultKind, reply: &Reply) {
    let error = |status: u16, code: Option<&str>| {
        assert_eq!((reply.status, reply.json()["error"]["code"].as_str()), (status, code), "{kind:?}");
    };
    match kind {
        FaultKind::RateLimit => error(429, Some("rate_limit_exceeded")),
        FaultKind::Quota => error(429, Some("insufficient_quota")),
        FaultKind::ServerError => error(500, None),
        FaultKind::Overloaded => error(503, None),
        FaultKind::Timeout => error(504, None),
        FaultKind::TooLarge => error(413, None),
        FaultKind::ContextOverflow => error(400, Some("context_length_exceeded")),
        FaultKind::LateError => {
            assert_eq!((reply.status, &reply.json()["error"]["code"]), (200, &json!(502)));
        }
        FaultKind::Malformed | FaultKind::EarlyEnd => {
            assert_eq!(reply.status, 200);
            assert!(serde_json::from_slice::<Value>(&reply.body).is_err());
        }
        FaultKind::Truncated => {
            assert_eq!(choice(reply).0, "length");
            assert!(reply.content().starts_with("## ") && !reply.content().contains("## Open"));
        }
        FaultKind::Refused => {
            let (finish, message) = choice(reply);
            assert_eq!((finish, &message["content"]), (json!("stop"), &Value::Null));
            assert!(message["refusal"].is_string());
        }
        FaultKind::ContentFilter => {
            let (finish, message) = choice(reply);
            assert_eq!((finish, &message["content"]), (json!("content_filter"), &Value::Null));
        }
        FaultKind::FilteredText => {
            assert_eq!(choice(reply).0, "content_filter");
            assert!(reply.content().starts_with("## ") && !reply.content().contains("## Open"));
        }
        FaultKind::RefusalText => {
            let (finish, message) = choice(reply);
            assert_eq!((finish, &message["refusal"]), (json!("stop"), &Value::Null));
            assert!(reply.content().starts_with("I'm sorry"));
        }
        FaultKind::Empty => assert_eq!((choice(reply).0, reply.content()), (json!("stop"), String::new())),
        FaultKind::ReasoningOnly => {
            assert_eq!(reply.content(), "");
            assert!(choice(reply).1["reasoning_content"].is_string());
            assert_ne!(reply.json()["usage"]["completion_tokens_details"]["reasoning_tokens"], 0);
        }
        FaultKind::ToolCall => {
            let (finish, message) = choice(reply);
            assert_eq!(finish, "tool_calls");
            assert_eq!(message["tool_calls"][0]["function"]["name"], "read_file");
        }
        FaultKind::UnknownFinish => {
            assert_eq!(choice(reply).0, Value::Null);
            assert!(reply.content().contains("## Open"));
        }
        FaultKind::Drop | FaultKind::DropMidBody | FaultKind::Hang => unreachable!("no reply"),
    }
}

#[test]
fn a_body_cut_in_the_middle_has_begun() {
    let mock = mock(always(FaultKind::DropMidBody));
    let mut client = Client::new(mock.port());
    let headers = [("authorization", "Bearer mock-key"), ("content-type", "application/json")];
    client.send("POST", CHAT, &headers, flat().to_string().as_bytes()).unwrap();
    let rest = String::from_utf8(client.rest()).unwrap();
    let (head, body) = rest.split_once("\r\n\r\n").unwrap();
    let promised = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    assert_eq!(body.len(), promised.parse::<usize>().unwrap() / 2);
    assert!(body.starts_with("{\"id\":"));
}

#[test]
fn a_delay_comes_in_each_of_its_spellings() {
    let reply = |retry| {
        let mock = mock(always(FaultKind::RateLimit).retry(retry));
        Client::new(mock.port()).chat("k", &flat()).unwrap()
    };
    assert_eq!(reply(Retry::Seconds(2)).header("retry-after"), Some("2"));
    assert_eq!(reply(Retry::Millis(15)).header("retry-after-ms"), Some("15"));
    let unsaid = reply(Retry::Unsaid);
    assert_eq!((unsaid.header("retry-after"), unsaid.header("retry-after-ms")), (None, None));
    let worded = reply(Retry::Text(450));
    assert_eq!((worded.header("retry-after"), worded.header("retry-after-ms")), (None, None));
    assert!(worded.json()["error"]["message"].as_str().unwrap().ends_with("try again in 450ms."));
    let dated = reply(Retry::Date(60));
    let date = |name| httpdate::parse_http_date(dated.header(name).unwrap()).unwrap();
    assert!(date("retry-after") >= date("date") + Duration::from_secs(60));
}

#[test]
fn exact_attempts_strike_each_call_and_its_retry_goes_well() {
    let fault = Fault::new(FaultKind::ServerError, When::Attempts(vec![1, 2]));
    let mock = mock(fault.applies_to(AppliesTo::Summarize));
    let mut client = Client::new(mock.port());
    let mut status = |key: &str, body: &Value| client.chat(key, body).unwrap().status;
    assert_eq!([status("a", &flat()), status("b", &flat())], [500, 500]);
    assert_eq!([status("a", &flat()), status("a", &flat()), status("b", &flat())], [500, 200, 500]);
    assert_eq!(status("c", &judge("x")), 200);
}

#[test]
fn a_final_outcome_stays_the_same_however_often_it_is_asked_for() {
    let mock = mock(Fault::new(FaultKind::Truncated, When::Probability(0.5)));
    let mut client = Client::new(mock.port());
    let mut finishes = Vec::new();
    for key in 0..20 {
        let mut finish =
            || client.chat(&key.to_string(), &flat()).unwrap().json()["choices"][0]["finish_reason"].clone();
        let first = finish();
        assert_eq!(first, finish());
        finishes.push(first);
    }
    assert!(finishes.contains(&json!("length")) && finishes.contains(&json!("stop")));
}

#[test]
fn rules_come_before_faults_and_the_first_fault_that_strikes_wins() {
    let script = Script::default().fault(always(FaultKind::Quota)).fault(always(FaultKind::ServerError));
    let mock = Mock::start(script).unwrap();
    let mut client = Client::new(mock.port());
    assert_eq!(client.chat("k", &json!({"model": "m", "messages": []})).unwrap().status, 400);
    assert_eq!(client.chat("k", &flat()).unwrap().status, 429);
}
