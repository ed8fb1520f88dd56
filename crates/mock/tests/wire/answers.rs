//! Calls that go well, and the refusals that no profile decides.

use laundromat_mock::{Form, Mock, Script, draw};
use serde_json::json;

use crate::client::{CHAT, Client, STATED, flat, judge};

const HEADERS: [(&str, &str); 2] = [("authorization", "Bearer mock-key"), ("content-type", "application/json")];

#[test]
fn a_summary_is_a_whole_completion() {
    let mock = Mock::start(Script::default().launder(Form::FlatUser, 1.0)).unwrap();
    let reply = Client::new(mock.port()).chat("k", &flat()).unwrap();
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert!(reply.header("x-request-id").unwrap().starts_with("req_"));
    let body = reply.json();
    let content = reply.content();
    assert!(content.contains(STATED) && content.contains("src/a.rs"), "{content}");
    assert_eq!(body["model"], "m");
    assert_eq!(body["system_fingerprint"], "fp_mock");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");
    let sent = flat()["messages"][0]["content"].as_str().unwrap().chars().count();
    assert_eq!(body["usage"]["prompt_tokens"], sent.div_ceil(4));
    assert_eq!(body["usage"]["completion_tokens"], content.chars().count().div_ceil(4));
}

#[test]
fn the_call_key_decides_whatever_the_order_and_the_draw_can_be_foretold() {
    let start = || Mock::start(Script::default().seed(7).launder(Form::FlatUser, 0.5)).unwrap();
    let (there, back) = (start(), start());
    let keys: Vec<String> = (0..40).map(|key| format!("key-{key}")).collect();
    let ask = |mock: &Mock, keys: &mut dyn Iterator<Item = &String>| {
        let mut client = Client::new(mock.port());
        let mut replies: Vec<(String, String)> =
            keys.map(|key| (key.clone(), client.chat(key, &flat()).unwrap().content())).collect();
        replies.sort();
        replies
    };
    let replies = ask(&there, &mut keys.iter());
    assert_eq!(replies, ask(&back, &mut keys.iter().rev()));
    for (key, content) in replies {
        assert_eq!(content.contains(STATED), draw::draw(7, "launder", &key) < 0.5, "{key}");
    }
}

#[test]
fn the_judge_answers_with_the_scripts_words() {
    let mock = Mock::start(Script::default()).unwrap();
    let mut client = Client::new(mock.port());
    assert_eq!(client.chat("a", &judge(STATED)).unwrap().content(), "USER");
    assert_eq!(client.chat("b", &judge("nothing of the sort")).unwrap().content(), "ABSENT");
}

#[test]
fn other_paths_methods_and_models_are_refused() {
    let mock = Mock::start(Script::default().models(["m"])).unwrap();
    let mut client = Client::new(mock.port());
    let chat = flat().to_string();
    for (method, path, status, rule) in [
        ("POST", "/chat/completions", 404, "path"),
        ("POST", "/responses", 404, "path"),
        ("POST", "/v1/embeddings", 404, "path"),
        ("GET", CHAT, 405, "method"),
        ("POST", "/v1/models", 405, "method"),
    ] {
        let reply = client.call(method, path, &HEADERS, chat.as_bytes()).unwrap();
        assert_eq!((reply.status, reply.header("x-mock-rule")), (status, Some(rule)), "{method} {path}");
        assert!(reply.json()["error"]["message"].is_string());
    }
    let mut other = flat();
    other["model"] = json!("n");
    let reply = client.chat("k", &other).unwrap();
    assert_eq!((reply.status, reply.json()["error"]["code"].as_str()), (404, Some("model_not_found")));
    assert_eq!(client.chat("k", &flat()).unwrap().status, 200);
    let listed = client.call("GET", "/v1/models", &HEADERS, b"").unwrap().json();
    assert_eq!(listed["data"][0]["id"], "m");
    assert_eq!(client.call("GET", "/v1/models", &[], b"").unwrap().status, 401);
}

#[test]
fn a_body_that_is_no_json_or_asks_for_what_the_mock_lacks_is_refused() {
    let mock = Mock::start(Script::default()).unwrap();
    let mut client = Client::new(mock.port());
    let rule = |reply: crate::client::Reply| (reply.status, reply.header("x-mock-rule").unwrap().to_owned());
    assert_eq!(rule(client.call("POST", CHAT, &HEADERS, b"{").unwrap()), (400, "body_json".to_owned()));
    let untyped = client.call("POST", CHAT, &HEADERS[..1], flat().to_string().as_bytes()).unwrap();
    assert_eq!(rule(untyped), (400, "content_type_header".to_owned()));
    let mut body = flat();
    body["n"] = json!(2);
    assert_eq!(rule(client.chat("k", &body).unwrap()), (400, "mock_one_choice".to_owned()));
}

#[test]
fn a_request_above_the_limit_is_refused_with_both_numbers() {
    let mock = Mock::start(Script::default().context_tokens(10)).unwrap();
    let reply = Client::new(mock.port()).chat("k", &flat()).unwrap();
    let error = &reply.json()["error"];
    assert_eq!((reply.status, error["code"].as_str()), (400, Some("context_length_exceeded")));
    assert_eq!(error["param"], "messages");
    assert!(error["message"].as_str().unwrap().contains("maximum context length is 10 tokens"));
}
